/** What comes by itself, as server-sent events: the events of the gateway, and the bytes on a port. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TraceEntry } from '../../../port/status.ts'
import type { FeedEvent } from '../../../tool/event-feed.ts'
import type { Home } from '../../../tool/home.ts'
import { type Guard, nothing } from '../access.ts'
import { type EventStream, type EventStreams, STREAM_HEADERS, tooManyStreams } from '../event-stream.ts'
import { text } from '../schemas/answers.ts'
import { idPath } from '../schemas/parts.ts'
import { StreamQuery } from '../schemas/status.ts'

const RESUMING =
  'The header Last-Event-ID, or lastEventId, takes the stream up behind that event. If some are gone, an event ' +
  '`missed` comes first. A comment comes every 15 s when nothing else does.'

const EVENT_TYPES =
  'Events of the types `reading` {device, field, value, unit, measuredAt}, `event` {device, name, fields, at}, ' +
  '`call` (a CallResult with lane and partition), `device` (a Device) and `port` (a Port).'

/** More than a port keeps. */
const ALL_ENTRIES = Number.MAX_SAFE_INTEGER

export function addStreamRoutes(
  app: FastifyInstance,
  home: Home,
  guarded: Guard,
  streams: EventStreams,
): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()
  const events = guarded('read', {
    operationId: 'streamEvents',
    tags: ['events'],
    summary: 'What happens in the gateway, as it happens',
    description: `${EVENT_TYPES} ${RESUMING}`,
    querystring: StreamQuery,
    response: { 200: text('text/event-stream', 'Events whose data is JSON') },
  })
  // A stream has no end, so nobody can ask for its head alone.
  typed.get('/v1/events', { ...events, exposeHeadRoute: false }, async (request, reply) =>
    sendStream(reply, eventsAfter(lastEventId(request), home, streams)),
  )
  const trace = guarded('admin', {
    operationId: 'streamPortTrace',
    tags: ['ports'],
    summary: 'The bytes on a port, as they come',
    description: `Events of the type entry; their id is the seq of the entry. ${RESUMING}`,
    params: idPath('Id of the port'),
    querystring: StreamQuery,
    response: { 200: text('text/event-stream', 'Events whose data is a TraceEntry') },
  })
  typed.get('/v1/ports/:id/trace/stream', { ...trace, exposeHeadRoute: false }, async (request, reply) => {
    const stream = traceAfter(lastEventId(request), request.params.id, home, streams)
    return sendStream(reply, stream)
  })
}

function sendStream(reply: FastifyReply, stream: EventStream): FastifyReply {
  return reply.headers(STREAM_HEADERS).send(stream.body)
}

function lastEventId(request: FastifyRequest<{ Querystring: { lastEventId?: string } }>): string | undefined {
  // A browser that connects again sends the header, beside the query of its first request.
  const header = request.headers['last-event-id']
  return typeof header === 'string' && header !== '' ? header : request.query.lastEventId
}

function eventsAfter(lastId: string | undefined, home: Home, streams: EventStreams): EventStream {
  const past: FeedEvent[] = []
  let hear = (event: FeedEvent): void => {
    past.push(event)
  }
  streams.checkRoom()
  const subscription = home.events(lastId, (event) => hear(event))
  if (!subscription) throw tooManyStreams()
  const stream = streams.begin(() => subscription.unsubscribe())
  hear = ({ id, type, data }) => stream.send({ id, event: type, data })
  if (subscription.missed) stream.send(missed(lastId))
  for (const event of past) hear(event)
  return stream
}

function traceAfter(
  lastId: string | undefined,
  portId: string,
  home: Home,
  streams: EventStreams,
): EventStream {
  streams.checkRoom()
  const send = (entry: TraceEntry) => stream.send({ id: String(entry.seq), event: 'entry', data: entry })
  const unwatch = home.watchTrace(portId, send) ?? nothing('port', portId)
  const stream = streams.begin(unwatch)
  if (lastId === undefined) return stream
  const kept = home.trace(portId, ALL_ENTRIES) ?? []
  const last = /^[0-9]{1,15}$/.test(lastId) ? Number(lastId) : -1
  const [oldest, newest] = [kept[0], kept.at(-1)]
  // An id beyond the newest entry is one of an earlier run of the gateway.
  const isKnown = oldest !== undefined && newest !== undefined && last <= newest.seq && last + 1 >= oldest.seq
  if (!isKnown) stream.send(missed(lastId))
  for (const entry of kept) if (!isKnown || entry.seq > last) send(entry)
  return stream
}

/** It has no id of its own: the client goes on from the next one. */
function missed(lastId: string | undefined) {
  return { event: 'missed', data: { lastEventId: lastId ?? null } }
}
