/**
 * Is there one order of a resource's operations that explains everything its clients saw? The search of Wing and Gong
 * with the memory of Lowe, as porcupine has it: operations are put in order one by one, an operation may be next if no
 * other had ended before it began, and a pair of (state, operations put in order) is looked into once. An operation that
 * only looks is put in order as soon as it fits: whatever comes later stays as possible as it was.
 *
 * An operation whose end nobody knows may take its place at any time after its beginning, or never. Such operations are
 * what makes the search expensive, so the model may tell beforehand which of them the history itself decides. The
 * answer is exact: the memory compares whole sets, not hashes of them.
 */

export interface Operation<Detail> {
  /** Both on one clock, in any unit. */
  readonly invokedAt: number
  /** Infinite: nobody knows whether it happened, or when. */
  readonly returnedAt: number
  readonly detail: Detail
}

export interface Model<State, Detail> {
  readonly initial: State
  /** The state afterwards; undefined: in this state the operation would not have shown what it did. */
  step(state: State, detail: Detail): State | undefined
  key(state: State): string | number
  /** It changes no state whatsoever. */
  isRead(detail: Detail): boolean
  /** False only if no further operations at all could make `detail` possible. Default: true. */
  leadsTo?(state: State, detail: Detail): boolean
  /** The same question with fewer or shorter unknown operations. */
  narrow?(operations: readonly Operation<Detail>[]): readonly Operation<Detail>[]
}

export type Verdict<Detail> =
  | { readonly linearizable: true; readonly order: readonly Operation<Detail>[]; readonly steps: number }
  | {
      readonly linearizable: false
      /** No order gets past this one; undefined: it ended before it began. */
      readonly stuckAt: Operation<Detail>
      /** How many known operations the best order explains. */
      readonly explained: number
      readonly steps: number
    }

/** Beyond it the search is given up with an error: an answer that was not found is not an answer. */
const STEPS_MAX = 20_000_000
const UNKNOWN_PER_UNIT = 16

export function checkLinearizable<State, Detail>(
  model: Model<State, Detail>,
  history: readonly Operation<Detail>[],
): Verdict<Detail> {
  const operations = model.narrow?.(history) ?? history
  const impossible = operations.find(({ invokedAt, returnedAt }) => returnedAt < invokedAt)
  if (impossible) return { linearizable: false, stuckAt: impossible, explained: 0, steps: 0 }
  return new Search(model, operations).run()
}

/** One check for each resource. */
export function byResource<Item>(
  items: readonly Item[],
  resourceOf: (item: Item) => string,
): ReadonlyMap<string, Item[]> {
  const parts = new Map<string, Item[]>()
  for (const item of items) {
    const resource = resourceOf(item)
    const part = parts.get(resource)
    if (part) part.push(item)
    else parts.set(resource, [item])
  }
  return parts
}

interface Placed<State> {
  readonly operation: number
  readonly stateBefore: State
  /** The earliest end of the known operations that the scan had passed, this one included. */
  readonly boundBefore: number
  readonly highestBefore: number
}

/** Known operations are numbered by their beginning, unknown ones behind them; both are rings through a head. */
class Search<State, Detail> {
  readonly #model: Model<State, Detail>
  readonly #operations: readonly Operation<Detail>[]
  readonly #knownCount: number
  readonly #next: Int32Array
  readonly #previous: Int32Array
  readonly #knownHead: number
  readonly #unknownHead: number
  readonly #unknownPlaced: Uint16Array
  readonly #memory = new Set<string>()
  readonly #placed: Placed<State>[] = []
  /** The highest number of a known operation that has its place. */
  #highest = -1
  #knownPlaced = 0
  #state: State

  constructor(model: Model<State, Detail>, history: readonly Operation<Detail>[]) {
    const sorted = history.toSorted((one, other) => one.invokedAt - other.invokedAt)
    const known = sorted.filter(({ returnedAt }) => returnedAt !== Number.POSITIVE_INFINITY)
    const unknown = sorted.filter(
      ({ returnedAt, detail }) => returnedAt === Number.POSITIVE_INFINITY && !model.isRead(detail),
    )
    this.#model = model
    const count = known.length + unknown.length
    this.#operations = [...known, ...unknown]
    this.#knownCount = known.length
    this.#knownHead = count
    this.#unknownHead = count + 1
    this.#next = new Int32Array(count + 2)
    this.#previous = new Int32Array(count + 2)
    this.#ring(this.#knownHead, 0, known.length)
    this.#ring(this.#unknownHead, known.length, count)
    this.#unknownPlaced = new Uint16Array(Math.ceil(unknown.length / UNKNOWN_PER_UNIT))
    this.#state = model.initial
  }

