/** What a good file becomes, and what it is warned of. */
import { describe, expect, it } from 'vitest'
import type { ConfigurableType } from '../../src/config/configurable-type.ts'
import { formatFault } from '../../src/config/fault.ts'
import { parseConfiguration } from '../../src/config/load.ts'
import { fakeTypes } from './fake-types.ts'

/** The types that the worked example names. */
const eastron: ConfigurableType = {
  type: 'eastron-sdm',
  title: 'Eastron meters',
  options: {
    type: 'object',
    properties: {
      address: { type: 'integer' },
      model: { enum: ['sdm72', 'sdm120', 'sdm230', 'sdm630'] },
    },
    required: ['address', 'model'],
  },
  addressed: true,
  uart: { baudRate: 2400 },
  framingKey: () => 'modbus-rtu',
  tools: () => [{ command: 'read_energy', effect: 'read' }],
}
const mhz19: ConfigurableType = {
  type: 'mh-z19',
  title: 'CO2 sensor',
  options: { type: 'object', properties: {} },
  addressed: false,
  uart: { baudRate: 9600 },
  tools: () => [{ command: 'read_co2', effect: 'read' }],
}
const types = new Map([...fakeTypes, ['eastron-sdm', eastron], ['mh-z19', mhz19]])

const WORKED_EXAMPLE = `http:
  host: 127.0.0.1          # default: loopback only
  port: 7373
  allowedHosts: []         # further Host names accepted (reverse proxy, mDNS name)
  allowedOrigins: []
state: /var/lib/baudway    # default $STATE_DIRECTORY, else ./.baudway
devicesDir: /etc/baudway/devices   # own device types, beside the catalogue's
scheduler:
  policy: partition        # partition | batch | resource
  queueLength: 256         # waiting calls per port (polls not counted), then queue_full
ports:
  bus1:
    path: /dev/serial/by-id/usb-FTDI_FT232R_A1-if00-port0   # or tcp://host:port, or simulated
    baudRate: 9600
    parity: none
    echo: auto             # adapters that repeat what is sent: auto | on | off
devices:
  - { id: grid_meter, name: Grid meter, area: Cellar, type: eastron-sdm, port: bus1, address: 1, model: sdm120, poll: 10s }
  - { id: heat_pump_meter, type: eastron-sdm, port: bus1, address: 2, model: sdm630, poll: 10s }
  - { id: office_co2, type: mh-z19, port: { path: /dev/ttyAMA0 }, poll: 30s, timeoutMs: 1000, replyLatencyMaxMs: 3000, gapMs: 50 }
never:                     # interlocks: hold whatever an agent says
  - { tool: "pump__*", minimumGapMs: 60000 }
mqtt:
  url: mqtt://127.0.0.1:1883
  node: cellar             # default the host name, at most 16 characters
  username: gateway
  password: { file: /etc/baudway/mqtt.password }
history: { keepRaw: 7d, keep5min: 90d, keepHourly: forever, maxSize: 2GB }
`

function good(text: string, worldReadable = false) {
  const { configuration, faults, warnings } = parseConfiguration(text, 'f', types, { worldReadable })
  expect(faults.map(formatFault)).toEqual([])
  if (!configuration) throw new Error('no faults and no configuration')
  return { configuration, warnings: warnings.map(formatFault) }
}

