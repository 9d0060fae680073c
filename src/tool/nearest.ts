/** Names that somebody may have meant, for the hint of an error. */

const DISTANCE_MAX = 3
const NAMES_MAX = 3
/** A name longer than this is no typing mistake, and comparing it would cost too much. */
const NAME_LENGTH_MAX = 128

/** At most three of the known names, the nearest first. */
export function nearest(name: string, known: Iterable<string>): string[] {
  if (name.length > NAME_LENGTH_MAX) return []
  const wanted = name.toLowerCase()
  const close: { candidate: string; distance: number }[] = []
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance <= Math.min(DISTANCE_MAX, Math.floor(candidate.length / 2)))
      close.push({ candidate, distance })
  }
  close.sort((one, other) => one.distance - other.distance || one.candidate.localeCompare(other.candidate))
  return close.slice(0, NAMES_MAX).map(({ candidate }) => candidate)
}

/** Levenshtein's, by rows; a distance beyond DISTANCE_MAX is only said to be one. */
function editDistance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > DISTANCE_MAX) return DISTANCE_MAX + 1
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const change = one[row - 1] === other[column - 1] ? 0 : 1
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + change,
      )
    }
    // It never falls below the least of a row: most names are given up after a few letters.
    if (Math.min(...current) > DISTANCE_MAX) return DISTANCE_MAX + 1
    previous = current
  }
  return previous[other.length] ?? 0
}