  run(): Verdict<Detail> {
    let steps = 0
    let explained = 0
    this.#placeReads()
    let candidate = this.#after(this.#knownHead)
    let stuckAt = candidate
    let bound = Number.POSITIVE_INFINITY
    while (this.#knownPlaced < this.#knownCount) {
      steps += 1
      if (steps > STEPS_MAX) throw new Error(`no answer after ${STEPS_MAX} steps, ${explained} explained`)
      if (this.#knownPlaced > explained) {
        explained = this.#knownPlaced
        stuckAt = this.#after(this.#knownHead)
      }
      candidate = this.#skipToUnknown(candidate, bound)
      if (!this.#mayBeNext(candidate, bound)) {
        const last = this.#takeBackChange()
        if (!last) return { linearizable: false, stuckAt: this.#at(stuckAt), explained, steps }
        bound = last.boundBefore
        candidate = this.#after(last.operation)
        continue
      }
      if (candidate < this.#knownCount) bound = Math.min(bound, this.#at(candidate).returnedAt)
      if (this.#place(candidate, bound)) {
        this.#placeReads()
        candidate = this.#after(this.#knownHead)
        bound = Number.POSITIVE_INFINITY
      } else {
        candidate = this.#after(candidate)
      }
    }
    return { linearizable: true, order: this.#placed.map(({ operation }) => this.#at(operation)), steps }
  }

  /** Unknown operations come after all known ones that may be next. */
  #skipToUnknown(candidate: number, bound: number): number {
    if (candidate !== this.#knownHead) {
      if (candidate >= this.#knownCount || this.#at(candidate).invokedAt <= bound) return candidate
    }
    return this.#after(this.#unknownHead)
  }

  #mayBeNext(candidate: number, bound: number): boolean {
    if (candidate === this.#knownHead || candidate === this.#unknownHead) return false
    return this.#at(candidate).invokedAt <= bound
  }

  /** False: it does not fit here, or everything behind it has been looked into. */
  #place(operation: number, bound: number): boolean {
    const { detail } = this.#at(operation)
    if (this.#model.isRead(detail)) return false
    const state = this.#model.step(this.#state, detail)
    if (state === undefined) return false
    this.#put(operation, state, bound)
    if (this.#leadsOn() && this.#isNew()) return true
    this.#takeBack()
    return false
  }

  /** All reads that fit the state and may be next. */
  #placeReads(): void {
    let bound = Number.POSITIVE_INFINITY
    let each = this.#after(this.#knownHead)
    while (each !== this.#knownHead && this.#at(each).invokedAt <= bound) {
      const { detail, returnedAt } = this.#at(each)
      if (this.#model.isRead(detail) && this.#model.step(this.#state, detail) !== undefined) {
        this.#put(each, this.#state, bound)
      } else {
        bound = Math.min(bound, returnedAt)
      }
      each = this.#after(each)
    }
  }

  #put(operation: number, state: State, bound: number): void {
    this.#placed.push({
      operation,
      stateBefore: this.#state,
      boundBefore: bound,
      highestBefore: this.#highest,
    })
    this.#state = state
    this.#lift(operation)
    if (operation >= this.#knownCount) return
    this.#highest = Math.max(this.#highest, operation)
    this.#knownPlaced += 1
  }

  #takeBack(): Placed<State> | undefined {
    const last = this.#placed.pop()
    if (!last) return undefined
    this.#state = last.stateBefore
    this.#highest = last.highestBefore
    this.#restore(last.operation)
    if (last.operation < this.#knownCount) this.#knownPlaced -= 1
    return last
  }

  /** The last change, with the reads behind it. */
  #takeBackChange(): Placed<State> | undefined {
    for (;;) {
      const last = this.#takeBack()
      if (!last || !this.#model.isRead(this.#at(last.operation).detail)) return last
    }
  }

  /** Whether every known operation that may be next can still get what it showed. */
  #leadsOn(): boolean {
    const { leadsTo } = this.#model
    if (!leadsTo) return true
    let bound = Number.POSITIVE_INFINITY
    for (let each = this.#after(this.#knownHead); each !== this.#knownHead; each = this.#after(each)) {
      const { invokedAt, returnedAt, detail } = this.#at(each)
      if (invokedAt > bound) break
      if (!leadsTo(this.#state, detail)) return false
      bound = Math.min(bound, returnedAt)
    }
    return true
  }

  /** The known operations in order are all up to the highest, but for those named. */
  #isNew(): boolean {
    let key = `${this.#model.key(this.#state)}|${this.#highest}`
    for (let each = this.#after(this.#knownHead); each < this.#highest; each = this.#after(each))
      key += `,${each}`
    key += `|${String.fromCharCode(...this.#unknownPlaced)}`
    if (this.#memory.has(key)) return false
    this.#memory.add(key)
    return true
  }

  #at(number: number): Operation<Detail> {
    const operation = this.#operations[number]
    if (!operation) throw new Error(`there is no operation ${number}`)
    return operation
  }

  #after(number: number): number {
    return this.#next[number] ?? this.#knownHead
  }

  #ring(head: number, from: number, to: number): void {
    let previous = head
    for (let each = from; each < to; each += 1) {
      this.#join(previous, each)
      previous = each
    }
    this.#join(previous, head)
  }

  #join(one: number, other: number): void {
    this.#next[one] = other
    this.#previous[other] = one
  }

  #lift(operation: number): void {
    this.#join(this.#previous[operation] ?? 0, this.#after(operation))
    this.#mark(operation)
  }

  #restore(operation: number): void {
    this.#next[this.#previous[operation] ?? 0] = operation
    this.#previous[this.#after(operation)] = operation
    this.#mark(operation)
  }

  #mark(operation: number): void {
    if (operation < this.#knownCount) return
    const bit = operation - this.#knownCount
    const unit = Math.floor(bit / UNKNOWN_PER_UNIT)
    this.#unknownPlaced[unit] = (this.#unknownPlaced[unit] ?? 0) ^ (1 << (bit % UNKNOWN_PER_UNIT))
  }
}
