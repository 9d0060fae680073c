/**
 * A pair of pseudo-terminals joined by socat, each behind a link of a fixed name. Killing socat is pulling the
 * cable: both ends hang up and their nodes vanish.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface PtyPair {
  /** The end of the gateway. */
  readonly near: string
  /** The end of the device. */
  readonly far: string
  /** Pulls the cable at once. */
  unplug(): Promise<void>
  /** New pseudo-terminals behind the same links. */
  plug(): Promise<void>
  remove(): Promise<void>
}

export async function ptyPair(options: { plugged?: boolean } = {}): Promise<PtyPair> {
  const directory = await mkdtemp(join(tmpdir(), 'baudway-pty-'))
  const near = join(directory, 'near')
  const far = join(directory, 'far')
  let socat: ChildProcess | undefined
  const plug = async () => {
    socat = spawn('socat', [`pty,raw,echo=0,link=${near}`, `pty,raw,echo=0,link=${far}`], { stdio: 'ignore' })
    socat.on('error', (error) => {
      throw new Error(`socat is needed for this test: ${error.message}`)
    })
    while (!existsSync(near) || !existsSync(far)) await turn()
  }
  const unplug = async () => {
    const running = socat
    socat = undefined
    if (!running) return
    const ended = new Promise((resolve) => running.once('exit', resolve))
    running.kill('SIGKILL')
    await ended
    // A killed socat leaves its links behind, and they lead nowhere.
    await rm(near, { force: true })
    await rm(far, { force: true })
  }
  if (options.plugged !== false) await plug()
  return {
    near,
    far,
    plug,
    unplug,
    remove: async () => {
      await unplug()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5))
}
