/**
 * The tools of a home in which every kind of declaration occurs: three text devices on lines of their own, a
 * Modbus bus with two devices, and tools without a device. What a test expects of a call is said here beside what
 * the gateway is told of its tool.
 */
import { type Static, Type } from 'typebox'
import { type DefinedTool, defineTool, type ToolDefinition } from '../src/index.ts'

export const CALLS_MAX = 10
export const PATHS = { a: '/dev/plan-a', b: '/dev/plan-b', c: '/dev/plan-c', bus: '/dev/plan-bus' } as const

type Claims = Readonly<Record<string, 'shared' | 'exclusive'>>
export type Refusal = 'unknown_tool' | 'confirmation_required' | 'interlocked'

export interface Kind {
  /** The tool for the call with this place in its batch. */
  readonly name: (tag: number) => string
  readonly arguments: (tag: number, odd: boolean) => Readonly<Record<string, unknown>>
  readonly safe: 'yes' | 'no' | 'if odd'
  readonly serial: boolean
  /** Declared parallel-safe as well, over which `serial` wins. */
  readonly isOverruled?: boolean
  readonly claims: Claims
  /** What every call of it is answered, if its arguments are right. */
  readonly refusal?: Refusal
  /** The outcome when its device answers that it did not do it: only some refusals prove it. */
  readonly failure?: 'unknown' | 'not_executed'
  /** What was set is read back: a run of two requests. */
  readonly isProved?: true
}

/** Of a text device: the letter of its command, and what is said of the tool. */
interface LineTool {
  readonly letter: string
  readonly effect: 'read' | 'set' | 'act'
  readonly parallelSafe?: true
  readonly serial?: true
  readonly claims?: Claims
  readonly dangerous?: true
  readonly readBack?: { readonly tool: string; readonly expect: object }
  /** For the test alone. */
  readonly refusal?: Refusal
}

const LINE_TOOLS: Readonly<Record<string, LineTool>> = {
  read_safe: { letter: 'A', effect: 'read', parallelSafe: true },
  read_undeclared: { letter: 'B', effect: 'read' },
  read_serial: { letter: 'C', effect: 'read', parallelSafe: true, serial: true },
  read_shared: { letter: 'D', effect: 'read', parallelSafe: true, claims: { db: 'shared' } },
  read_exclusive: { letter: 'E', effect: 'read', parallelSafe: true, claims: { db: 'exclusive' } },
  set_level: { letter: 'F', effect: 'set' },
  set_proved: {
    letter: 'G',
    effect: 'set',
    readBack: { tool: 'read_level', expect: { level: '{tag}' } },
  },
  press: { letter: 'H', effect: 'act', claims: { db: 'shared' } },
  reset: { letter: 'I', effect: 'act', dangerous: true, refusal: 'confirmation_required' },
  self_destruct: { letter: 'J', effect: 'act', refusal: 'interlocked' },
}

function lineTool({ letter, refusal: _, claims, readBack, ...declared }: LineTool, prefix: string): object {
  return {
    ...declared,
    command: `${prefix}${letter}{tag}`,
    parameters: { tag: { type: 'integer', minimum: 0, maximum: CALLS_MAX } },
    reply: `^${prefix}${letter}{tag}=(?<answer>[0-9]+)$`,
    refuse: `^${prefix}${letter}ERR(?<code>[0-9]+)$`,
    returns: { answer: 'integer' },
    ...(readBack && { readBack }),
    ...(declared.serial && { because: 'it turns a page' }),
    ...(claims && { claims: Object.entries(claims).map(([resource, mode]) => ({ resource, mode })) }),
  }
}

function lineDevice(id: string, port: string, prefix: string): object {
  const tools = Object.entries(LINE_TOOLS).map(([name, tool]) => [name, lineTool(tool, prefix)])
  const readLevel = {
    effect: 'read',
    parallelSafe: true,
    command: `${prefix}L`,
    reply: `^${prefix}L=(?<level>[0-9]+)$`,
    returns: { level: 'integer' },
  }
  return {
    ...{ id, type: 'line', port, poll: 'off', timeoutMs: 20_000, gapMs: 5, terminator: '\r' },
    tools: { ...Object.fromEntries(tools), read_level: readLevel },
  }
}

function lineKinds(device: string, port: string): Kind[] {
  return Object.entries(LINE_TOOLS).map(([command, tool]) => ({
    name: () => `${device}__${command}`,
    arguments: (tag) => ({ tag }),
    safe: tool.parallelSafe && !tool.serial ? 'yes' : 'no',
    serial: tool.serial === true || tool.effect !== 'read',
    isOverruled: tool.parallelSafe === true && tool.serial === true,
    claims: { [`port:${port}`]: 'exclusive', ...tool.claims },
    ...(tool.refusal && { refusal: tool.refusal }),
    failure: 'unknown',
    ...(tool.readBack && { isProved: true }),
  }))
}

