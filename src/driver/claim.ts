/** A resource that a call needs. `port:<id>` is a line; other names are the author's own. */
export interface Claim {
  readonly resource: string
  readonly mode: 'shared' | 'exclusive'
}
