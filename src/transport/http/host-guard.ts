/**
 * Which names a request may come in under, and which pages may send it. A browser that was led to this gateway by
 * a foreign name (DNS rebinding) or by a foreign page says so in Host and Origin. Names are compared without their
 * port.
 */
import { isIPv6 } from 'node:net'
import { Problem } from './problem.ts'

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1']

const HOST = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/?#@[\]\\]+))(?::[0-9]{1,5})?$/
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)$/

/** The name in a Host header or in a configured entry: lower case, no port, no brackets, no final dot. */
export function hostName(host: string): string | undefined {
  if (isIPv6(host)) return canonicalIPv6(host)
  const [, literal, name] = HOST.exec(host) ?? []
  if (literal !== undefined) return isIPv6(literal) ? canonicalIPv6(literal) : undefined
  return name?.toLowerCase().replace(/\.$/, '')
}

function canonicalIPv6(address: string): string {
  // A zone ("fe80::1%eth0") names an interface of one machine; a URL cannot carry it.
  const [bare = address] = address.split('%', 1)
  return new URL(`http://[${bare}]/`).hostname.slice(1, -1)
}

export interface HostGuardParts {
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
  /** The name or address that the server listens on. */
  readonly bound: () => string | undefined
}

export class HostGuard {
  readonly #hosts: ReadonlySet<string>
  readonly #origins: ReadonlySet<string>
  readonly #bound: () => string | undefined

  constructor(parts: HostGuardParts) {
    this.#hosts = new Set([...LOOPBACK_NAMES, ...parts.allowedHosts].map((host) => hostName(host) ?? host))
    this.#origins = new Set(parts.allowedOrigins.map((origin) => originKey(origin) ?? origin))
    this.#bound = parts.bound
  }

  /**
   * Throws a Problem for a Host or an Origin that is not allowed. `arrivedAt` is the address that the connection
   * came to: a server on all addresses is called by each of them, and no foreign name resolves to a number.
   */
  check(host: string | undefined, origin: string | undefined, arrivedAt: string | undefined): void {
    if (!this.#allowsHost(host, arrivedAt)) {
      const name = host === undefined ? 'A request without a Host' : `The Host "${host}"`
      throw new Problem('host-not-allowed', `${name} is not allowed. Add the name to http.allowedHosts.`)
    }
    if (origin !== undefined && !this.#allowsOrigin(origin, arrivedAt)) {
      throw new Problem(
        'origin-not-allowed',
        `The Origin "${origin}" is not allowed. Add it to http.allowedOrigins.`,
      )
    }
  }

  #allowsHost(host: string | undefined, arrivedAt: string | undefined): boolean {
    const name = host === undefined ? undefined : hostName(host)
    if (name === undefined) return false
    return this.#hosts.has(name) || [this.#bound(), arrivedAt].some((own) => own && ownName(own) === name)
  }

  /** An origin is allowed by an entry of its own, or, from a web page, by an allowed host. */
  #allowsOrigin(origin: string, arrivedAt: string | undefined): boolean {
    if (this.#origins.has(originKey(origin) ?? origin)) return true
    const [, scheme, host] = ORIGIN.exec(origin) ?? []
    return (scheme === 'http' || scheme === 'https') && this.#allowsHost(host, arrivedAt)
  }
}

/** An own address; a socket of both families shows an IPv4 address as "::ffff:192.0.2.1". */
function ownName(address: string): string | undefined {
  return hostName(address.replace(/^::ffff:(?=[0-9]+\.)/, ''))
}

/** Scheme and name of an origin, without its port; undefined for what has no such form ("null"). */
function originKey(origin: string): string | undefined {
  const [, scheme, host = ''] = ORIGIN.exec(origin) ?? []
  const name = hostName(host)
  return scheme === undefined || name === undefined ? undefined : `${scheme}://${name}`
}
