/** Decoded values that no such device can have measured are nonsense, and nonsense is null. */
import type { ReadingSpec } from './device-type.ts'

/** Each field that is a reading and outside of its bounds becomes null; everything else is as it was. */
export function plausible<V>(value: V, readings: Readonly<Record<string, ReadingSpec>>): V {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const nonsense = Object.entries(value).filter(
    ([field, decoded]) => Object.hasOwn(readings, field) && !isPlausible(decoded, readings[field]),
  )
  if (nonsense.length === 0) return value
  return { ...value, ...Object.fromEntries(nonsense.map(([field]) => [field, null])) }
}

function isPlausible(decoded: unknown, spec: ReadingSpec | undefined): boolean {
  const { min, max } = spec ?? {}
  const number = numberOf(decoded)
  if (number === undefined) return true
  if (!Number.isFinite(number)) return false
  return (min === undefined || number >= min) && (max === undefined || number <= max)
}

/** A whole number that a JSON number cannot hold exactly comes as a decimal text. */
function numberOf(decoded: unknown): number | undefined {
  if (typeof decoded === 'number') return decoded
  return typeof decoded === 'string' && /^-?[0-9]{16,20}$/.test(decoded) ? Number(decoded) : undefined
}
