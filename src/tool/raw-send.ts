/**
 * Raw bytes on a port, through the same queue as every call. Nobody knows what answers them or when: so the outcome is
 * `unknown`, what comes is shown as it is, and for a while after it every request waits that a late answer could reach.
 */
import { type Clock, newId } from '../clock.ts'
import { GatewayError } from '../errors.ts'
import { DEADLINE_DEFAULT_MS } from '../limits.ts'
import type { Port } from '../port/port.ts'
import { ANY_SHAPE, type ReplyMatcher } from '../port/reply.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Task, TaskRun } from '../scheduler/task.ts'
import { shownError } from './call-outcome.ts'
import type { SendRequest, SendResult } from './shapes.ts'

/** How long after the wait an answer is still expected. */
const LATE_ANSWER_MS = 1_000
/** Silence before the bytes. */
const GAP_MS = 50

const anyAnswer: ReplyMatcher<never> = { shapes: [ANY_SHAPE], match: () => undefined }

export interface RawSendParts {
  readonly clock: Clock
  readonly scheduler: Scheduler
  /** The emergency stop is latched. */
  readonly isStopped: () => boolean
}

export async function sendRaw(parts: RawSendParts, port: Port, request: SendRequest): Promise<SendResult> {
  const { clock, scheduler } = parts
  const received: Buffer[] = []
  const lane = scheduler.openLane({
    policy: 'partition',
    rank: 'interactive',
    onError: 'continue',
    deadlineAt: clock.now() + DEADLINE_DEFAULT_MS,
  })
  const [settling] = lane.add([taskOf(parts, port, request, received)])
  lane.end()
  if (!settling) throw new GatewayError('internal', 'the lane took no call')
  const { outcome, error } = await settling
  // Silence is how sending ends, not a failure of it.
  const failure = error && error.code !== 'timeout' ? { error: shownError(error, { effect: 'act' }) } : {}
  const bytes = Buffer.concat(received)
  const text = bytes.toString('latin1').replace(/[^\x20-\x7e]/g, '.')
  return { outcome, ...failure, received: { hex: bytes.toString('hex').replace(/..(?=.)/g, '$& '), text } }
}

function taskOf(
  { clock, isStopped }: RawSendParts,
  port: Port,
  request: SendRequest,
  received: Buffer[],
): Task {
  const first = { station: '(raw)', shapes: [ANY_SHAPE] }
  return {
    id: newId(clock, 'c'),
    name: 'send',
    declaration: { effect: 'act', serial: true },
    arguments: {},
    claims: [{ resource: `port:${port.id}`, mode: 'exclusive' }],
    ports: [port.id],
    rejected: isStopped() ? new GatewayError('stopped', 'the emergency stop is latched') : undefined,
    refusal: () => port.refusal(),
    notBefore: () => port.notBefore(first),
    run: (run) => sendAndListen(port, request, received, run),
  }
}

async function sendAndListen(port: Port, { bytes, waitMs }: SendRequest, received: Buffer[], run: TaskRun) {
  const unwatch = port.watchTrace(({ direction, hex }) => {
    if (direction === 'rx') received.push(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
  })
  try {
    return await port.run({ signal: run.signal }, async (line) => {
      received.length = 0
      try {
        await line.transact({
          bytes,
          reply: waitMs === 0 ? null : anyAnswer,
          timeoutMs: waitMs,
          replyLatencyMaxMs: waitMs + LATE_ANSWER_MS,
          gapMs: GAP_MS,
          station: '(raw)',
        })
      } finally {
        run.progress.sent = line.sent
        run.progress.wireMs = line.wireMs
      }
      return { value: null, unacknowledged: true as const }
    })
  } finally {
    unwatch()
  }
}
