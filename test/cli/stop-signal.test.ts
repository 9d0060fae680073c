import { describe, expect, it } from 'vitest'
import { stopSignal } from '../../src/cli/stop-signal.ts'
import { VirtualClock } from '../virtual-clock.ts'
import { fakeTerminal } from './fake-terminal.ts'

const nothing = () => {}

describe('a command that runs until it is stopped', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('is asked to end by %s', async (name) => {
    const terminal = fakeTerminal()
    const { signal } = stopSignal(terminal, new VirtualClock(), nothing)
    terminal.signal(name)
    expect(await signal).toBe(name)
    expect(terminal.exits).toEqual([])
  })

  it('ends at once at a second signal, but not at the echo of the first', async () => {
    const terminal = fakeTerminal()
    const clock = new VirtualClock()
    stopSignal(terminal, clock, nothing)
    terminal.signal('SIGINT')
    await clock.advance(300)
    terminal.signal('SIGINT')
    expect(terminal.exits).toEqual([])
    await clock.advance(1)
    terminal.signal('SIGTERM')
    expect(terminal.exits).toEqual([1])
  })

  it('goes on at SIGHUP, and reloads', async () => {
    let reloads = 0
    const terminal = fakeTerminal()
    const { signal } = stopSignal(terminal, new VirtualClock(), () => {
      reloads += 1
    })
    terminal.signal('SIGHUP')
    expect(reloads).toBe(1)
    terminal.signal('SIGTERM')
    expect(await signal).toBe('SIGTERM')
  })

  it('hears nothing any more once it has ended', () => {
    const terminal = fakeTerminal()
    const clock = new VirtualClock()
    const stop = stopSignal(terminal, clock, nothing)
    stop.forget()
    for (const name of ['SIGINT', 'SIGINT'] as const) terminal.signal(name)
    expect(terminal.exits).toEqual([])
  })
})
