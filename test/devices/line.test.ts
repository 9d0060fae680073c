import { Check } from 'typebox/value'
import { describe, expect, test } from 'vitest'
import line from '../../devices/line.ts'
import { gradeOf } from '../../src/driver/contract.ts'
import type { Exchange, OptionFault, ToolSpec } from '../../src/driver/device-type.ts'
import { GatewayError } from '../../src/errors.ts'
import { ANY_SHAPE, startsWith } from '../../src/port/reply.ts'
import { simulated } from './simulated.ts'

type Options = Readonly<Record<string, unknown>>
type Tool = Readonly<Record<string, unknown>>

const read: Tool = {
  command: 'MV?',
  reply: '^MV(?<volume>[0-9]+)$',
  returns: { volume: 'integer' },
  effect: 'read',
  parallelSafe: true,
}
const set: Tool = {
  command: 'MV{level}',
  parameters: { level: { type: 'integer', minimum: 0, maximum: 98 } },
  reply: '^MV{level}$',
  refuse: '^ERR(?<code>.*)$',
  readBack: { tool: 'read_volume', expect: { volume: '{level}' } },
  effect: 'set',
}
/** The configuration that the documentation shows. */
const AMP: Options = {
  terminator: 'auto',
  send: '\r',
  prompt: '>',
  boot: { waitMs: 2000, banner: '^READY$', probe: 'ID?', probeReply: '^AMP' },
  identity: { command: 'ID?', reply: '^AMP' },
  events: [{ name: 'power_changed', match: '^PW(?<power>ON|STANDBY)$' }],
  tools: {
    read_volume: read,
    set_volume: set,
    power_toggle: { command: 'PT', reply: '^OK$', effect: 'act' },
    beep: { command: 'BEEP', reply: 'none', effect: 'act' },
  },
}

function toolOf(tools: Readonly<Record<string, Tool>>, name: string, more: Options = {}): ToolSpec {
  const tool = line.describe({ ...more, tools }).tools[name]
  if (!tool) throw new Error(`no tool ${name}`)
  return tool
}

function exchangeOf(tool: ToolSpec | undefined, args = {}): Exchange<unknown> {
  if (!tool?.exchange) throw new Error('the tool is not one transaction')
  return tool.exchange(args)
}

const sent = (exchange: Exchange<unknown>) => Buffer.from(exchange.request).toString()
const answer = (exchange: Exchange<unknown>, text: string) => exchange.reply?.match(Buffer.from(text))

function refusal(call: () => unknown): unknown {
  try {
    return call()
  } catch (thrown) {
    return thrown instanceof GatewayError ? [thrown.code, thrown.field] : thrown
  }
}

describe('a command', () => {
  test('is sent with the ending that the configuration has', () => {
    expect(sent(exchangeOf(toolOf({ read_volume: read }, 'read_volume')))).toBe('MV?\r')
    expect(sent(exchangeOf(toolOf({ read_volume: read }, 'read_volume', { send: ';' })))).toBe('MV?;')
  })

  test('carries its arguments as text', () => {
    const tools = {
      set_name: {
        command: 'NAME {zone} "{name}"',
        parameters: { zone: { type: 'integer' }, name: { type: 'string' } },
        reply: '^OK$',
        effect: 'set',
      },
    }
    const tool = toolOf(tools, 'set_name')
    expect(sent(exchangeOf(tool, { zone: 2, name: 'caf\u00e9 {zone}' }))).toBe('NAME 2 "caf\u00e9 {zone}"\r')
  })

  test('refuses an argument that would end it or reach the device as a control character', () => {
    const tools = {
      say: { command: 'SAY {text}', parameters: { text: { type: 'string' } }, reply: 'none', effect: 'act' },
    }
    for (const text of ['a\rRESET', 'a\nb', 'a\0', '\x1b[2J', '\x7f', '\u0085']) {
      expect(
        refusal(() => exchangeOf(toolOf(tools, 'say'), { text })),
        JSON.stringify(text),
      ).toEqual(['invalid_arguments', '/text'])
    }
    const withColon = toolOf(tools, 'say', { send: ';' })
    expect(refusal(() => exchangeOf(withColon, { text: 'a;RESET' }))).toEqual(['invalid_arguments', '/text'])
    expect(sent(exchangeOf(toolOf(tools, 'say'), { text: 'auto; fine' }))).toBe('SAY auto; fine\r')
  })

  test('is no longer than a line', () => {
    const parameters = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, { type: 'string' }]))
    const tools = { say: { command: '{a}{b}{c}{d}{e}', parameters, reply: 'none', effect: 'act' } }
    const args = (length: number) =>
      Object.fromEntries(Object.keys(parameters).map((name) => [name, 'x'.repeat(length)]))
    expect(exchangeOf(toolOf(tools, 'say'), args(200)).request).toHaveLength(1001)
    expect(refusal(() => exchangeOf(toolOf(tools, 'say'), args(256)))).toEqual([
      'invalid_arguments',
      undefined,
    ])
  })

  test('has the parameters that the configuration gives, and no others', () => {
    const { parameters } = toolOf({ read_volume: read, set_volume: set }, 'set_volume')
    expect(parameters).toMatchObject({
      required: ['level'],
      properties: { level: { type: 'integer', minimum: 0, maximum: 98 } },
    })
  })
})

