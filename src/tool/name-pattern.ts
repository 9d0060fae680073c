/** Names with `*` for any characters, compared in linear time whatever the pattern is. */

export function namePattern(pattern: string): (name: string) => boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return (name) => name === pattern
  return (name) => {
    if (!name.startsWith(first)) return false
    let from = first.length
    for (const part of rest) {
      const at = name.indexOf(part, from)
      if (at === -1) return false
      from = at + part.length
    }
    return name.length - last.length >= from && name.endsWith(last)
  }
}
