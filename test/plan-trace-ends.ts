/**
 * The far ends of a gateway: devices on the serial library's mock binding, and the code of tools without a device.
 * Nothing is answered before the test says so, and what is said of order and overlap comes from here.
 */
import { crc16modbus } from 'crc'
import { createGateway, type Gateway, type MockDevice, mockDevice } from '../src/index.ts'
import { MockBinding } from './mock-binding.ts'
import { CONFIG, ownTools, PATHS } from './plan-trace-kinds.ts'
import { settle, VirtualClock } from './virtual-clock.ts'

/** A request that has been seen and not been answered. Calls are known by their place in the batch, their tag. */
interface Open {
  /** Answers it, with a refusal if it `fails`. True: nothing more is asked for this call. */
  readonly answer: (fails: boolean) => boolean
}

/** What a call did at its far end, in the order of everything seen. */
export interface Visit {
  readonly beganAt: number
  endedAt: number
  /** What the far end answered, for a read or a tool of its own. */
  answer: number | undefined
  requests: number
}

type Answer = (fails: boolean) => Buffer

export class FarEnds {
  readonly clock = new VirtualClock({ seed: 7 })
  /** What no device should see: a request during another one, or one that nobody can have sent. */
  readonly faults: string[] = []
  readonly visits = new Map<number, Visit>()
  readonly #open = new Map<number, Open>()
  readonly #devices: MockDevice[] = []
  #sequence = 0
  #answers = 1_000

  private constructor() {
    this.#devices.push(
      this.#device(PATHS.a, textRequest),
      this.#device(PATHS.b, textRequest),
      this.#device(PATHS.c, textRequest),
      this.#device(PATHS.bus, busRequest),
    )
  }

  static async create(): Promise<{ ends: FarEnds; gateway: Gateway }> {
    const ends = new FarEnds()
    const { clock } = ends
    const tools = ownTools((tag) => ends.#ownRun(tag))
    const gateway = await createGateway({ config: CONFIG, binding: MockBinding, clock, tools })
    await ends.#passUntil(() => gateway.ports().every(({ state }) => state === 'open'), 1)
    return { ends, gateway }
  }

  /** The calls that are under way. */
  inFlight(): number[] {
    return [...this.#open.keys()].sort((one, other) => one - other)
  }

  /** Answers the open request of the call. True: the call asks nothing more. */
  answer(tag: number, fails: boolean): boolean {
    const open = this.#open.get(tag)
    if (!open) throw new Error(`call ${tag} has no open request`)
    this.#open.delete(tag)
    return open.answer(fails)
  }

  forget(): void {
    this.visits.clear()
  }

  /** Lets time pass until these calls are under way, for a bounded time, and then some more in which others may come. */
  async settle(expected: readonly number[]): Promise<void> {
    const isThere = () => String(this.inFlight()) === String(expected)
    for (let turn = 0; turn < 40 && !isThere(); turn += 1) await this.#pass(5)
    await this.#pass(20)
  }

  async close(gateway: Gateway): Promise<void> {
    let isClosed = false
    const closing = gateway.close().finally(() => {
      isClosed = true
    })
    await this.#passUntil(() => isClosed, 100)
    await closing
    for (const device of this.#devices) device.close()
  }

  async #passUntil(isSo: () => boolean, stepMs: number): Promise<void> {
    for (let turn = 0; !isSo(); turn += 1) {
      if (turn === 1_000) throw new Error(`not so after ${turn * stepMs} ms`)
      await this.#pass(stepMs)
    }
  }

  /** Some turns of the event loop more than the timers need: a write and a read have several. */
  async #pass(ms: number): Promise<void> {
    await this.clock.advance(ms)
    await settle()
    await settle()
  }

  #begin(tag: number, answer: Open['answer']): void {
    if (this.#open.has(tag)) this.faults.push(`call ${tag} asks twice at once`)
    this.#sequence += 1
    const visit = this.visits.get(tag)
    if (visit) visit.requests += 1
    else {
      const beganAt = this.#sequence
      this.visits.set(tag, { beganAt, endedAt: Number.POSITIVE_INFINITY, answer: undefined, requests: 1 })
    }
    this.#open.set(tag, { answer })
  }

  #end(tag: number, answer: number | undefined): void {
    this.#sequence += 1
    const visit = this.visits.get(tag)
    if (!visit) throw new Error(`call ${tag} never began`)
    visit.endedAt = this.#sequence
    visit.answer ??= answer
  }

  #ownRun(tag: number): Promise<number> {
    return new Promise((resolve) => {
      this.#begin(tag, () => {
        const answer = this.#nextAnswer()
        this.#end(tag, answer)
        resolve(answer)
        return true
      })
    })
  }

  #nextAnswer(): number {
    this.#answers = (this.#answers + 1) % 60_000
    return this.#answers
  }

  #device(path: string, read: typeof textRequest): MockDevice {
    /** The call whose request is being answered. */
    let answering: number | undefined
    /** The call that has set what it will read back. */
    let proving: number | undefined
    return mockDevice(path, (data) => {
      const number = this.#nextAnswer()
      const request = read(data, proving, number)
      const text = `${path}: ${data.toString('hex')}`
      if (answering !== undefined) this.faults.push(`${text} during call ${answering}`)
      if (!request) {
        this.faults.push(`${text}: nobody can have sent that`)
        return null
      }
      const { tag, isFirstOfTwo, answer, shows } = request
      if (proving !== undefined && proving !== tag)
        this.faults.push(`${text} before call ${proving} was read back`)
      answering = tag
      return new Promise<Buffer>((resolve) => {
        this.#begin(tag, (fails) => {
          answering = undefined
          proving = isFirstOfTwo && !fails ? tag : undefined
          if (proving === undefined) this.#end(tag, shows ? number : undefined)
          else this.#sequence += 1
          resolve(answer(fails))
          return proving === undefined
        })
      })
    })
  }
}