describe('a reply', () => {
  test('gives the named groups, each of its type', () => {
    const tools = {
      read_status: {
        command: 'Q1',
        reply: '^\\((?<volts>[0-9. ]+) (?<load>[0-9]+) (?<alarm>[01]) (?<mode>\\w+)$',
        returns: { volts: 'number', load: 'integer', alarm: 'boolean' },
        effect: 'read',
        parallelSafe: true,
      },
    }
    const exchange = exchangeOf(toolOf(tools, 'read_status'))
    expect(answer(exchange, '(226.0 014 0 LINE')).toEqual({
      kind: 'value',
      value: { volts: 226, load: 14, alarm: false, mode: 'LINE' },
    })
  })

  test('whose group is not what it should be is no reply', () => {
    const tools = {
      read_temperature: {
        command: 'GET temp',
        reply: '^OK (?<temperature>.+)$',
        returns: { temperature: 'number' },
        effect: 'read',
        parallelSafe: true,
      },
    }
    const exchange = exchangeOf(toolOf(tools, 'read_temperature'))
    expect(answer(exchange, 'OK 21.5')).toEqual({ kind: 'value', value: { temperature: 21.5 } })
    expect(answer(exchange, 'OK nan')).toBeUndefined()
    expect(answer(exchange, 'OK 0x15')).toBeUndefined()
  })

  test('must show the argument that was sent', () => {
    const exchange = exchangeOf(toolOf({ read_volume: read, set_volume: set }, 'set_volume'), { level: 30 })
    expect(answer(exchange, 'MV30')).toEqual({ kind: 'value', value: {} })
    expect(answer(exchange, 'MV31')).toBeUndefined()
    expect(answer(exchange, 'MV300')).toBeUndefined()
  })

  test('of refusal ends the wait, with the code of the device', () => {
    const exchange = exchangeOf(toolOf({ read_volume: read, set_volume: set }, 'set_volume'), { level: 30 })
    expect(answer(exchange, 'ERR7')).toMatchObject({
      kind: 'refused',
      deviceCode: '7',
      provenNotDone: false,
    })
  })

  test('fixes the shape by its literal start, or by the whole of it', () => {
    const device = line.describe(AMP)
    expect(exchangeOf(device.tools.read_volume).reply?.shapes).toEqual([startsWith(Buffer.from('MV'))])
    expect(exchangeOf(device.tools.power_toggle).reply?.shapes).toEqual([startsWith(Buffer.from('OK'), 2)])
    expect(exchangeOf(device.tools.set_volume, { level: 9 }).reply?.shapes).toEqual([
      startsWith(Buffer.from('ERR')),
      startsWith(Buffer.from('MV9'), 3),
    ])
  })

  test('without a literal start correlates with nothing', () => {
    const tools = { read_it: { command: '?', reply: '(?<it>[0-9]+)$', effect: 'read', serial: true } }
    const tool = toolOf(tools, 'read_it')
    expect(tool.correlates).toBe('none')
    expect(exchangeOf(tool).reply?.shapes).toEqual([ANY_SHAPE])
    expect(toolOf({ read_volume: read }, 'read_volume').correlates).toBe('shape')
  })

  test('that is a prompt alone can be waited for', () => {
    const tools = { power_on: { command: 'PWR ON', reply: '^$', effect: 'set' } }
    const device = line.describe({ prompt: ':', tools })
    const frames: Uint8Array[] = []
    const framer = device.framing.create({ frame: (frame) => frames.push(frame), error: () => {} })
    framer.push(Buffer.from(':'))
    expect(frames.map((frame) => exchangeOf(device.tools.power_on).reply?.match(frame))).toEqual([
      { kind: 'value', value: {} },
    ])
  })

  test('none means that nothing is waited for', () => {
    expect(exchangeOf(line.describe(AMP).tools.beep).reply).toBeNull()
  })
})

