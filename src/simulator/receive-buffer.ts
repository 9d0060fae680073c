/** What a port has received and nobody has read yet: a ring of fixed size, made when the first byte comes. */
export class ReceiveBuffer {
  readonly #capacity: number
  #ring: Uint8Array | undefined
  #start = 0
  #length = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get length(): number {
    return this.#length
  }

  /** Takes what there is room for, and returns how much that was; the rest is lost. */
  put(bytes: Uint8Array): number {
    this.#ring ??= new Uint8Array(this.#capacity)
    const accepted = Math.min(bytes.length, this.#capacity - this.#length)
    const at = (this.#start + this.#length) % this.#capacity
    const untilWrap = Math.min(accepted, this.#capacity - at)
    this.#ring.set(bytes.subarray(0, untilWrap), at)
    this.#ring.set(bytes.subarray(untilWrap, accepted), 0)
    this.#length += accepted
    return accepted
  }

  /** Moves the oldest bytes to `target`, and returns how many. */
  moveTo(target: Uint8Array): number {
    if (!this.#ring) return 0
    const count = Math.min(target.length, this.#length)
    const untilWrap = Math.min(count, this.#capacity - this.#start)
    target.set(this.#ring.subarray(this.#start, this.#start + untilWrap), 0)
    target.set(this.#ring.subarray(0, count - untilWrap), untilWrap)
    this.#start = (this.#start + count) % this.#capacity
    this.#length -= count
    return count
  }

  clear(): void {
    this.#length = 0
  }
}
