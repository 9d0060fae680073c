/** `baudway release`: gives a port up for a while, so that another program can have it. */
import { parseDuration } from '../config/notation.ts'
import { RELEASE_MAX_MS } from '../limits.ts'
import type { PortView } from '../tool/home.ts'
import { CommandFault, DONE, defineCommand, WRONG_USAGE } from './command.ts'
import { findGateway, GATEWAY_OPTIONS } from './gateway-client.ts'
import { printable, printableJson } from './printable.ts'

export const release = defineCommand({
  options: {
    for: { type: 'string', value: 'TIME', help: 'for how long: 30s, 10m, 2h … at most 1d' },
    json: { type: 'boolean', help: 'print what HTTP answers' },
    ...GATEWAY_OPTIONS,
  },
  positionals: { min: 1, max: 1, names: ['PORT'] },
  notes: ['PORT is the id of a port of the running gateway (admin).', 'It is opened again by itself.'],
  run: async (values, [port = ''], terminal) => {
    const forMs = durationOf(values.for)
    const gateway = await findGateway(values, terminal)
    const path = `/v1/ports/${encodeURIComponent(port)}/release`
    const view = (await gateway.post(path, { forMs })) as PortView
    if (values.json) {
      terminal.print(printableJson(view))
      return DONE
    }
    terminal.print(printable(`${view.id} (${view.path}) is ${view.state} for ${values.for}`))
    terminal.print('Its devices are unavailable meanwhile; then the gateway opens it again.')
    return DONE
  },
})

function durationOf(text: string | undefined): number {
  if (text === undefined) throw new CommandFault(WRONG_USAGE, '--for is missing, such as --for 10m')
  const durationMs = parseDuration(text)
  if (durationMs !== undefined && durationMs <= RELEASE_MAX_MS) return durationMs
  throw new CommandFault(WRONG_USAGE, `--for: "${text}" is not a time such as 30s, 10m or 2h, at most 1d`)
}
