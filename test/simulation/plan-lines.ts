/** A plan for people: the home, who asked for what, and what went wrong, a line each. */
import type { CallPlan, Fault, Plan, PortPlan, Submission } from './plan.ts'

export function planLines({ home, submissions, faults, safetyMs }: Plan): readonly string[] {
  return [
    ...home.ports.map(portLine),
    ...submissions.map(submissionLine),
    ...faults.map(faultLine),
    `everything is mended at ${safetyMs} ms`,
  ]
}

/** The faults alone. */
export function faultLines({ faults }: Plan): readonly string[] {
  return faults.length === 0 ? ['no faults'] : faults.map(faultLine)
}

function portLine({ id, kind, baudRate, latencyMs, devices }: PortPlan): string {
  const each = devices.map((device) => {
    const poll = device.pollMs === undefined ? '' : `, polled every ${device.pollMs} ms`
    return `${device.id} (timeout ${device.timeoutMs} ms, latest ${device.replyLatencyMaxMs} ms${poll})`
  })
  return `port ${id}: ${kind}, ${baudRate} baud, adapter ${latencyMs} ms: ${each.join('; ')}`
}

function submissionLine({ at, kind, policy, priority, deadlineMs, calls }: Submission): string {
  if (kind === 'stop' || kind === 'release') return `${at} ms: ${kind}`
  return `${at} ms: ${kind}, ${policy}, ${priority}, deadline ${deadlineMs} ms: ${calls.map(callText).join(', ')}`
}

function callText({ nonce, device, name, runsMs, cancelAfterMs, afterMs }: CallPlan): string {
  const extra = [
    ...(afterMs === undefined ? [] : [`${afterMs} ms later`]),
    ...(runsMs === undefined ? [] : [`runs ${runsMs} ms`]),
    ...(cancelAfterMs === undefined ? [] : [`cancelled after ${cancelAfterMs} ms`]),
  ]
  const what = device === undefined ? name : `${device} ${name}`
  return `${nonce} ${what}${extra.length > 0 ? ` (${extra.join(', ')})` : ''}`
}

/** The kind, the place, and then whatever it has. */
function faultLine(fault: Fault): string {
  const { kind, ...rest } = fault
  const flat = Object.entries(rest).flatMap(([key, value]) =>
    typeof value === 'object' ? Object.entries(value as object) : [[key, value]],
  )
  return `fault ${kind}: ${flat.map(([key, value]) => `${key} ${String(value)}`).join(', ')}`
}
