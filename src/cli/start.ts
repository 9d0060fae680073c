/** `baudway start`: the gateway in the foreground, from its configuration to its end by a signal. */
import { resolve } from 'node:path'
import { systemClock } from '../clock.ts'
import type { Configuration } from '../config/configuration.ts'
import { validateConfiguration } from '../config/load.ts'
import { configurableTypes } from '../configurable-types.ts'
import { loadCatalogue } from '../driver/catalogue.ts'
import type { DeviceType } from '../driver/device-type.ts'
import { assert, messageOf } from '../errors.ts'
import { Gateway } from '../gateway.ts'
import { LOG_LEVELS, type Log } from '../log.ts'
import { demoConfiguration } from '../simulator/demo.ts'
import { ADMIN_TOKEN_FILE, adminToken } from '../store/admin-token.ts'
import { CommandFault, DONE, defineCommand, FAILED, WRONG_USAGE } from './command.ts'
import { findConfigurationFile, readConfiguration, USUAL_FILES } from './configuration-file.ts'
import { isAlive, readGatewayFile, removeGatewayFile, writeGatewayFile } from './gateway-file.ts'
import { demoStateDirectory, usualStateDirectory } from './state-directory.ts'
import { stopSignal } from './stop-signal.ts'
import type { LogWanted, Terminal } from './terminal.ts'

interface StartValues {
  readonly config?: string
  readonly demo?: boolean
  readonly host?: string
  readonly port?: string
  readonly 'state-dir'?: string
  readonly log?: string
  readonly 'log-level'?: string
}

export const start = defineCommand({
  options: {
    config: { type: 'string', value: 'FILE', help: 'default ./baudway.yaml, else that of /etc/baudway' },
    demo: { type: 'boolean', help: 'simulated devices only' },
    host: { type: 'string', value: 'HOST', help: 'the address to listen on' },
    port: { type: 'string', value: 'PORT', help: 'the TCP port to listen on; 0 takes a free one' },
    'state-dir': { type: 'string', value: 'DIR', help: 'default $STATE_DIRECTORY, else ./.baudway' },
    log: { type: 'string', value: 'FORMAT', help: 'text or json; default text for people, else json' },
    'log-level': { type: 'string', value: 'LEVEL', help: 'debug, info (the default), warn or error' },
  },
  positionals: { min: 0, max: 0, names: [] },
  notes: [
    'Once it serves, it prints a line "baudway listening on http://HOST:PORT".',
    'Where there is no configuration, it is a demo of simulated devices.',
  ],
  run: async (values, _positionals, terminal) => {
    const port = portOf(values.port)
    if (values.host === '') throw new CommandFault(WRONG_USAGE, '--host: the address is missing')
    const log = logOf(values)
    const read = await configurationOf(values, terminal)
    const stateDir = stateDirOf(values, read, terminal)
    const given = read.configuration.http
    const http = {
      ...given,
      // An IPv6 address may come in the brackets of a URL.
      host: (values.host ?? given.host).replace(/^\[(.*)\]$/, '$1'),
      port: port ?? given.port,
    }
    await prepareState(stateDir)
    await refuseSecond(stateDir)
    if (values.host !== undefined && !LOOPBACK.test(http.host)) {
      terminal.complain(
        `warning: ${http.host} is reachable from the network, and tokens cross it in the clear`,
      )
    }
    return serve({ ...read, stateDir, http }, terminal, log)
  },
})

interface Read {
  readonly configuration: Configuration
  readonly types: ReadonlyMap<string, DeviceType>
  /** Undefined: the demo. */
  readonly path: string | undefined
}

async function configurationOf(values: StartValues, terminal: Terminal): Promise<Read> {
  const { config, demo = false } = values
  if (demo && config !== undefined) {
    throw new CommandFault(WRONG_USAGE, '--demo and --config exclude each other')
  }
  const file = demo ? undefined : await findConfigurationFile(config, terminal.directory)
  if (file !== undefined) {
    return readConfiguration(file, terminal)
  }
  announceDemo(demo, terminal)
  const types = await loadCatalogue()
  const { configuration, faults } = validateConfiguration(demoConfiguration(), configurableTypes(types))
  assert(configuration, `the demo is not valid: ${JSON.stringify(faults)}`)
  return { configuration, types, path: undefined }
}

function announceDemo(wanted: boolean, terminal: Terminal): void {
  const why = wanted ? [] : [`There is neither ${USUAL_FILES.join(' nor ')}, so this is the demo.`]
  const lines = [
    '*** DEMO *** DEMO *** DEMO *** DEMO *** DEMO *** DEMO *** DEMO ***',
    ...why,
    'Every device is simulated. Nothing that you see or switch is real.',
    'Real devices need a configuration: baudway start --config FILE',
    '******************************************************************',
  ]
  for (const line of lines) terminal.complain(line)
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port >= 0 && port <= 65_535) return port
  throw new CommandFault(WRONG_USAGE, `--port: "${text}" is not a number from 0 to 65535`)
}