describe('a good file', () => {
  it('becomes a configuration with every default and unit settled', () => {
    const serial = { dataBits: 8, stopBits: 1, parity: 'none', rtscts: false, hupcl: true }
    expect(good(WORKED_EXAMPLE).configuration).toEqual({
      http: { host: '127.0.0.1', port: 7373, allowedHosts: [], allowedOrigins: [] },
      stateDir: '/var/lib/baudway',
      devicesDir: '/etc/baudway/devices',
      scheduler: { policy: 'partition', queueLength: 256 },
      ports: [
        {
          id: 'bus1',
          path: '/dev/serial/by-id/usb-FTDI_FT232R_A1-if00-port0',
          settings: { baudRate: 9600, ...serial },
          echo: 'auto',
          force: false,
        },
        {
          id: 'office_co2',
          path: '/dev/ttyAMA0',
          settings: { baudRate: 9600, ...serial },
          echo: 'off',
          force: false,
        },
      ],
      devices: [
        {
          ...{ id: 'grid_meter', name: 'Grid meter', area: 'Cellar', type: 'eastron-sdm', port: 'bus1' },
          ...{ enabled: true, pollMs: 10_000, retries: 0, stop: [] },
          options: { address: 1, model: 'sdm120' },
        },
        {
          ...{
            id: 'heat_pump_meter',
            name: 'Heat pump meter',
            area: null,
            type: 'eastron-sdm',
            port: 'bus1',
          },
          ...{ enabled: true, pollMs: 10_000, retries: 0, stop: [] },
          options: { address: 2, model: 'sdm630' },
        },
        {
          ...{ id: 'office_co2', name: 'Office co2', area: null, type: 'mh-z19', port: 'office_co2' },
          ...{ enabled: true, pollMs: 30_000, timeoutMs: 1000, replyLatencyMaxMs: 3000, gapMs: 50 },
          ...{ retries: 0, stop: [] },
          options: {},
        },
      ],
      never: [{ tool: 'pump__*', minimumGapMs: 60_000 }],
      mqtt: {
        url: 'mqtt://127.0.0.1:1883',
        node: 'cellar',
        username: 'gateway',
        password: { file: '/etc/baudway/mqtt.password' },
      },
      history: { keepRaw: '7d', keep5min: '90d', keepHourly: 'forever', maxSize: '2GB' },
    })
  })

  it('may be an empty mapping', () => {
    expect(good('{}')).toEqual({
      configuration: {
        http: { host: '127.0.0.1', port: 7373, allowedHosts: [], allowedOrigins: [] },
        scheduler: { policy: 'partition', queueLength: 256 },
        ports: [],
        devices: [],
        never: [],
      },
      warnings: [],
    })
  })

  it('may have a byte order mark, ends of line in CR and LF, and anchors', () => {
    const lines = [
      'ports: { a: &line { path: simulated, baudRate: 4800 }, b: *line }',
      'devices: [{ id: x, type: co2, port: a }, { id: y, type: co2, port: b }]',
      '',
    ]
    const { ports } = good(`\ufeff${lines.join('\r\n')}`).configuration
    expect(ports.map(({ id, settings }) => [id, settings.baudRate])).toEqual([
      ['a', 4800],
      ['b', 4800],
    ])
  })

  it('takes line settings from the port, else from the types on it, else 9600 8N1', () => {
    const { ports } = good(`
ports:
  set: { path: /dev/a, baudRate: 1200, dataBits: 7, stopBits: 2, parity: even, rtscts: true, hupcl: false }
  typed: { path: /dev/b }
  open: { path: /dev/c }
devices:
  - { id: a, type: relay, port: set, address: 1 }
  - { id: b, type: relay, port: typed, address: 1 }
  - { id: c, type: horn, port: open, address: x }
`).configuration
    const standard = { dataBits: 8, stopBits: 1, parity: 'none', rtscts: false, hupcl: true }
    expect(ports.map(({ settings }) => settings)).toEqual([
      { baudRate: 1200, dataBits: 7, stopBits: 2, parity: 'even', rtscts: true, hupcl: false },
      { baudRate: 19_200, ...standard },
      { baudRate: 9600, ...standard },
    ])
  })

  it('expects an echo from types with addresses, unless the port says otherwise', () => {
    const { ports } = good(`
ports: { a: { path: /dev/a }, b: { path: /dev/b }, c: { path: /dev/c, echo: off }, d: { path: /dev/d, echo: on } }
devices:
  - { id: a1, type: meter, port: a, address: 1 }
  - { id: b1, type: co2, port: b }
  - { id: c1, type: meter, port: c, address: 1 }
  - { id: d1, type: co2, port: d }
`).configuration
    expect(ports.map(({ echo }) => echo)).toEqual(['auto', 'off', 'off', 'on'])
  })

  it('may keep a disabled device at the address of another', () => {
    const { devices, ports } = good(`
ports: { bus: { path: /dev/a } }
devices:
  - { id: new, type: relay, port: bus, address: 1 }
  - { id: old, type: meter, port: bus, address: 1, enabled: false }
`).configuration
    expect(devices.map(({ enabled }) => enabled)).toEqual([true, false])
    // Nor has it a say in the line settings.
    expect(ports[0]?.settings.baudRate).toBe(19_200)
  })

  it('may name the tools of an emergency stop by command or in full, with arguments', () => {
    const { devices } = good(`
devices:
  - id: pump
    type: relay
    port: { path: /dev/a }
    address: 1
    stop: [pulse_relay, pump__pulse_relay, { tool: set_relay, arguments: { channel: 0, on: false } }]
`).configuration
    expect(devices[0]?.stop).toEqual([
      { command: 'pulse_relay', arguments: {} },
      { command: 'pulse_relay', arguments: {} },
      { command: 'set_relay', arguments: { channel: 0, on: false } },
    ])
  })

  it('reads durations in each unit', () => {
    const polls = ['250ms', '10s', '1m', '2h', '7d']
    const devices = polls.map(
      (poll, index) => `{ id: d${index}, type: co2, port: { path: /dev/${index} }, poll: ${poll} }`,
    )
    const { configuration } = good(`devices: [${devices.join(', ')}]`)
    expect(configuration.devices.map(({ pollMs }) => pollMs)).toEqual([
      250, 10_000, 60_000, 7_200_000, 604_800_000,
    ])
  })
})

