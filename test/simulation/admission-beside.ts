/**
 * Stands in a bundle where the scheduler asks for its admission: the real one, and whoever is admitted is told to the
 * witness.
 */
import { admit as decide } from '../../src/scheduler/admission.ts'
import type { Queue, Row } from '../../src/scheduler/queue.ts'
import { seeDecision } from './admission-witness.ts'

export * from '../../src/scheduler/admission.ts'

export function admit<R extends Row>(queue: Queue<R>, rows: readonly R[], nowMs: number): readonly R[] {
  const admitted = decide(queue, rows, nowMs)
  seeDecision(queue, rows, admitted, nowMs)
  return admitted
}
