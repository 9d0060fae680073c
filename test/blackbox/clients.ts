/** Clients over HTTP that write down what they asked for, when, and what they were told. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { BatchResponse, CallRequest, CallResult } from '../../src/tool/shapes.ts'
import { Prng } from '../simulation/prng.ts'
import { type ClientCall, nowMs, type Wanted } from './history.ts'

/** Of each device its registers and its counter. Those of the meters hold a word, and two. */
export const RESOURCES = [
  'meter_1.word',
  'meter_1.long',
  'meter_2.word',
  'meter_2.long',
  'board.a',
  'board.b',
  'board.total',
  'amp.a',
  'amp.b',
  'amp.total',
] as const
/** Nothing may take longer: every call has a deadline of at most 8 s, and its run ends soon after. */
const ANSWER_WAIT_MAX_MS = 20_000
const WORD_MAX = 65_535

export interface Target {
  url(): string
  readonly token: string
}

export interface Fleet {
  readonly calls: readonly ClientCall[]
  /** What no call may ever be answered with. */
  readonly faults: readonly string[]
  /** Calls that had an answer of their own. */
  answered(): number
  /** Resolves when every client has its last answer. */
  stop(): Promise<void>
  /** Reads everything once more, until each read has succeeded. */
  readAll(): Promise<void>
}

export function startClients(target: Target, seed: string, count: number): Fleet {
  const calls: ClientCall[] = []
  const faults: string[] = []
  const uses = new Map<string, number>()
  let answers = 0
  let stopped = false
  const next = (resource: string): number => {
    const use = (uses.get(resource) ?? 0) + 1
    uses.set(resource, use)
    return use
  }
  const clients = Array.from({ length: count }, (_, number) => {
    const prng = new Prng(`${seed}/client ${number}`)
    const keep = (call: ClientCall, isAnswered: boolean) => {
      calls.push(call)
      if (isAnswered) answers += 1
    }
    return new Client({ target, number, prng, next, keep, fault: (text) => faults.push(text) })
  })
  const running = clients.map((client) => client.run(() => stopped))
  return {
    calls,
    faults,
    answered: () => answers,
    stop: async () => {
      stopped = true
      await Promise.all(running)
    },
    readAll: async () => {
      const [client] = clients
      for (const resource of RESOURCES) await client?.readUntilOk(resource)
    },
  }
}

interface Asked {
  readonly resource: string
  readonly wanted: Wanted
}

interface ClientParts {
  readonly target: Target
  readonly number: number
  readonly prng: Prng
  /** 1, 2, 3 … of each resource, over all clients. */
  readonly next: (resource: string) => number
  readonly keep: (call: ClientCall, isAnswered: boolean) => void
  readonly fault: (text: string) => void
}

class Client {
  readonly #parts: ClientParts
  readonly #prng: Prng

  constructor(parts: ClientParts) {
    this.#parts = parts
    this.#prng = parts.prng
  }

