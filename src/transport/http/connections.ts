/**
 * The connections of the server, and how many requests each of them still waits for. Node's own `close` leaves a
 * connection open on which no request has come yet (browsers open some in advance), or one that stays silent in the
 * middle of a request; a gateway that stops must not hang on them.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../clock.ts'
import { rawProblemResponse } from './problem.ts'

/** What was answered has this long to reach its client while the server closes. */
const CLOSE_PATIENCE_MS = 1_000

export class Connections {
  readonly #waiting = new Map<Socket, number>()
  #closing = false

  /** Notices every connection of the server. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      if (this.#closing) {
        socket.destroy()
        return
      }
      this.#waiting.set(socket, 0)
      socket.once('close', () => this.#waiting.delete(socket))
    })
  }

  /** The server has begun to close. */
  get closing(): boolean {
    return this.#closing
  }

  /** A request came in (1) or was answered (-1). */
  count(socket: Socket, change: 1 | -1): void {
    const waiting = this.#waiting.get(socket)
    if (waiting !== undefined) this.#waiting.set(socket, waiting + change)
  }

  /** Ends what waits for nothing at once, and everything else when the patience is over. */
  close(clock: Clock): void {
    this.#closing = true
    for (const [socket, waiting] of this.#waiting) {
      if (waiting === 0) socket.destroy()
    }
    if (this.#waiting.size === 0) return
    const timer = clock.after(CLOSE_PATIENCE_MS, () => {
      for (const socket of this.#waiting.keys()) socket.destroy()
    })
    for (const socket of this.#waiting.keys()) {
      socket.once('close', () => {
        if (this.#waiting.size === 0) timer.cancel()
      })
    }
  }

  /**
   * Bytes that are no request. Where an earlier request of the connection still waits for its answer, that client
   * would take ours for it and believe that nothing was done: then the connection only ends.
   */
  answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
    if (error.code === 'ECONNRESET' || socket.destroyed) return
    if (socket.writable && !this.#waiting.get(socket)) socket.write(unreadableResponse(error.code))
    socket.destroy()
  }
}

function unreadableResponse(code: string | undefined): string {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return rawProblemResponse(408, 'The request did not arrive in time.')
    case 'HPE_HEADER_OVERFLOW':
      return rawProblemResponse(431, 'The headers are too large.')
    default:
      return rawProblemResponse(400, 'This is not an HTTP request.')
  }
}
