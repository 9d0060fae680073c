/**
 * A module hook: device files that lie outside of the package, where no package manager has put `baudway`, still find
 * `baudway/device`. It runs on a thread of its own and imports nothing.
 */
let deviceUrl: string | undefined

interface Resolved {
  readonly url: string
  readonly shortCircuit?: boolean
}

type NextResolve = (specifier: string, context: unknown) => Promise<Resolved>

export function initialize(data: { readonly deviceUrl: string }): void {
  deviceUrl = data.deviceUrl
}

export async function resolve(specifier: string, context: unknown, next: NextResolve): Promise<Resolved> {
  if (specifier === 'baudway/device' && deviceUrl !== undefined) return { url: deviceUrl, shortCircuit: true }
  return next(specifier, context)
}