describe('a read-back', () => {
  test('asks the tool that reads, and compares what it should show', () => {
    const tool = line.describe(AMP).tools.set_volume
    const readBack = tool?.exchange && tool.readBack?.({ level: 30 })
    expect(readBack && sent(readBack.exchange)).toBe('MV?\r')
    expect(readBack?.confirms({ volume: 30 })).toBe(true)
    expect(readBack?.confirms({ volume: 31 })).toBe(false)
    expect(readBack?.confirms({})).toBe(false)
    expect(readBack?.confirms(null)).toBe(false)
  })

  test('hands on the arguments that the reading tool needs', () => {
    const tools = {
      read_zone: {
        command: 'Z{zone}?',
        parameters: { zone: { type: 'integer' } },
        reply: '^Z{zone} (?<power>ON|OFF)$',
        effect: 'read',
        parallelSafe: true,
      },
      zone_on: {
        command: 'Z{zone}ON',
        parameters: { zone: { type: 'integer' } },
        reply: 'none',
        readBack: { tool: 'read_zone', expect: { power: 'ON' } },
        effect: 'set',
      },
    }
    const tool = toolOf(tools, 'zone_on')
    const readBack = tool.exchange && tool.readBack?.({ zone: 4 })
    expect(readBack && sent(readBack.exchange)).toBe('Z4?\r')
    expect(readBack?.confirms({ power: 'ON' })).toBe(true)
    expect(readBack?.confirms({ power: 'OFF' })).toBe(false)
  })
})

describe('declarations', () => {
  test('a read that says nothing stays undeclared, and what changes something is serial', () => {
    const { parallelSafe, ...undeclared } = read
    expect(parallelSafe).toBe(true)
    const device = line.describe({ tools: { read_volume: undeclared, set_volume: set } })
    expect(device.tools.read_volume?.parallelSafe).toBeUndefined()
    expect(device.tools.read_volume?.serial).toBeUndefined()
    expect(device.tools.set_volume?.serial).toBe(true)
    expect(line.describe(AMP).tools.read_volume?.parallelSafe).toBe(true)
  })

  test('only what may run at any time is polled', () => {
    expect(line.describe(AMP).poll?.tool).toBe('read_volume')
    const values = line.describe(AMP).poll?.parts?.map((part) => answer(part, 'MV12'))
    expect(values).toEqual([{ kind: 'value', value: { volume: 12 } }])
    const popping = { pop: { command: 'POP', reply: '^(?<item>.+)$', effect: 'read', serial: true } }
    expect(line.describe({ tools: popping }).poll).toBeUndefined()
  })

  test('the fields of reads are readings', () => {
    expect(line.describe(AMP).readings).toEqual({ volume: {} })
  })
})

