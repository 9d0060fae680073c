import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'asks-again-after-bad-reply',
  breaks: 'A reply that was spoiled on its way is asked for once more, whatever the request does.',
  invariant: 'at-most-once',
  from: 7,
  changes: [
    {
      file: 'src/driver/driver.ts',
      find: '      match = await line.transact(this.#request(spec, exchange))',
      replace: `      match = await line.transact(this.#request(spec, exchange)).catch((error: unknown) => {
        if (!(error instanceof GatewayError) || error.code !== 'bad_reply') throw error
        return line.transact(this.#request(spec, exchange))
      })`,
    },
  ],
}

export default bug
