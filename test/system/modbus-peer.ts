/** pymodbus's own server at the far end of a pseudo-terminal. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { type PtyPair, ptyPair } from '../pty/pty-pair.ts'

/** The Python that Debian's packages belong to. */
const PYTHON = '/usr/bin/python3'

export interface ModbusPeer {
  readonly pair: PtyPair
  /** Starts the server anew, after the cable was plugged in again. */
  serve(): Promise<void>
  remove(): Promise<void>
}

export async function modbusPeer(): Promise<ModbusPeer> {
  const pair = await ptyPair()
  let server: ChildProcess | undefined
  const serve = async () => {
    server?.kill('SIGKILL')
    const script = join(import.meta.dirname, 'modbus-server.py')
    const started = spawn(PYTHON, [script, pair.far], { stdio: ['ignore', 'pipe', 'ignore'] })
    server = started
    await new Promise<void>((resolve, reject) => {
      started.stdout.once('data', () => resolve())
      started.once('error', reject)
      started.once('exit', (code) => reject(new Error(`the pymodbus server ended with ${code}`)))
    })
  }
  await serve()
  return {
    pair,
    serve,
    remove: async () => {
      server?.removeAllListeners('exit')
      server?.kill('SIGKILL')
      await pair.remove()
    },
  }
}
