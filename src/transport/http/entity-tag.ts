/** The If-Match header (RFC 9110, section 13.1.1), as far as one file with one version needs it. */
import { Problem } from './problem.ts'

const STRONG_TAG = /^"([\x21\x23-\x7e]+)"$/

/** The version that is expected; undefined: whatever it is. */
export function expectedVersion(ifMatch: string | undefined): string | undefined {
  if (ifMatch === undefined || ifMatch === '*') return undefined
  const version = STRONG_TAG.exec(ifMatch)?.[1]
  if (version !== undefined) return version
  throw new Problem('invalid-request', 'The request has 1 fault; nothing was written.', {
    errors: [{ in: 'header', field: '/If-Match', message: 'must be one ETag in double quotes, or *' }],
  })
}