interface SeenRequest {
  readonly tag: number
  readonly isFirstOfTwo: boolean
  readonly answer: Answer
  /** The answer has the number in it, and the call's value is that number. */
  readonly shows: boolean
}

function textRequest(data: Buffer, proving: number | undefined, number: number): SeenRequest | undefined {
  const text = data.toString('latin1')
  const readBack = /^([PQR])L\r$/.exec(text)
  if (readBack && proving !== undefined) {
    const answer = () => Buffer.from(`${readBack[1]}L=${proving}\r`)
    return { tag: proving, isFirstOfTwo: false, answer, shows: false }
  }
  const command = /^([PQR][A-J])([0-9]+)\r$/.exec(text)
  if (!command) return undefined
  const [, start = '', digits = ''] = command
  const isFirstOfTwo = start.endsWith('G')
  return {
    tag: Number(digits),
    isFirstOfTwo,
    answer: (fails) => Buffer.from(fails ? `${start}ERR4\r` : `${start}${digits}=${number}\r`),
    shows: !isFirstOfTwo,
  }
}

/** Functions 03, 05 and 06 of the Modbus application protocol; exception 02 proves that nothing was done. */
function busRequest(data: Buffer, _: number | undefined, number: number): SeenRequest | undefined {
  const body = data.subarray(0, -2)
  const [unit = 0, code = 0] = body
  if (data.length !== 8 || data.readUInt16LE(6) !== crc16modbus(body)) return undefined
  if (![1, 2].includes(unit) || ![3, 5, 6].includes(code)) return undefined
  const shows = code === 3
  const good = shows ? Buffer.from([unit, code, 2, number >> 8, number & 0xff]) : body
  return {
    tag: data.readUInt16BE(2),
    isFirstOfTwo: false,
    answer: (fails) => withChecksum(fails ? Buffer.from([unit, code | 0x80, 2]) : good),
    shows,
  }
}

function withChecksum(body: Buffer): Buffer {
  const checksum = Buffer.alloc(2)
  checksum.writeUInt16LE(crc16modbus(body))
  return Buffer.concat([body, checksum])
}
