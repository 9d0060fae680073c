/** A directory to work in, and a gateway behind HTTP that only remembers what it was asked. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { silentLog } from '../../src/log.ts'
import type { Home } from '../../src/tool/home.ts'
import type { ToolView } from '../../src/tool/shapes.ts'
import { createHttpServer } from '../../src/transport/http/server.ts'
import { type FakeHome, fakeHome, READ_CO2, READ_TOKEN } from '../transport/fake-home.ts'
import { VirtualClock } from '../virtual-clock.ts'
import { type FakeTerminal, fakeTerminal } from './fake-terminal.ts'

export const SET_RELAY: ToolView = {
  ...READ_CO2,
  name: 'relays__set_relay',
  title: 'Set relay',
  effect: 'set',
  declared: 'undeclared',
  dangerous: true,
  available: false,
  parameters: {
    type: 'object',
    properties: { channel: { type: 'integer' }, on: { type: 'boolean' } },
    required: ['channel', 'on'],
    additionalProperties: false,
  },
}

export interface Served {
  readonly home: FakeHome
  readonly url: string
  /** Its environment names the gateway. */
  readonly terminal: FakeTerminal
}

export interface Workplace {
  readonly directory: string
  serve(parts?: Partial<Home>): Promise<Served>
  /** Ends every connection to the gateway. */
  disconnect(): void
  remove(): Promise<void>
}

export async function makeWorkplace(): Promise<Workplace> {
  const directory = await mkdtemp(join(tmpdir(), 'baudway-cli-'))
  let app: FastifyInstance | undefined
  return {
    directory,
    async serve(parts = {}) {
      const home = fakeHome({ tools: () => [READ_CO2, SET_RELAY], ...parts })
      app = createHttpServer({
        home,
        clock: new VirtualClock(),
        log: silentLog,
        allowedHosts: [],
        allowedOrigins: [],
        bound: () => undefined,
      })
      const url = await app.listen({ port: 0, host: '127.0.0.1' })
      const environment = { BAUDWAY_URL: url, BAUDWAY_TOKEN: READ_TOKEN }
      return { home, url, terminal: fakeTerminal({ environment, directory }) }
    },
    disconnect: () => app?.server.closeAllConnections(),
    async remove() {
      await app?.close()
      await rm(directory, { recursive: true })
    },
  }
}
