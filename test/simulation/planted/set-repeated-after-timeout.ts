import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'set-repeated-after-timeout',
  breaks: 'A setting that nobody acknowledged in time is sent again, because a setting may be.',
  invariant: 'at-most-once',
  from: 9,
  changes: [
    {
      file: 'src/driver/session.ts',
      find: 'const verdict = await this.#transactOnce(exchange)',
      replace: `const verdict = await this.#transactOnce(exchange).catch((error: unknown) => {
        const isAgain = this.#effect === 'set' && error instanceof GatewayError && error.code === 'timeout'
        if (!isAgain) throw error
        return this.#transactOnce(exchange)
      })`,
    },
  ],
}

export default bug
