/** Devices of the catalogue's types that are not their samples: other models, framings, formats and parameters. */

const REGISTERS = [
  { name: 'word', register: 0, format: 'uint16', writable: true, scale: 0.1, min: -5, max: 80 },
  { name: 'signed', register: 1, format: 'int16', writable: true, offset: -40 },
  { name: 'pair', register: 2, format: 'uint32', wordOrder: 'little', writable: true },
  { name: 'signed_pair', register: 4, kind: 'input', format: 'int32' },
  { name: 'long', register: 6, format: 'uint64', writable: true },
  { name: 'signed_long', register: 10, format: 'int64', wordOrder: 'little' },
  { name: 'float', register: 14, format: 'float32', writable: true, scale: 2 },
  { name: 'double', register: 16, format: 'float64', writable: true, wordOrder: 'little' },
  { name: 'label', register: 20, format: 'string', length: 4, writable: true },
  { name: 'flag', register: 24, kind: 'input', format: 'bit', bit: 15 },
  {
    name: 'mode',
    register: 65_535,
    format: 'int16',
    enum: { '-1': 'off', '0': 'on', '7': 'auto' },
    writable: true,
  },
] as const

const LINE_TOOLS = {
  read_volume: {
    command: 'MV?',
    reply: '^MV(?<volume>[0-9]+)$',
    returns: { volume: 'integer' },
    effect: 'read',
  },
  read_state: {
    command: 'ST?',
    reply: '^ST(?<on>[01]|true|false),(?<level>[-+0-9.eE]+),(?<name>.*)$',
    returns: { on: 'boolean', level: 'number', name: 'string' },
    effect: 'read',
    parallelSafe: true,
  },
  set_name: {
    command: 'NA{name}',
    parameters: { name: { type: 'string', maxLength: 12 } },
    reply: '^NA{name}$',
    refuse: '^ERR(?<code>.*)$',
    effect: 'set',
  },
  set_level: {
    command: 'LV{level}',
    parameters: { level: { type: 'number', minimum: -10, maximum: 1e6 } },
    reply: '^LV{level}$',
    effect: 'set',
  },
  set_mute: {
    command: 'MU{on}',
    parameters: { on: { type: 'boolean' } },
    reply: '^MU(?<said>.*)$',
    effect: 'set',
  },
} as const

const LENGTH_TOOLS = {
  read_level: {
    request: 'aa 01 10',
    reply: 'aa 04 {level:int16le} .. 10',
    effect: 'read',
    parallelSafe: true,
  },
  set_level: {
    request: 'aa 04 {level:int16le} {on:uint8} 11',
    parameters: { level: { type: 'integer', minimum: -300, maximum: 300 }, on: { type: 'boolean' } },
    reply: 'aa 01 11',
    refuse: 'aa 02 11 {code:uint8}',
    effect: 'set',
  },
} as const

const SILENCE_TOOLS = {
  read_float: {
    request: '01 46 {checksum}',
    reply: '01 46 {level:float32be} {count:uint32le} {checksum}',
    effect: 'read',
    parallelSafe: true,
  },
  set_float: {
    request: '01 47 {level:float32be} {checksum}',
    parameters: { level: { type: 'number' } },
    reply: '01 47 {checksum}',
    effect: 'set',
  },
} as const

export const DEVICE_VARIANTS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  'eastron-sdm': {
    sdm72: { address: 247, model: 'sdm72' },
    sdm230: { address: 2, model: 'sdm230' },
    sdm630: { address: 10, model: 'sdm630' },
  },
  'modbus-relay': {
    lc: { address: 255, channels: 1, dialect: 'lc' },
    r4d: { address: 3, channels: 16, dialect: 'r4d' },
  },
  modbus: {
    'of every format': {
      address: 13,
      registers: REGISTERS,
      coils: [
        { name: 'pump', coil: 10, writable: true, toggle: true },
        { name: 'door', coil: 0, kind: 'discrete' },
      ],
    },
  },
  line: {
    'with a prompt': { prompt: '> ', terminator: '\r\n', send: '\r\n', tools: LINE_TOOLS },
    'that LF ends': { terminator: '\n', send: '\n', tools: LINE_TOOLS },
  },
  frames: {
    'with a length field': { framing: { start: 'aa', lengthAt: 1, lengthPlus: 2 }, tools: LENGTH_TOOLS },
    'that silence ends': {
      framing: { idleMs: 20, start: '01', checksum: { kind: 'crc-16-modbus' } },
      tools: SILENCE_TOOLS,
    },
  },
}
