/**
 * A configuration object of the library as plain data of its own: what its owner later changes changes nothing, and
 * what is no data (a function, a date, a loop) is a fault instead of a surprise.
 */
import { messageOf } from '../errors.ts'
import { JSON_DEPTH_MAX } from '../limits.ts'
import { errorAt, type Finding } from './fault.ts'
import { childPointer } from './pointer.ts'

const VALUES_MAX = 1_000_000

export function plainData(value: unknown): { data: unknown; findings: readonly Finding[] } {
  const copy = new Copy()
  const data = copy.of(value, '', 0)
  return { data, findings: copy.findings }
}

class Copy {
  readonly findings: Finding[] = []
  #values = 0

  of(value: unknown, pointer: string, depth: number): unknown {
    this.#values += 1
    if (this.#values === VALUES_MAX + 1) this.#fault(pointer, `more than ${VALUES_MAX} values`)
    if (this.#values > VALUES_MAX) return null
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value
      case 'number':
        return Number.isFinite(value)
          ? value
          : this.#fault(pointer, `${value} is not a number that can be used here`)
      case 'object':
        if (value === null) return null
        if (depth > JSON_DEPTH_MAX) {
          return this.#fault(pointer, `nested more than ${JSON_DEPTH_MAX} levels deep, or within itself`)
        }
        return this.#inside(value, pointer, depth)
      default:
        return this.#fault(pointer, `${value === undefined ? 'undefined' : `a ${typeof value}`} is not data`)
    }
  }

  #inside(value: object, pointer: string, depth: number): unknown {
    try {
      if (Array.isArray(value)) {
        return Array.from(value, (item, index) => this.of(item, childPointer(pointer, index), depth + 1))
      }
      const prototype: unknown = Object.getPrototypeOf(value)
      if (prototype !== null && prototype !== Object.prototype) {
        return this.#fault(pointer, 'only plain objects, lists, text, numbers, true, false and null are data')
      }
      const copy: Record<string, unknown> = {}
      for (const [key, item] of Object.entries(value)) {
        const child = childPointer(pointer, key)
        if (key === '__proto__') this.#fault(child, 'the key "__proto__" is not allowed')
        // As in JSON, a key without a value is no key.
        else if (item !== undefined) copy[key] = this.of(item, child, depth + 1)
      }
      return copy
    } catch (error) {
      return this.#fault(pointer, `it cannot be read: ${messageOf(error)}`)
    }
  }

  #fault(pointer: string, message: string): null {
    this.findings.push(errorAt(pointer, message))
    return null
  }
}
