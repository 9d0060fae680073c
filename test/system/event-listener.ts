/** A client of the gateway's event stream that keeps what it hears. */
import type { GatewayProcess } from './gateway-process.ts'

export interface Heard {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface EventListener {
  readonly heard: readonly Heard[]
  remove(): void
}

/** What happens after this resolves is heard. */
export async function listen(gateway: GatewayProcess): Promise<EventListener> {
  const stop = new AbortController()
  const headers = { authorization: `Bearer ${gateway.token}` }
  const answer = await fetch(`${gateway.url}/v1/events`, { headers, signal: stop.signal })
  if (!answer.ok || !answer.body) throw new Error(`${answer.status} ${await answer.text()}`)
  const heard: Heard[] = []
  const read = async (body: ReadableStream<Uint8Array>) => {
    let rest = ''
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      const messages = (rest + text).split('\n\n')
      rest = messages.pop() ?? ''
      for (const message of messages) {
        const [, type] = /^event: (.*)$/m.exec(message) ?? []
        const [, data] = /^data: (.*)$/m.exec(message) ?? []
        if (type !== undefined && data !== undefined) heard.push({ type, data: JSON.parse(data) })
      }
    }
  }
  read(answer.body).catch(() => undefined)
  return { heard, remove: () => stop.abort() }
}
