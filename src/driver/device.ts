/** Everything that a device file may use: `#device` inside the repository, `baudway/device` outside of it. */
export { Type } from 'typebox'
export { GatewayError } from '../errors.ts'
export {
  type Checksum,
  type ChecksumRange,
  crc16modbus,
  sum8,
  twosComplement8,
  xor8,
} from '../port/framer/checksum.ts'
export { type FixedLength, fixedLength } from '../port/framer/fixed-length.ts'
export { type CountFormat, type FrameOptions, frames, type LengthField } from '../port/framer/frames.ts'
export { type IdleFrames, idleFrames } from '../port/framer/idle-frames.ts'
export { type LineOptions, lines, type Terminator } from '../port/framer/lines.ts'
export { modbusRtu, modbusRtuRequests } from '../port/framer/modbus-rtu.ts'
export { nmea } from '../port/framer/nmea.ts'
export { ANY_SHAPE, type ReplyMatcher, type ReplyShape, startsWith } from '../port/reply.ts'
export {
  type ByteFraming,
  byteFraming,
  framingFaults,
} from './byte-framing.ts'
export { byteSimulator } from './byte-simulator.ts'
export {
  type ByteToolSpec,
  byteExchange,
  byteReturns,
  byteTools,
} from './byte-tool.ts'
export { byteToolFaults } from './byte-tool-faults.ts'
export { type Command, command } from './command.ts'
export {
  COMMAND_LENGTH_MAX,
  type DescriptionSpec,
  defineDevice,
  NAME_PATTERN,
  nullable,
} from './define-device.ts'
export type {
  DeviceSession,
  DeviceSimulator,
  EventSpec,
  Example,
  Exchange,
  OptionFault,
  PushedFields,
  PushedSpec,
  ReadBack,
  ReadingSpec,
  SimulatedReply,
  SimulatedWorld,
  Verdict,
} from './device-type.ts'
export {
  busy,
  exchangeOf,
  type FrameKind,
  mapped,
  matcherOf,
  refused,
  unanswered,
  uncorrelated,
  value,
} from './exchange.ts'
export {
  type BitKind,
  MODBUS_BITS_MAX,
  MODBUS_REGISTERS_MAX,
  type RegisterKind,
  readBits,
  readRegisters,
  writeCoil,
  writeCoils,
  writeRegister,
  writeRegisters,
} from './modbus.ts'
export { type Block, blocksOf, type Span } from './modbus-block.ts'
export { type ModbusBank, modbusSimulator } from './modbus-simulator.ts'
export { patternsOverlap } from './pattern-overlap.ts'
export {
  decodeRegisters,
  encodeRegisters,
  precisionOf,
  type RegisterFormat,
  type RegisterMeaning,
  type RegisterValue,
  rangeOf,
  registersOf,
} from './register-format.ts'
export {
  type BitEntry,
  bitKindOf,
  kindOf,
  mapReadings,
  mapTools,
  type RegisterEntry,
  type RegisterMap,
  readMap,
} from './register-map.ts'
export { mapSimulator } from './register-map-simulator.ts'
export { bindingsOf, type TextCommand, textCommand } from './text-command.ts'
export { type FieldType, type FieldValue, fieldOf, fieldSchema, fieldsOf } from './text-field.ts'
export {
  type Bindings,
  type BoundPattern,
  readPattern,
  type TextPattern,
  textOf,
  usablePattern,
} from './text-pattern.ts'
export { sampleText } from './text-sample.ts'
export { textSimulator } from './text-simulator.ts'
export { returnsOf, type TextToolSpec, textExchange, textQuery, textTools } from './text-tool.ts'
export { patternFaults, probeFaults, toolFaults } from './text-tool-faults.ts'
