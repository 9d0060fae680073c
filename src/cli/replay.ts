/** `baudway replay`: a recorded trace played against a device type. It needs no gateway and no device. */
import { Check } from 'typebox/value'
import type { DeviceType } from '../driver/device-type.ts'
import { type Replayed, replay as replayEntries } from '../driver/replay.ts'
import { parseYaml, readText } from './batch-file.ts'
import { CommandFault, DONE, defineCommand, WRONG_USAGE } from './command.ts'
import { findType, loadTypes, OWN_TYPES_OPTION } from './device-types.ts'
import { printableJson } from './printable.ts'
import { type PortRecording, readRecording } from './recording.ts'
import { replayLines, replayTotals, replayView } from './replay-text.ts'

export const replay = defineCommand({
  options: {
    type: { type: 'string', value: 'TYPE', help: 'the device type; see "baudway types"' },
    options: { type: 'string', value: 'KEYS', help: 'the keys of the type, in JSON or YAML' },
    port: { type: 'string', value: 'PORT', help: 'which port of a recording of several' },
    ...OWN_TYPES_OPTION,
    json: { type: 'boolean', help: 'print the frames and the counts as JSON' },
  },
  positionals: { min: 1, max: 1, names: ['FILE'] },
  notes: [
    'FILE is what "baudway monitor --record" wrote, or a trace as HTTP answers it.',
    '--options "address: 3" or \'{"address": 3}\'; default the sample of the type.',
    'A ? marks a reply whose request was not seen: it fits that tool.',
  ],
  run: async (values, [file = ''], terminal) => {
    if (values.type === undefined)
      throw new CommandFault(WRONG_USAGE, '--type is missing. See "baudway types".')
    const type = findType(await loadTypes(values.dir, terminal), values.type)
    const device = type.describe(optionsOf(type, values.options) as never)
    const recordings = readRecording(await readText(file, file, terminal), file)
    const { entries } = chosen(recordings, values.port)
    const replayed: readonly Replayed[] = replayEntries(device, entries)
    if (values.json) {
      terminal.print(printableJson(replayView(type.type, replayed)))
      return DONE
    }
    for (const line of replayLines(replayed, device, terminal)) terminal.print(line)
    terminal.print(replayTotals(replayed))
    return DONE
  },
})

function optionsOf(type: DeviceType, text: string | undefined): unknown {
  if (text === undefined) return type.sample
  const options = parseYaml(text, '--options') ?? {}
  const keys = Object.keys(type.options.properties).join(', ') || 'none'
  if (!Check(type.options, options)) {
    throw new CommandFault(WRONG_USAGE, `--options do not fit the type ${type.type}; its keys: ${keys}.`)
  }
  const faults = (type.faults?.(options as never) ?? []).filter(({ severity }) => severity !== 'warning')
  if (faults.length === 0) return options
  throw new CommandFault(WRONG_USAGE, ...faults.map(({ field, message }) => `--options ${field}: ${message}`))
}

function chosen(recordings: readonly PortRecording[], port: string | undefined): PortRecording {
  const found = port === undefined ? recordings : recordings.filter((one) => one.port === port)
  const [first] = found
  if (first && found.length === 1) return first
  const ids = recordings.map((one) => one.port ?? 'without a port').join(', ')
  if (recordings.length === 0) throw new CommandFault(WRONG_USAGE, 'There is nothing in the recording.')
  const what = port === undefined ? 'has several ports: choose one with --port' : `has no port ${port}`
  throw new CommandFault(WRONG_USAGE, `The recording ${what}. It has ${ids}.`)
}