function logOf({ log: format, 'log-level': level }: StartValues): LogWanted {
  if (format !== undefined && format !== 'text' && format !== 'json') {
    throw new CommandFault(WRONG_USAGE, `--log: "${format}" is neither text nor json`)
  }
  const known = LOG_LEVELS.find((name) => name === level)
  if (level !== undefined && known === undefined) {
    throw new CommandFault(WRONG_USAGE, `--log-level: "${level}" is none of ${LOG_LEVELS.join(', ')}`)
  }
  return { ...(format && { format }), ...(known && { level: known }) }
}

function stateDirOf(values: StartValues, { configuration, path }: Read, terminal: Terminal): string {
  const given = values['state-dir'] ?? configuration.stateDir
  if (given !== undefined) return resolve(terminal.directory, given)
  return path === undefined ? demoStateDirectory(terminal) : usualStateDirectory(terminal)
}

/** Makes the directory and its token before anything is opened, so that a fault of it is said as such. */
async function prepareState(stateDir: string): Promise<void> {
  try {
    await adminToken(systemClock, stateDir)
  } catch (error) {
    throw new CommandFault(FAILED, `The state directory ${stateDir} cannot be used: ${messageOf(error)}`)
  }
}

const LOOPBACK = /^(localhost|127(\.[0-9]{1,3}){3}|::1)$/

/** Two gateways on one state directory would take each other's token and place. */
async function refuseSecond(stateDir: string): Promise<void> {
  const other = await readGatewayFile(stateDir)
  if (!other || other.pid === process.pid || !isAlive(other)) return
  throw new CommandFault(
    FAILED,
    `Another gateway (process ${other.pid}) uses the state directory ${stateDir}.`,
    'Stop that one, or choose another directory with --state-dir.',
  )
}

interface Wanted extends Read {
  readonly stateDir: string
  readonly http: Configuration['http']
}

async function serve(wanted: Wanted, terminal: Terminal, log: LogWanted): Promise<number> {
  const { configuration: written, types, path, http, stateDir } = wanted
  const configuration = { ...written, http, stateDir }
  const lines = terminal.createLog(log)
  let gateway: Gateway | undefined
  const stop = stopSignal(terminal, systemClock, () => void reload(gateway, lines))
  try {
    const file = path === undefined ? undefined : { path, configuration: written }
    gateway = await Gateway.create({ configuration, file, types, log: lines, clock: systemClock })
    try {
      await announce(gateway, configuration, terminal)
      lines.info({ signal: await stop.signal }, 'stopping')
      await removeGatewayFile(stateDir, process.pid)
    } finally {
      await gateway.close()
    }
  } finally {
    stop.forget()
  }
  return DONE
}

/** What SIGHUP asks for. An invalid file changes nothing, and the log says why. */
async function reload(gateway: Gateway | undefined, log: Log): Promise<void> {
  try {
    const report = await gateway?.home.reload()
    if (!report) {
      log.warn({}, 'there is no configuration file to reload')
      return
    }
    const faults = report.faults.map(
      ({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`,
    )
    if (!report.applied) log.error({ faults }, 'the configuration is not valid; nothing was changed')
    else log.info({ ...report.devices, needsRestart: report.needsRestart }, 'the configuration was reloaded')
  } catch (error) {
    log.error({ error: messageOf(error) }, 'the configuration cannot be reloaded')
  }
}

/** Serves, and says where. */
async function announce(
  gateway: Gateway,
  { stateDir, http }: Configuration & { readonly stateDir: string },
  terminal: Terminal,
): Promise<void> {
  // A second gateway fails here, before it has touched a line of the first.
  const url = await listen(gateway, http)
  gateway.open()
  await writeGatewayFile(stateDir, { url, pid: process.pid })
  terminal.complain(`The admin token is in ${resolve(stateDir, ADMIN_TOKEN_FILE)}`)
  terminal.print(`baudway listening on ${url}`)
}

async function listen(gateway: Gateway, { host, port }: Configuration['http']): Promise<string> {
  try {
    return await gateway.listen()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const sentence = LISTEN_FAULTS[code ?? '']
    if (sentence === undefined) throw error
    throw new CommandFault(FAILED, sentence(host, port))
  }
}

const LISTEN_FAULTS: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) =>
    `Port ${port} of ${host} is in use by another process. Stop that one, or choose another with --port.`,
  EADDRNOTAVAIL: (host) => `${host} is no address of this machine. Choose another with --host.`,
  ENOTFOUND: (host) => `There is no host ${host}. Choose another with --host.`,
  EACCES: (host, port) =>
    `This user may not listen on port ${port} of ${host}. Choose one above 1023 with --port.`,
}
