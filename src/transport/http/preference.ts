/** The Prefer header (RFC 7240). A preference that is not known is ignored, as that document wants it. */

const RESPOND_ASYNC = /^\s*respond-async\s*(?:;|$)/i

/** `Prefer` may be given several times, and each time may hold several preferences. */
export function prefersAsync(prefer: string | readonly string[] | undefined): boolean {
  return String(prefer ?? '')
    .split(',')
    .some((preference) => RESPOND_ASYNC.test(preference))
}
