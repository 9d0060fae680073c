/** Where Linux shows its hardware and its processes: parameters, so that a made-up machine can be looked at too. */
export interface HostRoots {
  readonly dev: string
  readonly sys: string
  readonly proc: string
  readonly boot: string
}

export const HOST_ROOTS: HostRoots = { dev: '/dev', sys: '/sys', proc: '/proc', boot: '/boot' }
