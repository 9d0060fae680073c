/**
 * At every moment those start, and in that order, that the admission model says, and nobody waits who may start. Of a
 * run that the model did not watch this says nothing.
 */
import type { Invariant } from '../history.ts'

const name = 'admission'

export const admission: Invariant = {
  name,
  check: ({ objections }) => objections.map((message) => ({ invariant: name, message })),
}
