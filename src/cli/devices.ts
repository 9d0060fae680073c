/** `baudway devices`: what is connected, how it is, and what it last said. */
import type { Availability, DeviceStatus, ReadingStatus } from '../driver/device-status.ts'
import { DONE, defineCommand } from './command.ts'
import { findGateway, GATEWAY_OPTIONS, listOf } from './gateway-client.ts'
import { printableJson } from './printable.ts'
import { valueText } from './result-text.ts'
import { table } from './table.ts'
import type { Colour } from './terminal.ts'

export const devices = defineCommand({
  options: { json: { type: 'boolean', help: 'print what HTTP answers' }, ...GATEWAY_OPTIONS },
  positionals: { min: 0, max: 0, names: [] },
  run: async (values, _positionals, terminal) => {
    const gateway = await findGateway(values, terminal)
    const body = await gateway.get('/v1/devices')
    if (values.json) {
      terminal.print(printableJson(body))
      return DONE
    }
    const list = listOf<DeviceStatus>(body, 'devices', gateway.url)
    if (list.length === 0) terminal.complain('The gateway has no devices.')
    else for (const line of table(COLUMNS, list.map(row), terminal)) terminal.print(line)
    return DONE
  },
})

const COLUMNS = [
  { title: 'DEVICE' },
  { title: 'TYPE' },
  { title: 'PORT' },
  { title: 'STATE' },
  { title: 'READINGS', cut: true },
]

const COLOURS: Readonly<Record<Availability, Colour>> = {
  online: 'green',
  degraded: 'yellow',
  offline: 'red',
  wrong_device: 'red',
  unknown: 'dim',
}

function row(device: DeviceStatus) {
  const state = { text: device.availability, colour: COLOURS[device.availability] }
  const readings = Object.entries(device.readings).map(([name, reading]) => readingText(name, reading))
  // Why a device is not there says more than what it last said.
  const said = device.reason === null ? readings : [device.reason, ...readings]
  return [device.id, device.type, device.port, state, said.join(', ')]
}

function readingText(name: string, { value, unit, stale }: ReadingStatus): string {
  return `${name} ${valueText(value)}${unit === null ? '' : ` ${unit}`}${stale ? ' (stale)' : ''}`
}