describe('a warning', () => {
  it('names what has no effect yet, an interlock that fits nothing, and no more', () => {
    expect(good(WORKED_EXAMPLE).warnings).toEqual([
      'f:16:5: "echo" has no effect in this version yet',
      'f:22:13: no tool of these devices fits "pump__*"',
      'f:23:1: "mqtt" has no effect in this version yet',
      'f:28:1: "history" has no effect in this version yet',
    ])
  })

  it('says of every key that this version does nothing with that it has no effect', () => {
    const text = `ports:
  bus: { path: /dev/a, dtr: true, rts: true, echo: on, force: true }
devices:
  - { id: a, type: meter, port: bus, address: 1, retries: 1, stop: [set_backlight] }
  - id: b
    type: text
    port: { path: /dev/b, dtr: true, rts: true, echo: on, force: true }
    tools: {}
    boot: {}
    identity: {}
mcp: {}
`
    const keys = good(text).warnings.map((warning) =>
      /^f:(\d+):\d+: "(\w+)" has no effect/.exec(warning)?.slice(1),
    )
    const ofPort = ['dtr', 'rts', 'echo']
    expect(keys).toEqual([
      ...ofPort.map((key) => ['2', key]),
      ['4', 'retries'],
      ...ofPort.map((key) => ['7', key]),
      ...[
        ['9', 'boot'],
        ['10', 'identity'],
        ['11', 'mcp'],
      ],
    ])
  })

  it.each([
    ['127.0.0.1', 0],
    ['127.9.9.9', 0],
    ['"::1"', 0],
    ['localhost', 0],
    ['0.0.0.0', 1],
    ['"::"', 1],
    ['192.168.1.5', 1],
    ['baudway.local', 1],
  ])('says of http.host %s whether the network reaches it', (host, count) => {
    const { warnings } = good(`http:\n  host: ${host}\n`)
    expect(warnings).toHaveLength(count)
    for (const warning of warnings) {
      expect(warning).toMatch(/^f:2:9: on ".*" the gateway can be reached from the network/)
    }
  })

  it('names a port that no device uses, and paths that may mislead', () => {
    const text = `ports:
  spare: { path: simulated }
  usb: { path: /dev/ttyUSB0 }
  bare: { path: ttyS0 }
  near: { path: Simulated }
devices:
  - { id: a, type: co2, port: usb }
  - { id: b, type: co2, port: bare }
  - { id: c, type: co2, port: near }
  - { id: d, type: co2, port: { path: COM3 } }
`
    const own = 'is looked for in the directory that the gateway runs in'
    expect(good(text).warnings).toEqual([
      'f:2:3: no device uses port "spare"',
      'f:3:16: /dev/ttyUSB0 may name another device after the next start (its link in /dev/serial/by-id does not; `baudway ports` lists it)',
      `f:4:17: "ttyS0" ${own} (write /dev/ttyS0)`,
      `f:5:17: "Simulated" ${own} (did you mean "simulated"?)`,
    ])
  })

  it('passes on what the device type finds', () => {
    const text = `devices:
  - id: a
    type: text
    port: { path: /dev/a }
    tools: { level: { command: L, effect: read } }
`
    expect(good(text).warnings).toEqual(['f:5:21: say parallelSafe: true if it is'])
  })

  it.each([
    ['pump__set_relay', 0],
    ['pump__*', 0],
    ['*__set_*', 0],
    ['*', 0],
    ['p*p__*et*y', 0],
    // What one part has taken is not there for the next.
    ['pump__*set*t_relay', 1],
    ['pump__set*set_relay', 1],
    ['pump__set_relays', 1],
    ['pump__set_relay*y', 1],
    ['*pump', 1],
    ['set_relay', 1],
  ])('tells whether the interlock %s fits a tool', (pattern, count) => {
    const text = `devices: [{ id: pump, type: relay, port: { path: /dev/a }, address: 1 }]\nnever: [{ tool: "${pattern}" }]\n`
    expect(good(text).warnings).toHaveLength(count)
  })

  it('names secrets that everybody on the machine may read, and keeps them to itself', () => {
    const path = `/mcp/${'0123456789abcdef'.repeat(4)}`
    const text = `mqtt:
  url: mqtt://h
  password: hunter2
mcp:
  paths:
    - { path: ${path}, token: t }
    - { path: { env: MCP_PATH }, token: t }
`
    const ofSecrets = (worldReadable: boolean) =>
      good(text, worldReadable).warnings.filter((warning) => warning.includes('secret'))
    const message = 'a secret stands here, and everybody on this machine may read the file'
    const hint = '(write { env: NAME } or { file: PATH }, or take the right to read from others)'
    expect(ofSecrets(true)).toEqual([`f:3:13: ${message} ${hint}`, `f:6:15: ${message} ${hint}`])
    expect(ofSecrets(false)).toEqual([])
  })

  it('is given beside faults as well', () => {
    const text = 'http: { host: 0.0.0.0, prt: 1 }\nhistory: {}\n'
    const { faults, warnings } = parseConfiguration(text, 'f', types)
    expect(faults.map(formatFault)).toEqual(['f:1:24: unknown key "prt" (did you mean "port"?)'])
    expect(warnings.map(({ pointer }) => pointer)).toEqual(['/http/host', '/history'])
  })
})
