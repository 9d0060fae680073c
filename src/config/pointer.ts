/** JSON pointers (RFC 6901): the way in which every fault names its place. */

export function childPointer(parent: string, segment: string | number): string {
  return `${parent}/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

export function pointerSegments(pointer: string): string[] {
  if (pointer === '') return []
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An own property of a mapping, or an item of a list. */
export function childOf(parent: unknown, segment: string): unknown {
  if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, segment)) return undefined
  return (parent as Record<string, unknown>)[segment]
}

export function valueAt(data: unknown, pointer: string): unknown {
  return pointerSegments(pointer).reduce<unknown>(childOf, data)
}

/** The pointers of `data` that a pattern names; its segment `*` stands for any key or item. */
export function pointersLike(data: unknown, pattern: string): string[] {
  let found = [{ pointer: '', value: data }]
  for (const segment of pointerSegments(pattern)) {
    found = found.flatMap(({ pointer, value }) => {
      if (typeof value !== 'object' || value === null) return []
      const names = segment === '*' ? Object.keys(value) : Object.hasOwn(value, segment) ? [segment] : []
      return names.map((name) => ({ pointer: childPointer(pointer, name), value: childOf(value, name) }))
    })
  }
  return found.map(({ pointer }) => pointer)
}
