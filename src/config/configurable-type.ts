/** What the configuration needs to know of a device type. Whoever loads a configuration hands the types in. */

/** The electrical side of a line. */
export interface PortSettings {
  readonly baudRate: number
  readonly dataBits: 5 | 6 | 7 | 8
  readonly stopBits: 1 | 1.5 | 2
  readonly parity: 'none' | 'even' | 'odd' | 'mark' | 'space'
  readonly rtscts: boolean
  readonly hupcl: boolean
}

export type DeviceOptions = Readonly<Record<string, unknown>>

export interface OptionFault {
  /** JSON pointer into the device's options. */
  readonly field: string
  readonly message: string
  /** Default: `error`. */
  readonly severity?: 'error' | 'warning'
}

export interface ConfiguredTool {
  /** The command: the part of a tool's name behind the device id. */
  readonly command: string
  readonly effect: 'read' | 'set' | 'act'
}

export interface ConfigurableType {
  readonly type: string
  readonly title: string
  /**
   * JSON Schema (an object) of the keys that a device of this type has beside the common ones. Its objects are
   * closed: a key that it does not name is a fault, at any depth, unless `additionalProperties` says otherwise.
   * `format` is not checked; a `pattern` is.
   */
  readonly options: Readonly<Record<string, unknown>>
  /** Several devices may share one port; the option `address` tells them apart. */
  readonly addressed: boolean
  /** Line settings that a port of such a device has unless the configuration sets them. */
  readonly uart: Partial<PortSettings>
  /** The same for a device of these options, where a type has models that differ. Asked as those below. */
  readonly uartOf?: (options: DeviceOptions) => Partial<PortSettings>
  /** Faults that a schema cannot express. Asked only about options that fit the schema, as are those below. */
  readonly faults?: (options: DeviceOptions) => readonly OptionFault[]
  /** The three below are asked only about options without faults. Devices on one port have equal framing keys. */
  readonly framingKey?: (options: DeviceOptions) => string
  readonly tools?: (options: DeviceOptions) => readonly ConfiguredTool[]
  /** The reply timeout of a device that sets none of its own. */
  readonly timeoutMs?: (options: DeviceOptions) => number
  /** How often a device that says nothing of it is polled; undefined: never. */
  readonly pollMs?: (options: DeviceOptions) => number | undefined
}

/** The types by name. A map, since a device may ask for a type called `constructor`. */
export type ConfigurableTypes = ReadonlyMap<string, ConfigurableType>
