import { describe, expect, it } from 'vitest'
import { TRACE_ENTRIES, TRACE_ENTRY_BYTES } from '../../src/limits.ts'
import { Trace } from '../../src/port/trace.ts'
import { VirtualClock } from '../virtual-clock.ts'

describe('the trace of a port', () => {
  it('shows hex, printable text, direction, time and call', () => {
    const trace = new Trace(new VirtualClock({ wallStart: Date.UTC(2026, 10, 30, 12) }))
    trace.record('tx', Buffer.from('MV?\r'), 'c1')
    trace.record('rx', Uint8Array.from([0xff, 0x86]))
    expect(trace.last(10)).toEqual([
      {
        seq: 0,
        at: '2026-11-30T12:00:00.000Z',
        direction: 'tx',
        hex: '4d 56 3f 0d',
        text: 'MV?.',
        callId: 'c1',
      },
      { seq: 1, at: '2026-11-30T12:00:00.000Z', direction: 'rx', hex: 'ff 86', text: '..' },
    ])
  })

  it('keeps its own copy: the buffer of the reader is used again', () => {
    const trace = new Trace(new VirtualClock())
    const pool = Uint8Array.from([0x41])
    trace.record('rx', pool)
    pool[0] = 0x42
    expect(trace.last(1)[0]?.text).toBe('A')
  })

  it('keeps the last entries, oldest first, and no more', () => {
    const trace = new Trace(new VirtualClock())
    for (let index = 0; index < TRACE_ENTRIES + 5; index += 1) trace.record('rx', Uint8Array.of(index % 256))
    const all = trace.last(TRACE_ENTRIES * 2)
    expect(all).toHaveLength(TRACE_ENTRIES)
    expect(all[0]?.seq).toBe(5)
    expect(trace.last(2).map(({ seq }) => seq)).toEqual([TRACE_ENTRIES + 3, TRACE_ENTRIES + 4])
  })

  it('cuts a long chunk into bounded entries without losing a byte', () => {
    const trace = new Trace(new VirtualClock())
    trace.record('rx', Buffer.alloc(TRACE_ENTRY_BYTES * 2 + 1, 'x'))
    expect(trace.last(10).map(({ text }) => text.length)).toEqual([TRACE_ENTRY_BYTES, TRACE_ENTRY_BYTES, 1])
  })
})
