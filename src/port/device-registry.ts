/** One owner for each kernel device, whatever link named it. */
export class DeviceRegistry {
  readonly #owners = new Map<string, string>()

  /** Undefined: the device is the port's now. Else the port that has it. */
  claim(deviceKey: string, portId: string): string | undefined {
    const owner = this.#owners.get(deviceKey)
    if (owner !== undefined && owner !== portId) return owner
    this.#owners.set(deviceKey, portId)
    return undefined
  }

  release(deviceKey: string, portId: string): void {
    if (this.#owners.get(deviceKey) === portId) this.#owners.delete(deviceKey)
  }
}
