import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'run-repeated-after-loss',
  breaks: 'A run whose port went away is run again when the port is back.',
  invariant: 'at-most-once',
  from: 21,
  changes: [
    {
      file: 'src/driver/driver.ts',
      find: 'run: (run) => this.#run(spec, exchange, args, run),',
      replace: `run: async (run) => {
        try {
          return await this.#run(spec, exchange, args, run)
        } catch (error) {
          if (!(error instanceof GatewayError) || error.code !== 'port_lost') throw error
          await pause(this.#parts.clock, 500, run.signal)
          return await this.#run(spec, exchange, args, run)
        }
      },`,
    },
    {
      file: 'src/driver/driver.ts',
      find: 'import { type Clock, isoTime } from',
      replace: 'import { type Clock, isoTime, pause } from',
    },
  ],
}

export default bug
