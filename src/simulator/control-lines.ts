/** The lines beside the data that the host drives, and the edges that the far end has seen on them. */
export type ControlLine = 'dtr' | 'rts' | 'brk'

export interface ControlEdge {
  readonly at: number
  readonly line: ControlLine
  readonly high: boolean
}

const EDGES_MAX = 1_000

export class ControlLines {
  readonly #onEdge: (edge: ControlEdge) => void
  readonly #high: Record<ControlLine, boolean> = { dtr: false, rts: false, brk: false }
  readonly #edges: ControlEdge[] = []

  constructor(onEdge: (edge: ControlEdge) => void) {
    this.#onEdge = onEdge
  }

  /** The last changes, oldest first. */
  get edges(): readonly ControlEdge[] {
    return this.#edges
  }

  drive(line: ControlLine, high: boolean, at: number): void {
    if (this.#high[line] === high) return
    this.#high[line] = high
    const edge = { at, line, high }
    this.#edges.push(edge)
    if (this.#edges.length > EDGES_MAX) this.#edges.shift()
    this.#onEdge(edge)
  }
}
