/** The arguments of the simulator's command, and what is wrong with them. */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

export const USAGE = `Runs the real gateway in a simulated home, and judges what came of it.

  npm run simulate -- --seeds N [--from S]   N seeds from S on (default 1)
  npm run simulate -- --minutes M [--from S] seeds for so long
  npm run simulate -- --seed S               one seed
  npm run simulate -- --plan FILE            a plan that was written to a file
  npm run simulate -- --sweep                fails each operation of each scenario, once and from then on
  npm run simulate -- --sweep --scenario S   of one scenario
  npm run simulate -- --twice N [--from S]   N seeds, twice in each of two processes: the event logs are the same
  npm run simulate -- --home [--hours H]     20 devices on 4 lines, polled every 10 s: how fast it is simulated
  npm run soak:simulate [-- --minutes M]     200 seeds twice, the sweep, and fresh seeds for M minutes (default 60)

  --shrink     makes the plan of the first failure smaller, and writes it to a file
  --jobs J     processes (default: one for each processor)
  --help       says this

Exit code: 0 if nothing was violated, 1 if something was, 2 for wrong arguments.`

const OPTIONS = {
  seeds: { type: 'string' },
  from: { type: 'string' },
  minutes: { type: 'string' },
  seed: { type: 'string' },
  plan: { type: 'string' },
  sweep: { type: 'boolean', default: false },
  scenario: { type: 'string' },
  twice: { type: 'string' },
  home: { type: 'boolean', default: false },
  hours: { type: 'string' },
  soak: { type: 'boolean', default: false },
  shrink: { type: 'boolean', default: false },
  jobs: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

export class ArgumentError extends Error {}

export type Mode = 'seeds' | 'minutes' | 'seed' | 'plan' | 'sweep' | 'twice' | 'home' | 'soak' | 'help'

export interface Arguments {
  readonly mode: Mode
  readonly seeds: number
  readonly from: number
  readonly minutes: number
  readonly seed: string
  readonly plan: string
  readonly scenario: string | undefined
  readonly hours: number
  readonly shrink: boolean
  readonly jobs: number
}

/** Throws an `ArgumentError` that says what to change. */
export function parseArguments(args: readonly string[], environment: NodeJS.ProcessEnv): Arguments {
  const values = parsed(args)
  const mode = modeOf(values)
  const soakMinutes = values.minutes ?? environment.SOAK_MINUTES
  return {
    mode,
    seeds: whole('seeds', values.twice ?? values.seeds, 1),
    // A soak looks at other seeds each time; it prints them.
    from: whole('from', values.from, mode === 'soak' ? Math.floor(Date.now() / 1_000) : 1),
    minutes: positive('minutes', mode === 'soak' ? soakMinutes : values.minutes, 60),
    seed: values.seed ?? '1',
    plan: values.plan ?? '',
    scenario: values.scenario,
    hours: positive('hours', values.hours, 8),
    shrink: values.shrink,
    jobs: whole('jobs', values.jobs, availableParallelism()),
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true }).values
  } catch (error) {
    throw new ArgumentError(error instanceof Error ? error.message : String(error))
  }
}

function modeOf(values: ReturnType<typeof parsed>): Mode {
  if (values.help) return 'help'
  if (values.soak) return 'soak'
  const chosen = (['seed', 'plan', 'sweep', 'twice', 'home', 'seeds', 'minutes'] as const).filter(
    (mode) => values[mode] !== undefined && values[mode] !== false,
  )
  const [mode] = chosen
  if (!mode) throw new ArgumentError('what is to be simulated? for example: --seeds 1000')
  if (chosen.length > 1)
    throw new ArgumentError(`${chosen.map((name) => `--${name}`).join(' and ')} exclude each other`)
  if (values.scenario !== undefined && mode !== 'sweep')
    throw new ArgumentError('--scenario belongs to --sweep')
  if (values.hours !== undefined && mode !== 'home') throw new ArgumentError('--hours belongs to --home')
  return mode
}

function whole(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text)
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new ArgumentError(`--${name} is a whole number from 1 on, not ${JSON.stringify(text)}`)
}

function positive(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text)
  if (Number.isFinite(value) && value > 0) return value
  throw new ArgumentError(`--${name} is a number above 0, not ${JSON.stringify(text)}`)
}
