/**
 * How much is done with bytes, counted: copied, searched, compared or cut out. A count is the same on every machine,
 * which a time is not. It is of one thread's synchronous work, and nothing else may run meanwhile.
 */

type Method = (this: unknown, ...args: never[]) => unknown

/** Bytes that a call may touch, from what it was called on, what with, and what it gave. */
type Weight = (on: unknown, args: readonly unknown[], result: unknown) => number

const ofResult: Weight = (_on, _args, result) => lengthOf(result)
const ofReceiver: Weight = (on) => lengthOf(on)

function lengthOf(value: unknown): number {
  return ArrayBuffer.isView(value) ? value.byteLength : Array.isArray(value) ? value.length : 0
}

/** A search ends where it finds, or at the end. */
const ofSearch: Weight = (on, [, from], result) => {
  const start = typeof from === 'number' ? from : 0
  return Math.max(0, (typeof result === 'number' && result >= 0 ? result : lengthOf(on)) - start)
}

const COUNTED: readonly (readonly [owner: object, name: string, weight: Weight])[] = [
  [Buffer, 'concat', ofResult],
  [Uint8Array, 'from', ofResult],
  [Buffer, 'from', (_on, [value], result) => (value instanceof ArrayBuffer ? 0 : lengthOf(result))],
  [Buffer.prototype, 'indexOf', ofSearch],
  [Buffer.prototype, 'subarray', ofResult],
  [Buffer.prototype, 'equals', ofReceiver],
  ...(['subarray', 'slice', 'map', 'filter'] as const).map(
    (name) => [Object.getPrototypeOf(Uint8Array.prototype), name, ofResult] as const,
  ),
  ...(['indexOf', 'lastIndexOf', 'includes'] as const).map(
    (name) => [Object.getPrototypeOf(Uint8Array.prototype), name, ofSearch] as const,
  ),
]

/** Bytes that were touched while `run` ran, one more for each call. */
export function workOf(run: () => void): number {
  let work = 0
  const restored = COUNTED.map(([owner, name, weight]) => {
    const before = Object.getOwnPropertyDescriptor(owner, name)
    const method = Reflect.get(owner, name) as Method
    const counting = function (this: unknown, ...args: unknown[]): unknown {
      const result = Reflect.apply(method, this, args)
      work += 1 + weight(this, args, result)
      return result
    }
    Object.defineProperty(owner, name, {
      value: counting,
      configurable: true,
      writable: true,
      enumerable: false,
    })
    return () => {
      if (before) Object.defineProperty(owner, name, before)
      else Reflect.deleteProperty(owner, name)
    }
  })
  try {
    run()
  } finally {
    for (const restore of restored.reverse()) restore()
  }
  return work
}
