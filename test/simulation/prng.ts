/**
 * Randomness of a simulated run. One seed makes all of it, and each part of the world draws from a fork of its own
 * name, so that one more draw in one part changes nothing in the others.
 */

export class Prng {
  readonly #seed: string
  #a: number
  #b: number
  #c: number
  #counter: number

  constructor(seed: string) {
    this.#seed = seed
    const [a, b, c, counter] = hashes(seed)
    this.#a = a
    this.#b = b
    this.#c = c
    this.#counter = counter
    for (let round = 0; round < 12; round += 1) this.next()
  }

  /** The same name always gives the same fork, whatever was drawn before. */
  fork(name: string): Prng {
    return new Prng(`${this.#seed}/${name}`)
  }

  /** In [0, 1). sfc32, which passes the usual batteries and needs no 64-bit arithmetic. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    return (sum >>> 0) / 4_294_967_296
  }

  /** An integer from `min` to `max`, both among them. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<const T>(from: readonly [T, ...T[]]): T {
    return from[this.integer(0, from.length - 1)] ?? from[0]
  }
}

/** Four numbers of 32 bits out of a text: FNV-1a with four starts, and a last mixing as in MurmurHash3. */
function hashes(text: string): [number, number, number, number] {
  const start = (basis: number): number => {
    let hash = basis
    for (let index = 0; index < text.length; index += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    return hash ^ (hash >>> 16)
  }
  return [start(0x811c9dc5), start(0x1b873593), start(0x9e3779b9), start(0x7f4a7c15)]
}
