/** One thing at a time on one line. */
import { batch, bus, call, device, scenario, text } from './scenario.ts'

export const singles = [
  scenario('single-read', {
    ports: [bus('p0', device('d0'))],
    submissions: [batch(200, [call(1, 'd0', 'read')])],
  }),
  scenario('act-on-a-bus', {
    ports: [bus('p0', device('d0'))],
    submissions: [batch(200, [call(1, 'd0', 'act')]), batch(900, [call(2, 'd0', 'act')])],
  }),
  scenario('set-then-read', {
    ports: [bus('p0', device('d0'), device('d1', 2))],
    submissions: [batch(200, [call(1, 'd0', 'set'), call(2, 'd1', 'read'), call(3, 'd0', 'read')])],
  }),
  scenario('text-with-read-back', {
    ports: [text('p0', device('d0'))],
    submissions: [batch(200, [call(1, 'd0', 'act_read_back')]), batch(1_000, [call(2, 'd0', 'ask')])],
  }),
  scenario('run-of-two-reads', {
    ports: [bus('p0', device('d0'), device('d1', 2))],
    submissions: [batch(200, [call(1, 'd0', 'read_pair')]), batch(210, [call(2, 'd1', 'read_serial')])],
  }),
]
