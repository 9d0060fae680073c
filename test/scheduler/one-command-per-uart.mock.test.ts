/**
 * Never two commands on one UART: the proof on the serial library's mock binding. The truth is what the devices
 * themselves saw: whether a command came while they had not answered the one before.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createGateway, type Gateway, type MockDevice, mockDevice, type Policy } from '../../src/index.ts'
import { MockBinding } from '../mock-binding.ts'

/** A device of text commands that remembers what it was asked, and notices what it is asked too early. */
class Uart {
  readonly asked: string[] = []
  readonly interrupted: string[] = []
  readonly #device: MockDevice
  #answering: string | undefined

  constructor(path: string, busy: BusyCount) {
    this.#device = mockDevice(path, async (data) => {
      const command = data.toString('latin1').trim()
      if (this.#answering !== undefined) this.interrupted.push(`${command} during ${this.#answering}`)
      this.#answering = command
      this.asked.push(command)
      busy.begin()
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      busy.end()
      this.#answering = undefined
      return `${command}=1\r`
    })
  }

  close(): void {
    this.#device.close()
  }
}

/** How many devices answer at the same time. */
class BusyCount {
  most = 0
  #now = 0

  begin(): void {
    this.#now += 1
    this.most = Math.max(this.most, this.#now)
  }

  end(): void {
    this.#now -= 1
  }
}

const PATHS = ['/dev/uart-a', '/dev/uart-b'] as const
const tool = (command: string, declared: object) => ({
  command,
  reply: `^${command}=(?<value>[0-9]+)$`,
  returns: { value: 'integer' },
  ...declared,
})
const device = (id: string, path: string) => ({
  id,
  type: 'line',
  poll: 'off',
  port: { path, baudRate: 115_200 },
  tools: {
    read_one: tool('R1', { effect: 'read', parallelSafe: true }),
    read_two: tool('R2', { effect: 'read', parallelSafe: true }),
    read_undeclared: tool('R3', { effect: 'read' }),
    read_serial: tool('R4', { effect: 'read', serial: true, parallelSafe: true }),
    set_one: tool('S1', { effect: 'set' }),
    pulse: tool('P1', { effect: 'act' }),
  },
})

describe('one command at a time on each UART', () => {
  let busy: BusyCount
  let uarts: [Uart, Uart]
  let gateway: Gateway

  beforeEach(async () => {
    busy = new BusyCount()
    uarts = [new Uart(PATHS[0], busy), new Uart(PATHS[1], busy)]
    gateway = await createGateway({
      config: { devices: [device('a', PATHS[0]), device('b', PATHS[1])] },
      binding: MockBinding,
    })
  })

  afterEach(async () => {
    await gateway.close()
    for (const uart of uarts) uart.close()
  })

  const everyTool = ['read_one', 'set_one', 'read_two', 'pulse', 'read_undeclared', 'read_serial', 'read_one']
  const both = everyTool.flatMap((name) => [{ name: `a__${name}` }, { name: `b__${name}` }])

  for (const policy of ['partition', 'batch', 'resource'] as const satisfies readonly Policy[]) {
    it(`holds for many batches at once under ${policy}`, async () => {
      const batches = await Promise.all(Array.from({ length: 8 }, () => gateway.batch(both, { policy })))
      for (const batch of batches) {
        expect(batch.executed).toBe(both.length)
        expect(batch.results.map(({ name }) => name)).toEqual(both.map(({ name }) => name))
      }
      for (const uart of uarts) {
        expect(uart.interrupted).toEqual([])
        expect(uart.asked).toHaveLength(8 * everyTool.length)
      }
    })
  }

  it('holds for parallel-safe reads too: they take turns on their UART, and overlap on two', async () => {
    const reads = Array.from({ length: 40 }, (_, index) => ({
      name: `${index % 2 === 0 ? 'a' : 'b'}__read_one`,
    }))
    const { executed, partitions } = await gateway.batch(reads)
    expect(executed).toBe(40)
    expect(partitions).toHaveLength(1)
    expect(uarts.map(({ interrupted }) => interrupted)).toEqual([[], []])
    expect(busy.most).toBe(2)
  })

  it('holds across callers: single calls, batches and open lanes in one heap', async () => {
    const lane = gateway.lane()
    const heap = [
      ...Array.from({ length: 20 }, () => gateway.call({ name: 'a__read_one' })),
      ...Array.from({ length: 20 }, () => gateway.call({ name: 'a__pulse' })),
      ...Array.from({ length: 20 }, () => lane.add({ name: 'a__set_one' })),
    ]
    const results = await Promise.all(heap)
    await lane.end()
    expect(results.every(({ outcome }) => outcome === 'executed')).toBe(true)
    expect(uarts[0].asked).toHaveLength(60)
    expect(uarts[0].interrupted).toEqual([])
  })

  it('runs commands that change something one after the other, over both UARTs, in the order given', async () => {
    const commands = ['a__set_one', 'b__set_one', 'a__pulse', 'b__pulse'].map((name) => ({ name }))
    await gateway.batch(commands)
    expect(busy.most).toBe(1)
    expect(uarts[0].asked).toEqual(['S1', 'P1'])
    expect(uarts[1].asked).toEqual(['S1', 'P1'])
  })
})
