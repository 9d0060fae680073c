/** Who is calling, the same for every transport that carries a bearer token. */
import type { Principal, Role } from '../tool/home.ts'

const RANKS: Readonly<Record<Role, number>> = { read: 0, control: 1, admin: 2 }

/** Each role may do all that the one before it may. */
export function hasRole(principal: Principal, role: Role): boolean {
  return RANKS[principal.role] >= RANKS[role]
}

const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i

/** The token of an Authorization header (RFC 6750); undefined for any other form. */
export function bearerToken(authorization: string): string | undefined {
  return BEARER.exec(authorization)?.[1]
}
