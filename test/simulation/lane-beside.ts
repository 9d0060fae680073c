/** Stands in a bundle where the scheduler asks for its lanes: the real ones, and the witness hears what they say. */
import { TaskLane as RealLane } from '../../src/scheduler/lane.ts'
import { witnessOf } from './admission-witness.ts'

export * from '../../src/scheduler/lane.ts'

export const TaskLane = new Proxy(RealLane, {
  construct: (Real, [options, host]: ConstructorParameters<typeof RealLane>) =>
    witnessOf(host).openLane(options, host, (overheard) => new Real(options, overheard)),
})
