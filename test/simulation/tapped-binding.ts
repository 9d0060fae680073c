/**
 * The binding that the gateway of a simulated run is given: the simulated one, watched. It takes down what is written
 * and read, lets reads wait while the event loop stands still, and fails an operation where the plan says so. What belongs
 * to a process that was killed never settles.
 */
import type { BindingInterface, BindingPortInterface, OpenOptions } from '../../src/port/binding-interface.ts'
import type { SimulatedBinding } from '../../src/simulator/binding.ts'
import type { LineKind, OperationFailure } from './plan.ts'
import type { Recorder } from './recorder.ts'
import { requestOf } from './request.ts'
import type { SimulatedClock, View } from './simulated-clock.ts'

export interface TappedParts {
  readonly binding: SimulatedBinding
  readonly clock: SimulatedClock
  readonly recorder: Recorder
  readonly kindOf: (port: string) => LineKind
  /** How the n-th operation of a port fails; undefined: it does not. */
  readonly failureOf: (port: string, index: number) => OperationFailure | undefined
  /** The device behind a port, by the unit of a bus. */
  readonly deviceAt: (port: string, unit: number) => string | undefined
}

interface Operation {
  readonly port: string
  readonly name: string
  /** Of the process that asked for it. */
  readonly isDead: () => boolean
}

/** What every life of the process has in common. */
export class Tap {
  readonly parts: TappedParts
  readonly #open = new Map<BindingPortInterface, string>()
  readonly #operations = new Map<string, string[]>()
  /** Ends the wait of those that hang. */
  #release: (() => void)[] = []
  #isHealed = false

  constructor(parts: TappedParts) {
    this.parts = parts
  }

  /** The names of the operations so far, by port. */
  get operations(): ReadonlyMap<string, readonly string[]> {
    return new Map([...this.#operations].map(([port, names]) => [port, [...names]]))
  }

  /** No operation fails any more, and those that hang go on. */
  heal(): void {
    this.#isHealed = true
    for (const release of this.#release.splice(0)) release()
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
        isDead
          ? never<TappedPort>()
          : alive(this.#openPort(options, { view, life, alive, isDead: () => isDead })),
      kill: () => {
        isDead = true
        // The kernel closes what a process leaves behind; what it had taken over is still sent.
        for (const port of this.#open.keys()) void port.close()
        this.#open.clear()
      },
    }
  }

  /** Counts an operation, and fails it where the plan says so. */
  async operate<T>({ port, name, isDead }: Operation, work: () => Promise<T>): Promise<T> {
    const names = this.#operations.get(port) ?? []
    this.#operations.set(port, names)
    const failure = this.#isHealed ? undefined : this.parts.failureOf(port, names.length)
    names.push(name)
    switch (failure) {
      case undefined:
        return work()
      case 'hangs':
      case 'never_ends':
        // What holds the descriptor has to let it go some time.
        if (failure === 'never_ends' && name !== 'read' && name !== 'close') return never<T>()
        await new Promise<void>((resolve) => this.#release.push(resolve))
        // What a process that is no more was about to do is not done.
        if (isDead()) return never<T>()
        // A driver that gave nothing of what came was lost: it does not give it later, as if it had just come.
        if (name === 'read') break
        return work()
      case 'rejects_after':
        // A library that fails to set up what it has opened closes it.
        if (name !== 'open') await work()
        break
      case 'rejects':
        if (name === 'close') await work()
    }
    throw systemError('EIO', `Error: Input/output error at ${name} of ${port}`)
  }

  async #openPort(options: OpenOptions, life: Life): Promise<TappedPort> {
    const { recorder } = this.parts
    try {
      const operation = { port: options.path, name: 'open', isDead: life.isDead }
      const inner = await this.operate(operation, () => this.parts.binding.open(options))
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
  readonly isDead: () => boolean
}

class TappedPort implements BindingPortInterface {
  readonly #inner: BindingPortInterface
  readonly #path: string
  readonly #tap: Tap
  readonly #life: Life
  #writing: Promise<void> = Promise.resolve()

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
    return this.#operation('drain', async () => {
      // As the real one does: also for a write that hangs.
      await this.#writing
      await this.#inner.drain()
    })
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
    return this.#operation('close', () => {
      this.#tap.closed(this.#inner, this.#path)
      return this.#inner.close()
    })
  }

  async #read(buffer: Buffer, offset: number, length: number) {
    const { clock, recorder } = this.#tap.parts
    const { view } = this.#life
    let result: { buffer: Buffer; bytesRead: number }
    try {
      result = await this.#operate('read', () => this.#inner.read(buffer, offset, length))
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
    const bytes = Uint8Array.from(buffer)
    const request = requestOf(kindOf(this.#path), bytes)
    const device = deviceAt(this.#path, request?.unit ?? 0)
    recorder.write({ port: this.#path, bytes, device, nonce: request?.nonce, life: this.#life.life })
    const written = this.#operate('write', () => this.#inner.write(buffer))
    this.#writing = written.catch(() => {})
    await written
  }

  #operation<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.#life.alive(this.#operate(name, work))
  }

  #operate<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.#tap.operate({ port: this.#path, name, isDead: this.#life.isDead }, work)
  }
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => {})
}
