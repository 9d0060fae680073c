/** What a plan says will happen, played step by step: nothing but the plan's own answer goes into it. */
import type { PlanResponse } from '../src/index.ts'

export interface PlannedCallAt {
  /** Places in the batch. */
  readonly waitsFor: readonly number[]
  readonly overlaps: readonly number[]
  /** It will be answered without a run. */
  readonly isRefused: boolean
}

/** The plan with places in the batch for ids. */
export function placesOf({ calls }: PlanResponse): PlannedCallAt[] {
  const places = new Map(calls.map(({ id }, place) => [id, place]))
  if (places.size !== calls.length) throw new Error('two planned calls have one id')
  return calls.map(({ waitsFor, overlaps, error, confirmation }) => ({
    waitsFor: waitsFor.map(({ id }) => placeOf(places, id)),
    overlaps: overlaps.map((id) => placeOf(places, id)),
    isRefused: error !== undefined || confirmation,
  }))
}

export function placeOf(places: ReadonlyMap<string, number>, id: string): number {
  const place = places.get(id)
  if (place === undefined) throw new Error(`there is no call ${id}`)
  return place
}

export class Prediction {
  readonly aborted = new Set<number>()
  readonly #calls: readonly PlannedCallAt[]
  readonly #started = new Set<number>()
  readonly #over = new Set<number>()

  /** `isAborted`: one refused call of the batch is enough that nothing starts. */
  constructor(calls: readonly PlannedCallAt[], isAborted: boolean) {
    this.#calls = calls
    if (isAborted) this.abort()
    this.#step()
  }

  /** The calls that are under way now, all of them and no others. */
  inFlight(): number[] {
    return [...this.#started].filter((place) => !this.#over.has(place)).sort((one, other) => one - other)
  }

  end(place: number): void {
    this.#over.add(place)
    this.#step()
  }

  /** Nothing starts any more. */
  abort(): void {
    for (const [place, { isRefused }] of this.#calls.entries()) {
      if (!isRefused && !this.#started.has(place)) this.aborted.add(place)
    }
  }

  /** A call that does not run is over as soon as what it waits for is. In declared order one look is enough. */
  #step(): void {
    for (const [place, { waitsFor, isRefused }] of this.#calls.entries()) {
      if (this.#started.has(place) || this.#over.has(place)) continue
      if (!waitsFor.every((earlier) => this.#over.has(earlier))) continue
      if (isRefused || this.aborted.has(place)) this.#over.add(place)
      else this.#started.add(place)
    }
  }
}
