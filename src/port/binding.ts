/**
 * The serial binding of the host, with one cure: the library's own read takes `read() == 0` for "try again". When
 * a device is pulled while a read is in the thread pool, that loops for ever without an event. Ours takes it for
 * what it is, a hang-up. It also never closes a descriptor under a write: the write would hit a number that may
 * already belong to another file.
 */
import { read } from 'node:fs'
import { SerialPort } from 'serialport'
import type { BindingInterface, BindingPortInterface, OpenOptions } from './binding-interface.ts'

/** What the library's ports on Unix have beyond the interface. */
interface UnixPort extends BindingPortInterface {
  fd: number | null
  readonly poller: {
    once(event: 'readable', listener: (error: Error | null) => void): unknown
    stop(): void
  }
  readonly writeOperation: Promise<void> | null
}

class CanceledError extends Error {
  readonly canceled = true
}

class HangUpError extends Error {
  readonly disconnect = true
}

function isUnixPort(port: BindingPortInterface): port is UnixPort {
  return 'fd' in port && 'poller' in port
}

/** Reads at least one byte; a canceled error after a close, any other error when the device is gone. */
async function readOrHangUp(port: UnixPort, buffer: Buffer, offset: number, length: number) {
  for (;;) {
    const { fd } = port
    if (!port.isOpen || fd === null) throw new CanceledError('the port was closed')
    const outcome = await readOnce(fd, buffer, offset, length)
    if (typeof outcome === 'number') {
      if (outcome === 0) throw new HangUpError('the device hung up')
      return { buffer, bytesRead: outcome }
    }
    if (!port.isOpen) throw new CanceledError('the port was closed')
    if (outcome.code !== 'EAGAIN' && outcome.code !== 'EWOULDBLOCK' && outcome.code !== 'EINTR') throw outcome
    await readable(port)
  }
}

function readOnce(
  fd: number,
  buffer: Buffer,
  offset: number,
  length: number,
): Promise<number | NodeJS.ErrnoException> {
  return new Promise((resolve) => {
    read(fd, buffer, offset, length, null, (error, bytesRead) => resolve(error ?? bytesRead))
  })
}

function readable(port: UnixPort): Promise<void> {
  return new Promise((resolve, reject) => {
    port.poller.once('readable', (error) => (error ? reject(error) : resolve()))
  })
}

function guarded(port: UnixPort): BindingPortInterface {
  const closeDescriptor = port.close.bind(port)
  port.read = (buffer, offset, length) => readOrHangUp(port, buffer, offset, length)
  port.close = async () => {
    const { writeOperation } = port
    if (port.isOpen && writeOperation) {
      // Cancels a write that waits for room, so that the one in flight is the last.
      port.poller.stop()
      await writeOperation.catch(() => {})
    }
    await closeDescriptor()
  }
  return port
}

/** The binding for real ports. */
export function createSystemBinding(): BindingInterface {
  const detected: BindingInterface = SerialPort.binding
  return {
    list: () => detected.list(),
    open: async (options: OpenOptions) => {
      const port = await detected.open(options)
      return isUnixPort(port) ? guarded(port) : port
    },
  }
}
