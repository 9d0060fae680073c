/** Server-sent events (WHATWG HTML, 9.2) as they arrive: the data of each. */
import { CommandFault, FAILED } from './command.ts'

/** Nothing of ours is near it: whoever sends more in one event is not our gateway. */
const EVENT_LENGTH_MAX = 1024 * 1024

/** The data of each event; its lines are joined by a newline. Rejects with what the stream rejects with. */
export async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let data: string[] = []
  let rest = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const text = rest + decoder.decode(chunk, { stream: true })
    // A carriage return at the end may be the first half of a line end.
    const lines = text.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    if (rest.length > EVENT_LENGTH_MAX) throw new CommandFault(FAILED, 'The gateway sent an endless event.')
    for (const line of lines) {
      if (line === '' && data.length > 0) {
        yield data.join('\n')
        data = []
      } else if (line.startsWith('data:')) {
        data.push(line.slice(line.startsWith('data: ') ? 6 : 5))
      }
    }
  }
}
