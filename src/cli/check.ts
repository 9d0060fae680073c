/** `baudway check`: whether a configuration is valid, and every fault of one that is not. */
import { CommandFault, DONE, defineCommand, WRONG_USAGE } from './command.ts'
import {
  checkConfiguration,
  findConfigurationFile,
  readConfiguration,
  USUAL_FILES,
} from './configuration-file.ts'
import { printableJson } from './printable.ts'

export const check = defineCommand({
  options: {
    config: { type: 'string', value: 'FILE', help: 'default ./baudway.yaml, else that of /etc/baudway' },
    json: { type: 'boolean', help: 'print every fault and warning as HTTP answers them' },
  },
  positionals: { min: 0, max: 0, names: [] },
  notes: ['Each fault is a line FILE:LINE:COLUMN: message on stderr.', 'Warnings alone exit with 0.'],
  run: async (values, _positionals, terminal) => {
    const file = await findConfigurationFile(values.config, terminal.directory)
    if (file === undefined) {
      throw new CommandFault(WRONG_USAGE, `There is neither ${USUAL_FILES.join(' nor ')}.`)
    }
    if (values.json) {
      const report = await checkConfiguration(file, terminal)
      terminal.print(printableJson(report))
      return report.valid ? DONE : WRONG_USAGE
    }
    const { configuration } = await readConfiguration(file, terminal)
    const { ports, devices } = configuration
    terminal.print(
      `${file}: valid, ${counted(ports.length, 'port')} and ${counted(devices.length, 'device')}`,
    )
    return DONE
  },
})

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
