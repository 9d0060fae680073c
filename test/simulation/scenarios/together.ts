/** Several things at once: batches, lanes, polls, and callers that give up. */
import { batch, bus, call, device, scenario, text } from './scenario.ts'

export const together = [
  scenario('batch-over-three-ports', {
    ports: [bus('p0', device('d0')), bus('p1', device('d1')), text('p2', device('d2'))],
    submissions: [
      batch(200, [call(1, 'd0', 'read'), call(2, 'd1', 'read'), call(3, 'd2', 'ask'), call(4, 'd0', 'act')]),
      batch(250, [call(5, 'd1', 'set'), call(6, 'd2', 'act'), call(7, 'd0', 'act')], { policy: 'resource' }),
    ],
  }),
  scenario('lane-with-cancels', {
    ports: [bus('p0', device('d0', 1, { answersAfterMs: 90 }))],
    submissions: [
      batch(
        200,
        [
          call(1, 'd0', 'read'),
          call(2, 'd0', 'act', { afterMs: 20, cancelAfterMs: 5 }),
          call(3, 'd0', 'act', { afterMs: 20, cancelAfterMs: 150 }),
          call(4, 'd0', 'read', { afterMs: 20 }),
        ],
        { kind: 'lane' },
      ),
    ],
  }),
  scenario('poll-and-call', {
    ports: [bus('p0', device('d0', 1, { pollMs: 3_000 }), device('d1', 2, { pollMs: 10_000 }))],
    submissions: [batch(2_990, [call(1, 'd0', 'act')]), batch(3_020, [call(2, 'd1', 'read')])],
  }),
  scenario('abort-on-error', {
    ports: [bus('p0', device('d0'), device('d1', 2))],
    submissions: [
      batch(200, [call(1, 'd0', 'set'), call(2, 'd1', 'act'), call(3, 'd0', 'read')], { onError: 'abort' }),
    ],
    faults: [{ kind: 'fate', device: 'd1', request: 0, fate: { kind: 'refuse' } }],
  }),
  scenario('emergency-stop-in-a-run', {
    ports: [bus('p0', device('d0', 1, { answersAfterMs: 90 })), text('p1', device('d1'))],
    submissions: [
      batch(200, [call(1, 'd0', 'read_pair'), call(2, 'd1', 'act')]),
      batch(210, [call(3, 'd0', 'act')]),
      batch(260, [], { kind: 'stop' }),
      batch(1_500, [], { kind: 'release' }),
      batch(2_000, [call(4, 'd0', 'act'), call(5, 'd1', 'ask')]),
    ],
  }),
]
