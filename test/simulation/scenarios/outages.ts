/** Something goes wrong already, and then an operation fails as well. */
import { batch, bus, call, device, scenario, text } from './scenario.ts'

export const outages = [
  scenario('unplugged-and-plugged-in', {
    ports: [bus('p0', device('d0'))],
    submissions: [
      batch(200, [call(1, 'd0', 'read'), call(2, 'd0', 'act')]),
      batch(2_500, [call(3, 'd0', 'read'), call(4, 'd0', 'set')]),
    ],
    faults: [{ kind: 'unplug', port: 'p0', at: 270, forMs: 1_000 }],
  }),
  scenario('late-reply-then-next-read', {
    ports: [bus('p0', device('d0'))],
    submissions: [
      batch(200, [call(1, 'd0', 'read')]),
      batch(300, [call(2, 'd0', 'read'), call(3, 'd0', 'act')]),
    ],
    faults: [{ kind: 'fate', device: 'd0', request: 0, fate: { kind: 'late', byMs: 600 } }],
  }),
  scenario('killed-and-restarted', {
    ports: [bus('p0', device('d0'))],
    submissions: [
      batch(200, [call(1, 'd0', 'act'), call(2, 'd0', 'act')]),
      batch(5_000, [call(3, 'd0', 'read'), call(4, 'd0', 'act')]),
    ],
    faults: [{ kind: 'crash', at: 240, downMs: 3_000 }],
  }),
  scenario('held-up-request', {
    ports: [text('p0', device('d0'))],
    submissions: [
      batch(200, [call(1, 'd0', 'ask')]),
      batch(400, [call(2, 'd0', 'act'), call(3, 'd0', 'ask')]),
    ],
    faults: [{ kind: 'standstill', port: 'p0', at: 100, forMs: 900, how: 'line' }],
  }),
  scenario('spoiled-reply', {
    ports: [bus('p0', device('d0'), device('d1', 2))],
    submissions: [batch(200, [call(1, 'd0', 'read'), call(2, 'd1', 'read'), call(3, 'd0', 'act')])],
    faults: [
      { kind: 'byte', port: 'p0', heading: 'to_host', index: 3, flip: 0x40 },
      { kind: 'byte', port: 'p0', heading: 'to_far_end', index: 10, flip: 0 },
    ],
  }),
]
