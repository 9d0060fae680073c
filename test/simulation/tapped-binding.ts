/**
 * The binding that the gateway of a simulated run is given: the simulated one, watched. It takes down what is written
 * and read, lets reads wait while the event loop stands still, and fails an operation where it is told to. What belongs
 * to a process that was killed never settles.
 */
import type { BindingInterface, BindingPortInterface, OpenOptions } from '../../src/port/binding-interface.ts'
import type { SimulatedBinding } from '../../src/simulator/binding.ts'
import type { LineKind } from './plan.ts'
import type { Recorder } from './recorder.ts'
import { requestOf } from './request.ts'
import type { SimulatedClock, View } from './simulated-clock.ts'

/** Fails the n-th operation of the run, or all from there on. */
export interface OperationFault {
  readonly index: number
  readonly persistent: boolean
}

export interface TappedParts {
  readonly binding: SimulatedBinding
  readonly clock: SimulatedClock
  readonly recorder: Recorder
  readonly kindOf: (port: string) => LineKind
  /** The device behind a port, by the unit of a bus. */
  readonly deviceAt: (port: string, unit: number) => string | undefined
}

/** What every life of the process has in common. */
export class Tap {
  readonly parts: TappedParts
  readonly #open = new Map<BindingPortInterface, string>()
  fault: OperationFault | undefined
  #operations = 0

  constructor(parts: TappedParts) {
    this.parts = parts
  }

  /** Operations of bindings so far. */
  get operations(): number {
    return this.#operations
  }

  get openPorts(): readonly string[] {
    return [...this.#open.values()]
  }

  /** The binding for one life of the process. */
  binding(view: View, life: number): BindingInterface & { kill(): void } {
    let isDead = false
    const alive = <T>(work: Promise<T>): Promise<T> =>
      work.then(
        (value) => (isDead ? never<T>() : value),
        (error: unknown) => (isDead ? never<T>() : Promise.reject(error)),
      )
    const { binding } = this.parts
    return {
      list: () => alive(binding.list()),
      open: (options: OpenOptions) =>
        isDead ? never<TappedPort>() : alive(this.#openPort(options, { view, life, alive })),
      kill: () => {
        isDead = true
        // The kernel closes what a process leaves behind; what it had taken over is still sent.
        for (const port of this.#open.keys()) void port.close()
        this.#open.clear()
      },
    }
  }

  /** Counts an operation, and says whether it fails. */
  strike(): boolean {
    const index = this.#operations
    this.#operations += 1
    const { fault } = this
    return fault !== undefined && (fault.persistent ? index >= fault.index : index === fault.index)
  }

  async #openPort(options: OpenOptions, life: Life): Promise<TappedPort> {
    const { recorder } = this.parts
    try {
      if (this.strike()) throw systemError('EIO', `Error: Input/output error, cannot open ${options.path}`)
      const inner = await this.parts.binding.open(options)
      recorder.opening(options.path, 'open')
      this.#open.set(inner, options.path)
      return new TappedPort(inner, options.path, this, life)
    } catch (error) {
      recorder.opening(options.path, 'open_failed')
      throw error
    }
  }

  closed(port: BindingPortInterface, path: string): void {
    if (this.#open.delete(port)) this.parts.recorder.opening(path, 'close')
  }
}

interface Life {
  readonly view: View
  readonly life: number
  readonly alive: <T>(work: Promise<T>) => Promise<T>
}

class TappedPort implements BindingPortInterface {
  readonly #inner: BindingPortInterface
  readonly #path: string
  readonly #tap: Tap
  readonly #life: Life

  constructor(inner: BindingPortInterface, path: string, tap: Tap, life: Life) {
    this.#inner = inner
    this.#path = path
    this.#tap = tap
    this.#life = life
  }

  get openOptions(): Required<OpenOptions> {
    return this.#inner.openOptions
  }

  get isOpen(): boolean {
    return this.#inner.isOpen
  }

  read(buffer: Buffer, offset: number, length: number): Promise<{ buffer: Buffer; bytesRead: number }> {
    return this.#life.alive(this.#read(buffer, offset, length))
  }

  write(buffer: Buffer): Promise<void> {
    return this.#life.alive(this.#write(buffer))
  }

  drain(): Promise<void> {
    return this.#operation('drain', () => this.#inner.drain())
  }

  flush(): Promise<void> {
    return this.#operation('flush', () => this.#inner.flush())
  }

  set(options: Parameters<BindingPortInterface['set']>[0]): Promise<void> {
    return this.#operation('set', () => this.#inner.set(options))
  }

  get(): ReturnType<BindingPortInterface['get']> {
    return this.#operation('get', () => this.#inner.get())
  }

  getBaudRate(): ReturnType<BindingPortInterface['getBaudRate']> {
    return this.#operation('getBaudRate', () => this.#inner.getBaudRate())
  }

  update(options: Parameters<BindingPortInterface['update']>[0]): Promise<void> {
    return this.#operation('update', () => this.#inner.update(options))
  }

  close(): Promise<void> {
    this.#tap.closed(this.#inner, this.#path)
    return this.#life.alive(this.#inner.close())
  }

  async #read(buffer: Buffer, offset: number, length: number) {
    const { clock, recorder } = this.#tap.parts
    const { view } = this.#life
    let result: { buffer: Buffer; bytesRead: number }
    try {
      if (this.#tap.strike()) throw systemError('EIO', 'input/output error')
      result = await this.#inner.read(buffer, offset, length)
    } catch (error) {
      await clock.input(view)
      throw error
    }
    await clock.input(view)
    recorder.read(this.#path, Uint8Array.from(buffer.subarray(offset, offset + result.bytesRead)))
    return result
  }

  async #write(buffer: Buffer): Promise<void> {
    const { kindOf, deviceAt, recorder } = this.#tap.parts
    const fails = this.#tap.strike()
    if (!fails) {
      const bytes = Uint8Array.from(buffer)
      const request = requestOf(kindOf(this.#path), bytes)
      const device = deviceAt(this.#path, request?.unit ?? 0)
      recorder.write({ port: this.#path, bytes, device, nonce: request?.nonce, life: this.#life.life })
    }
    if (fails) throw systemError('EIO', 'input/output error')
    await this.#inner.write(buffer)
  }

  async #operation<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (this.#tap.strike()) throw systemError('EIO', `input/output error at ${name}`)
    return this.#life.alive(work())
  }
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => {})
}
