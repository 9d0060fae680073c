/** "Did you mean …?": the name that a mistyped one most likely stands for. */

/** Names longer than this are no typing mistakes, and a distance costs the product of the lengths. */
const NAME_LENGTH_MAX = 64
/** Candidates looked at, so that many unknown names in a large file cost no more than their number. */
const CANDIDATES_MAX = 200
/** A beginning shorter than this says nothing. */
const BEGINNING_LENGTH_MIN = 3

export function didYouMean(name: string, candidates: Iterable<string>): string | undefined {
  const near = nearestName(name, candidates)
  return near === undefined ? undefined : `did you mean "${near}"?`
}

/** The nearest candidate within a third of the name's length, else one that the name begins. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length === 0 || name.length > NAME_LENGTH_MAX) return undefined
  const wanted = name.toLowerCase()
  let nearest: string | undefined
  let nearestDistance = Math.max(1, Math.floor(name.length / 3)) + 1
  let begun: string | undefined
  let looked = 0
  for (const candidate of candidates) {
    looked += 1
    if (looked > CANDIDATES_MAX) break
    if (candidate.length > NAME_LENGTH_MAX) continue
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < nearestDistance) {
      nearest = candidate
      nearestDistance = distance
    }
    if (name.length >= BEGINNING_LENGTH_MIN && candidate.toLowerCase().startsWith(wanted)) begun ??= candidate
  }
  return nearest ?? begun
}

/** Insertions, deletions, replacements, and neighbours that changed places. */
function editDistance(one: string, other: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1)
      const inserted = (current[column - 1] ?? 0) + 1
      const deleted = (previous[column] ?? 0) + 1
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      const swapped = isSwapped ? (beforePrevious[column - 2] ?? 0) + 1 : replaced
      current.push(Math.min(replaced, inserted, deleted, swapped))
    }
    beforePrevious = previous
    previous = current
  }
  return previous[other.length] ?? 0
}
