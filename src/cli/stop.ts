/** `baudway stop`: the emergency stop, and its release. */
import type { StopStatus } from '../tool/shapes.ts'
import { DONE, defineCommand, FAILED } from './command.ts'
import { findGateway, GATEWAY_OPTIONS } from './gateway-client.ts'
import { printable, printableJson } from './printable.ts'
import { coloured } from './terminal.ts'

export const stop = defineCommand({
  options: {
    clear: { type: 'boolean', help: 'release the emergency stop (admin)' },
    json: { type: 'boolean', help: 'print what HTTP answers' },
    ...GATEWAY_OPTIONS,
  },
  positionals: { min: 0, max: 0, names: [] },
  notes: [
    'Ends what runs, refuses what waits, and sends the stop commands of devices.',
    'From then on nothing is switched until it is released; readings go on.',
  ],
  run: async (values, _positionals, terminal) => {
    const gateway = await findGateway(values, terminal)
    const answer = values.clear ? gateway.delete('/v1/stop') : gateway.post('/v1/stop')
    const status = (await answer) as StopStatus
    const failed = status.commands.filter((result) => result.status === 'error')
    if (values.json) {
      terminal.print(printableJson(status))
    } else if (status.stopped) {
      const by = status.by === null ? '' : ` by ${printable(status.by)}`
      terminal.print(coloured(terminal, 'red', `STOPPED since ${status.since ?? 'now'}${by}`))
      for (const { name, status: said, outcome, error } of status.commands) {
        const what = error ? `: ${error.code}: ${error.message}` : ''
        terminal.print(printable(`  ${name}  ${said}, ${outcome.replace('_', ' ')}${what}`))
      }
      if (failed.length > 0) terminal.complain('Not every stop command was done: look at the devices.')
      terminal.print('Nothing is switched until "baudway stop --clear".')
    } else {
      terminal.print('The emergency stop is released: devices may be switched again.')
    }
    return failed.length > 0 && !values.clear ? FAILED : DONE
  },
})