test('events, boot and identity are known by their patterns', () => {
  const { events, boot, identity } = line.describe(AMP)
  expect(events?.[0]?.match(Buffer.from('PWSTANDBY'))).toEqual({ power: 'STANDBY' })
  expect(events?.[0]?.match(Buffer.from('PWOFF'))).toBeUndefined()
  expect(boot?.waitMs).toBe(2000)
  expect(boot?.banner?.(Buffer.from('READY'))).toBe(true)
  expect(boot?.banner?.(Buffer.from('READY?'))).toBe(false)
  expect(boot?.probe && sent(boot.probe)).toBe('ID?\r')
  expect(boot?.probe && answer(boot.probe, 'AMP 3000')?.kind).toBe('value')
  expect(identity && sent(identity.exchange)).toBe('ID?\r')
})

describe('faults', () => {
  const faultsOf = (options: Options): readonly OptionFault[] => line.faults?.(options) ?? []
  const errors = (options: Options) =>
    faultsOf(options)
      .filter(({ severity }) => severity !== 'warning')
      .map(({ field }) => field)
  const warnings = (options: Options) =>
    faultsOf(options)
      .filter(({ severity }) => severity === 'warning')
      .map(({ field }) => field)
  const of = (tool: Tool) => ({ tools: { read_volume: read, x: tool } })

  test('the documented configuration has none, and fits the schema', () => {
    expect(faultsOf(AMP)).toEqual([])
    expect(Check(line.options, AMP)).toBe(true)
  })

  test.each<[string, Tool, string]>([
    ['a pattern without bound', { ...read, reply: '^(a+)+$', returns: {} }, '/tools/x/reply'],
    ['a broken pattern', { ...read, reply: '^(', returns: {} }, '/tools/x/reply'],
    ['a broken refusal', { ...set, refuse: '*' }, '/tools/x/refuse'],
    ['a parameter of the command that is not there', { ...set, command: 'MV{level}{x}' }, '/tools/x/command'],
    [
      'a parameter of the reply that is not there',
      { ...read, reply: '^MV{x}$', returns: {} },
      '/tools/x/reply',
    ],
    ['a parameter that is not sent', { ...set, command: 'MV' }, '/tools/x/parameters/level'],
    ['a field without a group', { ...read, returns: { level: 'integer' } }, '/tools/x/returns/level'],
    ['a group that is no name of a field', { ...read, reply: '^(?<Vol>.)$', returns: {} }, '/tools/x/reply'],
    [
      'a refusal that nobody waits for',
      { ...read, reply: 'none', refuse: '^E', returns: undefined },
      '/tools/x/refuse',
    ],
    [
      'a read-back by nothing',
      { ...set, readBack: { tool: 'read_it', expect: { volume: 1 } } },
      '/tools/x/readBack/tool',
    ],
    [
      'a read-back by a tool that sets',
      { ...set, readBack: { tool: 'x', expect: { volume: 1 } } },
      '/tools/x/readBack/tool',
    ],
    [
      'a read-back of a field that is not returned',
      { ...set, readBack: { tool: 'read_volume', expect: { level: 1 } } },
      '/tools/x/readBack/expect/level',
    ],
    [
      'a read-back of an argument that is not there',
      { ...set, readBack: { tool: 'read_volume', expect: { volume: '{l}' } } },
      '/tools/x/readBack/expect/volume',
    ],
    [
      'a read-back of nothing',
      { ...set, readBack: { tool: 'read_volume', expect: {} } },
      '/tools/x/readBack/expect',
    ],
  ])('%s', (_, tool, field) => {
    expect(errors(of(tool))).toEqual([field])
  })

  test('a probe whose reply a tool could get as well', () => {
    const boot = { waitMs: 0, probe: '?', probeReply: '^[A-Z]+[0-9]*$' }
    expect(errors({ boot, tools: { read_volume: read } })).toEqual(['/boot/probeReply'])
    expect(errors({ boot: { ...boot, probeReply: '^[a-z]+$' }, tools: { read_volume: read } })).toEqual([])
  })

  test('half a probe', () => {
    expect(errors({ boot: { waitMs: 0, probe: '?' }, tools: { read_volume: read } })).toEqual(['/boot'])
  })

  test('patterns of events, boot and identity that cannot be used', () => {
    const options = {
      tools: { read_volume: read },
      events: [
        { name: 'a', match: '^ok$' },
        { name: 'b', match: '(' },
      ],
      boot: { waitMs: 1, banner: '[' },
      identity: { command: 'ID', reply: '(a*)*' },
    }
    expect(errors(options).sort()).toEqual(['/boot/banner', '/events/1/match', '/identity/reply'])
  })

  test('warn of a read that says nothing, and of a set that nothing shows', () => {
    const { parallelSafe, ...undeclared } = read
    const { readBack, ...unproven }: Tool = { ...set, reply: '^OK$' }
    expect([parallelSafe, readBack]).not.toContain(undefined)
    expect(warnings(of(undeclared))).toEqual(['/tools/x'])
    expect(warnings(of(unproven))).toEqual(['/tools/x/reply'])
    expect(warnings(of({ ...unproven, reply: '^MV{level}$' }))).toEqual([])
    expect(warnings(of({ ...unproven, parallelSafe: true, reply: 'none', refuse: undefined }))).toEqual([
      '/tools/x/parallelSafe',
    ])
  })
})

