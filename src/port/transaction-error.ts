/** How the end of a transaction is told: its reply, or an error with a sentence. */
import { GatewayError } from '../errors.ts'
import type { Request } from './request.ts'
import type { TransactionEnd } from './transaction.ts'

export function replyOf<T>(end: TransactionEnd<unknown>, request: Request<T>): T | null {
  if (end.kind === 'reply') return end.match as T
  if (end.kind === 'unacknowledged') return null
  throw new GatewayError(end.code, failureText(end.code, request))
}

function failureText(
  code: 'timeout' | 'bad_reply' | 'port_lost' | 'stopped',
  request: Request<unknown>,
): string {
  switch (code) {
    case 'timeout':
      return `no reply within ${request.timeoutMs} ms`
    case 'bad_reply':
      return 'only frames came that fail their checksum or form'
    case 'port_lost':
      return 'the port went away before the reply'
    case 'stopped':
      return 'stopped while the request was on the line'
  }
}

export function neverSilent(gapMs: number): GatewayError {
  return new GatewayError(
    'device_busy',
    `the line was never silent for ${gapMs} ms, so a reply could not be told apart`,
    {
      hint: 'declare what the device sends unasked as events, or give the reply a literal start',
    },
  )
}

export function goneBeforeSent(): GatewayError {
  return new GatewayError('port_lost', 'the port went away before the request was sent')
}
