/**
 * The configuration of `--demo`: a home's worth of devices, every one of them simulated. It has the shape of the
 * YAML file and goes through the same checks.
 */
export interface DemoDevice {
  readonly id: string
  readonly name: string
  readonly area: string
  readonly type: string
  readonly port: string | { readonly path: string; readonly baudRate?: number }
  /** The keys of its type. */
  readonly [key: string]: unknown
}

export interface DemoConfiguration {
  readonly ports: Readonly<Record<string, { readonly path: string; readonly baudRate: number }>>
  readonly devices: readonly DemoDevice[]
}

/** A new one each time. */
export function demoConfiguration(): DemoConfiguration {
  return structuredClone({
    ports: { bus1: { path: 'simulated', baudRate: 9600 } },
    devices: [HEAT_PUMP, GRID_METER, RELAY_BOARD, OFFICE_CO2, AMPLIFIER],
  })
}

const TEMPERATURE = {
  kind: 'holding',
  format: 'int16',
  scale: 0.1,
  unit: '°C',
  deviceClass: 'temperature',
  stateClass: 'measurement',
} as const

const HEAT_PUMP: DemoDevice = {
  id: 'heat_pump',
  name: 'Heat pump',
  area: 'Cellar',
  type: 'modbus',
  port: 'bus1',
  address: 1,
  registers: [
    { name: 'outdoor_temperature', register: 15, ...TEMPERATURE, min: -30, max: 45 },
    { name: 'flow_temperature', register: 16, ...TEMPERATURE, min: 10, max: 65 },
    { name: 'return_temperature', register: 17, ...TEMPERATURE, min: 8, max: 55 },
    { name: 'setpoint', register: 32, ...TEMPERATURE, writable: true, min: 5, max: 60 },
    {
      name: 'mode',
      register: 40,
      kind: 'holding',
      format: 'uint16',
      enum: { 0: 'off', 1: 'heating', 2: 'hot_water' },
      writable: true,
    },
  ],
  coils: [
    { name: 'circulation_pump', coil: 0, writable: true },
    { name: 'compressor', coil: 0, kind: 'discrete' },
  ],
  poll: '10s',
}

/** Numbers of two registers, the high word first, as meters have them. */
const METERED = { kind: 'input', format: 'float32', stateClass: 'measurement' } as const

const GRID_METER: DemoDevice = {
  id: 'grid_meter',
  name: 'Grid meter',
  area: 'Cellar',
  type: 'modbus',
  port: 'bus1',
  address: 2,
  registers: [
    { name: 'voltage', register: 0, ...METERED, unit: 'V', deviceClass: 'voltage', min: 200, max: 260 },
    { name: 'current', register: 6, ...METERED, unit: 'A', deviceClass: 'current', min: 0, max: 63 },
    { name: 'power', register: 12, ...METERED, unit: 'W', deviceClass: 'power', min: 0, max: 14_500 },
    { name: 'frequency', register: 70, ...METERED, unit: 'Hz', deviceClass: 'frequency', min: 49, max: 51 },
    {
      name: 'import_energy',
      register: 72,
      ...METERED,
      unit: 'kWh',
      deviceClass: 'energy',
      stateClass: 'total_increasing',
      min: 0,
      max: 100_000,
    },
  ],
  poll: '10s',
}

const RELAY_BOARD: DemoDevice = {
  id: 'relays',
  name: 'Relay board',
  area: 'Garden',
  type: 'modbus',
  port: 'bus1',
  address: 3,
  coils: [
    { name: 'garden_pump', coil: 0, writable: true, toggle: true },
    { name: 'garden_light', coil: 1, writable: true, toggle: true },
    { name: 'gate_light', coil: 2, writable: true, toggle: true },
    { name: 'spare', coil: 3, writable: true, toggle: true },
  ],
  poll: '30s',
}

const OFFICE_CO2: DemoDevice = {
  id: 'office_co2',
  name: 'Air in the office',
  area: 'Office',
  type: 'mh-z19',
  port: { path: 'simulated' },
  poll: '30s',
}

const AMPLIFIER: DemoDevice = {
  id: 'amp',
  name: 'Amplifier',
  area: 'Living room',
  type: 'line',
  port: { path: 'simulated', baudRate: 9600 },
  terminator: 'auto',
  send: '\r',
  events: [{ name: 'power_changed', match: '^PW(?<power>ON|STANDBY)$' }],
  tools: {
    read_volume: {
      title: 'Read volume',
      description: 'Volume of the amplifier, 0 to 98.',
      command: 'MV?',
      reply: '^MV(?<volume>[0-9]+)$',
      returns: { volume: 'integer' },
      effect: 'read',
      parallelSafe: true,
    },
    set_volume: {
      title: 'Set volume',
      description: 'Sets the volume of the amplifier, 0 to 98.',
      command: 'MV{level}',
      parameters: { level: { type: 'integer', minimum: 0, maximum: 98 } },
      reply: '^MV{level}$',
      readBack: { tool: 'read_volume', expect: { volume: '{level}' } },
      effect: 'set',
    },
    power_toggle: {
      title: 'Toggle power',
      description: 'Switches the amplifier on if it is off, and off if it is on.',
      command: 'PT',
      reply: '^OK$',
      effect: 'act',
    },
  },
}
