/** A process that does not outlive this one, however this one ends: the kernel kills it with its parent. */
import { type ChildProcess, spawn } from 'node:child_process'

export interface OwnedProcess {
  readonly pid: number
  readonly stderr: () => string
  hasEnded(): boolean
  /** Resolves with the part of stdout that matches; rejects when the process ends before. */
  says(pattern: RegExp): Promise<RegExpExecArray>
  /** Sends the signal and waits for the end; the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

const KEPT_CHARACTERS = 20_000

export function startOwned(command: string, args: readonly string[], directory: string): OwnedProcess {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', command, ...args], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout = (stdout + chunk.toString()).slice(-KEPT_CHARACTERS)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-KEPT_CHARACTERS)
  })
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      stderr += error.message
      resolve()
    })
    child.once('close', () => resolve())
  })
  return {
    pid: child.pid ?? 0,
    stderr: () => stderr,
    hasEnded: () => !isRunning(child),
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(stdout)
          if (found) resolve(found)
        }
        child.stdout.on('data', look)
        look()
        void ended.then(() => reject(new Error(`${command} ${args[0]} ended: ${stdout}${stderr}`)))
      }),
    end: async (signal) => {
      if (isRunning(child)) child.kill(signal)
      await ended
      return child.exitCode
    },
  }
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null
}