describe('the schema takes no', () => {
  const fits = (options: Options) => Check(line.options, { tools: { read_volume: read }, ...options })

  test.each<[string, Options]>([
    ['line without tools', { tools: {} }],
    ['unknown key of a tool', { tools: { read_volume: { ...read, replies: '^a$' } } }],
    ['name that is none', { tools: { readVolume: read } }],
    ['unknown terminator', { terminator: ';' }],
    ['prompt with a line end', { prompt: '\r\n#' }],
    ['command with a line end', { tools: { read_volume: { ...read, command: 'a\rb' } } }],
    ['effect that is none', { tools: { read_volume: { ...read, effect: 'get' } } }],
    ['type of a field that is none', { tools: { read_volume: { ...read, returns: { volume: 'float' } } } }],
  ])('%s', (_, options) => {
    expect(fits({})).toBe(true)
    expect(fits(options)).toBe(false)
  })
})

describe('the simulator', () => {
  test('remembers what is set, and says so when it is read', () => {
    const { ask, log } = simulated(line.describe({ ...AMP, prompt: undefined }))
    expect(ask(Buffer.from('MV30\r')).toString()).toBe('MV30\r\n')
    expect(ask(Buffer.from('MV?\r')).toString()).toBe('MV30\r\n')
    expect(ask(Buffer.from('PT\r')).toString()).toBe('OK\r\n')
    expect(ask(Buffer.from('BEEP\r')).toString()).toBe('')
    expect(log).toEqual([
      { command: 'set_volume', detail: { level: '30' } },
      { command: 'read_volume', detail: {} },
      { command: 'power_toggle', detail: {} },
      { command: 'beep', detail: {} },
    ])
  })

  test('answers the probe, sends its prompt, and is silent to what it does not know', () => {
    const { ask, log } = simulated(line.describe(AMP))
    expect(ask(Buffer.from('ID?\r')).toString()).toBe('AMP\r\n>')
    expect(ask(Buffer.from('NONSENSE\r')).toString()).toBe('')
    expect(ask(Buffer.from('MVx\r')).toString()).toBe('')
    expect(log).toEqual([])
  })

  test('understands any ending of commands', () => {
    for (const send of ['\n', '\r\n', ';', '#\r', '!!']) {
      const { ask } = simulated(line.describe({ send, tools: { read_volume: read } }))
      expect(ask(Buffer.from(`MV?${send}MV?${send}`)).toString(), JSON.stringify(send)).toMatch(
        /^(MV[0-9]+\r\n){2}$/,
      )
    }
  })
})

test('it is a gold type: what its fields mean is the configuration’s', async () => {
  expect(await gradeOf(line)).toBe('gold')
})
