/**
 * An answering device behind a port of `@serialport/binding-mock`, which by itself only echoes. It stays behind its
 * path however often the port is closed and opened, until it is closed itself.
 *
 * The package exists twice in a process, once for `import` and once for `require`, each with ports of its own: the
 * device is behind the path in both.
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { messageOf } from '../errors.ts'
import type { OpenOptions } from '../port/binding-interface.ts'

type MockModule = typeof import('@serialport/binding-mock', { with: { 'resolution-mode': 'require' }})
type MockPort = InstanceType<MockModule['MockPortBinding']>

/** Bytes, text in UTF-8, or nothing. */
export type MockAnswer = Uint8Array | readonly number[] | string | null | undefined

/**
 * Called with the bytes of each write; what it returns or promises is sent back as soon as it is there. Several
 * answers are sent in their order.
 */
export type MockResponder = (
  data: Buffer,
) => MockAnswer | readonly MockAnswer[] | Promise<MockAnswer | readonly MockAnswer[]>

export interface MockDevice {
  readonly path: string
  /** What was written to the device, oldest first: the last 1000 writes. */
  writes(): Buffer[]
  /** Sends unasked. Throws while the port is not open. */
  emit(answer: MockAnswer): void
  /** Ends the present opening of the port as a pulled plug does; the port can be opened again. */
  unplug(): void
  /** The port answers no more. */
  close(): void
}

const WRITES_MAX = 1_000

/**
 * Puts `responder` behind the mock port `path`, which is created unless it exists. A second device on the same
 * path takes the place of the first. A responder that fails ends the process, or the test, as an uncaught error.
 */
export function mockDevice(path: string, responder: MockResponder): MockDevice {
  const modules = hookedModules()
  devices.get(path)?.close()
  const device = new AnsweringDevice(path, responder)
  devices.set(path, device)
  for (const { MockBinding } of modules) void createIfMissing(MockBinding, path)
  return device
}

const devices = new Map<string, AnsweringDevice>()

class AnsweringDevice implements MockDevice {
  readonly path: string
  readonly #responder: MockResponder
  readonly #writes: Buffer[] = []
  #port: MockPort | undefined

  constructor(path: string, responder: MockResponder) {
    this.path = path
    this.#responder = responder
  }

  writes(): Buffer[] {
    return [...this.#writes]
  }

  emit(answer: MockAnswer): void {
    if (!this.#port?.isOpen) throw new Error(`mock device ${this.path}: the port is not open`)
    this.#send(answer)
  }

  unplug(): void {
    const port = this.#port
    this.#port = undefined
    if (port?.isOpen) disconnect(port, `mock device ${this.path} was unplugged`)
  }

  close(): void {
    if (devices.get(this.path) === this) devices.delete(this.path)
    this.#port = undefined
  }

  opened(port: MockPort): void {
    this.#port = port
  }

  written(port: MockPort, data: Buffer): void {
    this.#port = port
    this.#writes.push(data)
    if (this.#writes.length > WRITES_MAX) this.#writes.shift()
    void this.#respond(Buffer.from(data))
  }

  async #respond(data: Buffer): Promise<void> {
    try {
      this.#send(await this.#responder(data))
    } catch (thrown) {
      const text = `the responder failed on ${data.toString('hex') || 'nothing'}: ${messageOf(thrown)}`
      const error = new Error(`mock device ${this.path}: ${text}`, { cause: thrown })
      // Outside of every promise, so that nobody can overlook it.
      process.nextTick(() => {
        throw error
      })
    }
  }

  /** What is sent while no port is open is lost, as on a wire. */
  #send(answer: MockAnswer | readonly MockAnswer[]): void {
    for (const bytes of answerBytes(answer)) {
      if (this.#port?.isOpen) this.#port.emitData(bytes)
    }
  }
}

function answerBytes(answer: unknown): Buffer[] {
  if (answer === undefined || answer === null) return []
  if (typeof answer === 'string') return [Buffer.from(answer)]
  if (answer instanceof Uint8Array) return [Buffer.from(answer)]
  if (!Array.isArray(answer))
    throw new TypeError(`an answer is bytes, text or nothing, not a ${typeof answer}`)
  const values: readonly unknown[] = answer
  return values.length > 0 && values.every(isByte) ? [Buffer.from(values)] : values.flatMap(answerBytes)
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255
}

/** What the package keeps to itself: it has no way to pull a plug. */
interface MockPortInside {
  pendingRead: ((error?: Error) => void) | null
}

function disconnect(port: MockPort, reason: string): void {
  const gone = () => Promise.reject(new Error(reason))
  Object.assign(port, { read: gone, write: gone, drain: gone, flush: gone, set: gone, get: gone })
  const inside = port as unknown as MockPortInside
  const { pendingRead } = inside
  inside.pendingRead = null
  pendingRead?.(new Error(reason))
}

let creating: Promise<void> = Promise.resolve()

/** One after the other: a port that is created twice is two ports, and the first one is lost. */
function createIfMissing(binding: MockModule['MockBinding'], path: string): Promise<void> {
  creating = creating.then(async () => {
    const ports = await binding.list()
    if (!ports.some((port) => port.path === path)) binding.createPort(path)
  })
  return creating
}

let hooked: readonly MockModule[] | undefined

function hookedModules(): readonly MockModule[] {
  if (hooked) return hooked
  const require = createRequire(import.meta.url)
  const required: MockModule = require('@serialport/binding-mock')
  const file = join(dirname(require.resolve('@serialport/binding-mock')), 'index-esm.mjs')
  const imported: MockModule = require(file)
  hooked = required.MockBinding === imported.MockBinding ? [required] : [required, imported]
  for (const module of hooked) hook(module)
  return hooked
}

/** Every open and write passes by here; those of paths without a device are left as they are. */
function hook({ MockBinding, MockPortBinding }: MockModule): void {
  const open = MockBinding.open.bind(MockBinding)
  MockBinding.open = async (options: OpenOptions) => {
    if (devices.has(options?.path)) await createIfMissing(MockBinding, options.path)
    const port = await open(options)
    devices.get(options.path)?.opened(port)
    return port
  }
  const { write } = MockPortBinding.prototype
  MockPortBinding.prototype.write = async function (this: MockPort, buffer: Buffer) {
    await write.call(this, buffer)
    const data = Buffer.from(buffer)
    // A device hears of a write after its sender has finished it.
    process.nextTick(() => devices.get(this.openOptions.path)?.written(this, data))
  }
}
