/** The part of `modbus-pdu` that the gateway uses; the package has no types of its own. */
declare module 'modbus-pdu' {
  interface Codec<BuildArguments extends readonly unknown[], Parsed> {
    build(...values: BuildArguments): Buffer
    parse(pdu: Buffer): Parsed
  }
  interface AddressQuantity {
    readonly address: number
    readonly quantity: number
  }
  interface ReadFunction<Values, Item> {
    readonly Code: number
    readonly Request: Codec<[address: number, quantity: number], AddressQuantity | null>
    readonly Response: Codec<[values: readonly Values[]], readonly Item[] | null>
  }
  interface WriteOneFunction<Value> {
    readonly Code: number
    readonly Request: Codec<[address: number, value: Value], unknown>
  }
  interface WriteManyFunction<Values, Item> {
    readonly Code: number
    readonly Request: Codec<
      [address: number, values: readonly Values[]],
      (AddressQuantity & { readonly values: readonly Item[] }) | null
    >
    readonly Response: Codec<[address: number, quantity: number], AddressQuantity | null>
  }
  interface ModbusPdu {
    readonly ReadCoils: ReadFunction<number, number>
    readonly ReadDiscreteInputs: ReadFunction<number, number>
    readonly ReadHoldingRegisters: ReadFunction<Buffer, Buffer>
    readonly ReadInputRegisters: ReadFunction<Buffer, Buffer>
    readonly WriteSingleCoil: WriteOneFunction<boolean>
    readonly WriteSingleRegister: WriteOneFunction<Buffer>
    readonly WriteMultipleCoils: WriteManyFunction<number, number>
    readonly WriteMultipleRegisters: WriteManyFunction<Buffer, Buffer>
    readonly Exception: { build(functionCode: number, code: number): Buffer }
    /** A PDU of any function. */
    Package(functionCode: number, data: readonly number[]): Buffer
  }
  const modbus: ModbusPdu
  export default modbus
}