  async run(isStopped: () => boolean): Promise<void> {
    while (!isStopped()) {
      const size = this.#prng.chance(0.2) ? this.#prng.integer(2, 6) : 1
      const asked = Array.from({ length: size }, () => this.#draw())
      const call = await this.#ask(asked, this.#prng.chance(0.03) ? this.#prng.integer(1, 200) : undefined)
      await sleep(call ? this.#prng.integer(0, 30) : 200)
    }
  }

  async readUntilOk(resource: string): Promise<void> {
    const endAt = nowMs() + ANSWER_WAIT_MAX_MS
    for (;;) {
      const call = await this.#ask([{ resource, wanted: { kind: 'read' } }])
      if (call?.outcome === 'ok') return
      if (nowMs() > endAt) throw new Error(`${resource} could not be read: ${call?.code}`)
      await sleep(20)
    }
  }

  /** The bare device is slow, because it must be silent before each request: it is asked less. */
  #draw(): Asked {
    let resource = this.#prng.pick(RESOURCES)
    if (resource.startsWith('amp.') && this.#prng.chance(0.5)) resource = this.#prng.pick(RESOURCES)
    if (this.#prng.chance(0.5)) return { resource, wanted: { kind: 'read' } }
    const use = this.#parts.next(resource)
    if (resource.endsWith('.total')) {
      const nonce = `n${use}x${this.#parts.number}`
      return { resource, wanted: { kind: 'add', amount: this.#prng.integer(1, 1_000_000), nonce } }
    }
    if (resource.endsWith('.word') && use > WORD_MAX) return { resource, wanted: { kind: 'read' } }
    return { resource, wanted: { kind: 'set', value: use } }
  }

  /** The call, the last one of a batch; undefined: nobody listened. `abandonMs`: the client goes away by then. */
  async #ask(asked: readonly Asked[], abandonMs?: number): Promise<ClientCall | undefined> {
    const options = { deadlineMs: this.#prng.pick([60, 400, 2_000, 8_000]) }
    const [only] = asked
    const isBatch = asked.length > 1
    const body = isBatch
      ? {
          ...options,
          calls: asked.map(requestOf),
          policy: this.#prng.pick(['partition', 'batch', 'resource']),
          onError: this.#prng.pick(['continue', 'abort']),
        }
      : { ...options, ...(only && requestOf(only)) }
    const invokedAt = nowMs()
    const answer = await this.#post(isBatch ? '/v1/batches' : '/v1/calls', body, abandonMs)
    const returnedAt = nowMs()
    let call: ClientCall | undefined
    const record = (each: Asked, told: Pick<ClientCall, 'outcome' | 'code' | 'shown'>) => {
      call = { client: this.#parts.number, ...each, invokedAt, returnedAt, ...told }
      this.#parts.keep(call, 'json' in answer)
    }
    if ('broken' in answer) {
      // A connection that was refused carried nothing: there was no call. Of any other nobody knows.
      if (answer.broken === 'ECONNREFUSED') return undefined
      for (const each of asked) record(each, { outcome: 'unknown', code: answer.broken })
      return call
    }
    const results = isBatch ? (answer.json as BatchResponse).results : [answer.json as CallResult]
    for (const [index, each] of asked.entries()) {
      const result = results[index]
      if (result) record(each, this.#told(each, result))
      else this.#parts.fault(`a batch of ${asked.length} had ${results.length} results`)
    }
    return call
  }

  #told(asked: Asked, result: CallResult): Pick<ClientCall, 'outcome' | 'code' | 'shown'> {
    const { status, outcome, error, value, shared, name } = result
    if (name !== requestOf(asked).name || shared)
      this.#parts.fault(`not what was asked: ${JSON.stringify(result)}`)
    if (status === 'ok' && outcome === 'executed') return { outcome: 'ok', code: 'ok', shown: shownBy(value) }
    if (status === 'ok' || error === undefined || outcome === 'executed') {
      this.#parts.fault(`neither done nor failed: ${JSON.stringify(result)}`)
    }
    if (error?.code === 'internal' || error?.code === 'tool_failed' || error?.code === 'invalid_arguments') {
      this.#parts.fault(JSON.stringify(result))
    }
    return { outcome: outcome === 'not_executed' ? 'not_executed' : 'unknown', code: error?.code ?? status }
  }

  async #post(path: string, body: unknown, abandonMs: number | undefined) {
    try {
      const response = await fetch(this.#parts.target.url() + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#parts.target.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(abandonMs ?? ANSWER_WAIT_MAX_MS),
      })
      const json: unknown = await response.json()
      if (response.status === 200) return { json }
      this.#parts.fault(`status ${response.status}: ${JSON.stringify(json)}`)
      return { broken: `status_${response.status}` }
    } catch (error) {
      const isTimeout = error instanceof Error && error.name === 'TimeoutError'
      if (isTimeout && abandonMs === undefined) this.#parts.fault(`no answer within ${ANSWER_WAIT_MAX_MS} ms`)
      return { broken: isTimeout ? 'abandoned' : brokenBy(error) }
    }
  }
}

function requestOf({ resource, wanted }: Asked): CallRequest {
  const [device = '', part = ''] = resource.split('.')
  if (wanted.kind === 'read') return { name: `${device}__read_${part}` }
  if (wanted.kind === 'set') return { name: `${device}__set_${part}`, arguments: { value: wanted.value } }
  return { name: `${device}__add`, arguments: { amount: wanted.amount, nonce: wanted.nonce } }
}

/** A read shows one field, whatever its name. */
function shownBy(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const [shown]: unknown[] = Object.values(value)
  return typeof shown === 'number' ? shown : undefined
}

function brokenBy(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'broken'
}
