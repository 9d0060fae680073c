/** A client of server-sent events on a real socket, as the standard reads them. */
import { type IncomingMessage, request } from 'node:http'
import { bearer } from './serve.ts'

export interface HeardEvent {
  readonly id?: string
  readonly event: string
  readonly data: unknown
}

export interface EventReader {
  readonly response: IncomingMessage
  /** Everything that has come. */
  text(): string
  events(): HeardEvent[]
  /** How the response ended: `end` whole, `cut` in the middle. */
  readonly ended: Promise<'end' | 'cut'>
  leave(): void
}

export async function readEvents(
  url: string,
  token: string,
  headers: Record<string, string> = {},
): Promise<EventReader> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const asking = request(url, { headers: { ...bearer(token), ...headers }, agent: false }, resolve)
    asking.on('error', reject)
    asking.end()
  })
  let text = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
  })
  const ended = new Promise<'end' | 'cut'>((resolve) => {
    response.on('error', () => resolve('cut'))
    response.on('end', () => resolve('end'))
    response.on('close', () => resolve('cut'))
  })
  return {
    response,
    text: () => text,
    events: () => parseEvents(text),
    ended,
    leave: () => response.destroy(),
  }
}

/** Whole blocks only: the last one ends with an empty line too. */
function parseEvents(text: string): HeardEvent[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => {
      const fields = block.split('\n').map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')] as const
      })
      const field = (name: string) => fields.find(([each]) => each === name)?.[1]
      const [id, event, data] = [field('id'), field('event'), field('data')]
      if (data === undefined) return []
      return [{ ...(id !== undefined && { id }), event: event ?? 'message', data: JSON.parse(data) }]
    })
}