/** Every place in a batch has a register and a coil of its own, by which the far end knows the call. */
function busDevice(id: string, address: number): object {
  const places = Array.from({ length: CALLS_MAX }, (_, place) => place)
  return {
    ...{ id, type: 'modbus', port: 'bus', address, poll: 'off', timeoutMs: 20_000, gapMs: 5 },
    registers: places.map((register) => ({
      ...{ name: `r${register}`, register, kind: 'holding', format: 'uint16', writable: true },
    })),
    coils: places.map((coil) => ({ name: `c${coil}`, coil, writable: true, toggle: true })),
  }
}

function busKinds(device: string): Kind[] {
  const claims = { 'port:bus': 'exclusive' } as const
  const kind = (command: string, safe: 'yes' | 'no', args: Kind['arguments']): Kind => ({
    name: (tag) => `${device}__${command}${tag}`,
    arguments: args,
    safe,
    serial: safe === 'no',
    claims,
    failure: 'not_executed',
  })
  return [
    kind('read_r', 'yes', () => ({})),
    kind('set_r', 'no', (tag) => ({ value: tag })),
    kind('toggle_c', 'no', () => ({})),
  ]
}

const Parameters = Type.Object({ tag: Type.Integer(), odd: Type.Boolean() })
type Given = Static<typeof Parameters>
type OwnTool = Pick<ToolDefinition<typeof Parameters>, 'effect' | 'dangerous' | 'serial' | 'parallelSafe'> & {
  readonly claimed?: Claims
  readonly safe: Kind['safe']
}

const OWN_TOOLS: Readonly<Record<string, OwnTool>> = {
  think: { effect: 'read', parallelSafe: true, safe: 'yes' },
  think_if_odd: { effect: 'read', parallelSafe: ({ odd }) => odd, safe: 'if odd' },
  think_and_throw: {
    effect: 'read',
    parallelSafe: () => {
      throw new Error('nobody knows')
    },
    safe: 'no',
  },
  think_undeclared: { effect: 'read', safe: 'no' },
  change: { effect: 'set', serial: true, parallelSafe: true, safe: 'no' },
  change_safely: { effect: 'act', parallelSafe: true, safe: 'yes' },
  read_log: { effect: 'read', parallelSafe: true, claimed: { log: 'shared' }, safe: 'yes' },
  append_log: { effect: 'act', serial: true, claimed: { log: 'exclusive' }, safe: 'no' },
  dump: { effect: 'read', parallelSafe: true, claimed: { db: 'shared', log: 'shared' }, safe: 'yes' },
  vacuum: { effect: 'set', serial: true, claimed: { db: 'exclusive', 'port:a': 'shared' }, safe: 'no' },
  own_line: { effect: 'read', parallelSafe: true, claimed: { 'port:bus': 'shared' }, safe: 'yes' },
  alone: { effect: 'read', parallelSafe: true, claimed: { gateway: 'exclusive' }, safe: 'yes' },
  wipe: { effect: 'act', dangerous: true, serial: true, claimed: { db: 'exclusive' }, safe: 'no' },
}

/** `run` gets the tag of the call. */
export function ownTools(run: (tag: number) => Promise<number>): DefinedTool[] {
  return Object.entries(OWN_TOOLS).map(([name, { claimed = {}, safe: _, ...declared }]) =>
    defineTool({
      name,
      parameters: Parameters,
      run: async ({ tag }: Given) => ({ answer: await run(tag) }),
      claims: Object.entries(claimed).map(([resource, mode]) => ({ resource, mode })),
      ...declared,
    }),
  )
}

const ownKinds = Object.entries(OWN_TOOLS).map(
  ([name, { claimed = {}, safe, serial, parallelSafe, dangerous }]): Kind => ({
    name: () => name,
    arguments: (tag, odd) => ({ tag, odd }),
    safe,
    serial: serial === true,
    isOverruled: serial === true && parallelSafe === true,
    claims: claimed,
    ...(dangerous && { refusal: 'confirmation_required' }),
  }),
)

const unknownKinds = ['amp__raed_safe', 'nobody__knows', 'thinks'].map(
  (name): Kind => ({
    name: () => name,
    arguments: (tag) => ({ tag }),
    safe: 'no',
    serial: false,
    claims: {},
    refusal: 'unknown_tool',
  }),
)

export const CONFIG = {
  ports: {
    a: { path: PATHS.a, baudRate: 115_200 },
    b: { path: PATHS.b, baudRate: 115_200 },
    c: { path: PATHS.c, baudRate: 115_200 },
    bus: { path: PATHS.bus, baudRate: 115_200, echo: 'off' },
  },
  devices: [
    lineDevice('amp', 'a', 'P'),
    lineDevice('tuner', 'b', 'Q'),
    lineDevice('blind', 'c', 'R'),
    busDevice('boiler', 1),
    busDevice('meter', 2),
  ],
  never: [{ tool: '*__self_destruct' }],
}

export const KINDS: readonly Kind[] = [
  ...lineKinds('amp', 'a'),
  ...lineKinds('tuner', 'b'),
  ...lineKinds('blind', 'c'),
  ...busKinds('boiler'),
  ...busKinds('meter'),
  ...ownKinds,
  ...unknownKinds,
]
