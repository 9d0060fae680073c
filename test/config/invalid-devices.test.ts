/** Devices that cannot be. Lines and columns are counted by hand, as an editor shows them. */
import { describe, it } from 'vitest'
import { expectFaults, type InvalidFile } from './invalid-file.ts'

const files: readonly InvalidFile[] = [
  {
    what: 'devices that lack what every device has',
    text: `devices:
  - {}
  - id: a
`,
    faults: [
      'f:2:5: the key "id" is missing',
      'f:2:5: the key "type" is missing',
      'f:2:5: the key "port" is missing',
      'f:3:5: the key "type" is missing',
      'f:3:5: the key "port" is missing',
    ],
  },
  {
    what: 'one id twice',
    text: `devices:
  - { id: a, type: co2, port: { path: /dev/a } }
  - { id: b, type: co2, port: { path: /dev/b } }
  - { id: a, type: co2, port: { path: /dev/c } }
`,
    faults: ['f:4:11: the id "a" is taken by item 1 of "devices"'],
  },
  {
    what: 'ids that are none',
    text: `devices:
  - { id: Büro-CO2, type: co2, port: { path: /dev/a } }
  - { id: a__b, type: co2, port: { path: /dev/b } }
  - { id: 5, type: co2, port: { path: /dev/c } }
  - { id: abcdefghijklmnopqrstuvwxyz_abcde, type: co2, port: { path: /dev/d } }
`,
    faults: [
      'f:2:11: "id" must be lower-case letters and digits in words joined by single underscores, beginning with a letter, not "Büro-CO2" ("buro_co2" would do)',
      'f:3:11: "id" must be lower-case letters and digits in words joined by single underscores, beginning with a letter, not "a__b" ("a_b" would do)',
      'f:4:11: "id" must be lower-case letters and digits in words joined by single underscores, beginning with a letter, not 5',
      'f:5:11: "id" has 32 characters; at most 31 are allowed ("abcdefghijklmnopqrstuvwxyz_abcd" would do)',
    ],
  },
  {
    what: 'names that no terminal should be sent',
    text: `devices:
  - { id: a, type: co2, port: { path: "/dev/a\\0" }, name: "\\e[31m", area: "" }
`,
    faults: [
      'f:2:39: "path" must be text without control characters, not "/dev/a\\u0000"',
      'f:2:59: "name" must be text without control characters, not "\\u001b[31m"',
      'f:2:75: "area" must not be empty',
    ],
  },
  {
    what: 'types that are not there',
    text: `devices:
  - { id: a, type: metre, port: { path: /dev/a } }
  - { id: b, type: constructor, port: { path: /dev/b } }
  - { id: c, type: 5, port: { path: /dev/c } }
  - { id: d, type: co2, port: { path: /dev/d } }
`,
    faults: [
      'f:2:20: unknown device type "metre" (did you mean "meter"?)',
      'f:3:20: unknown device type "constructor" (`baudway types` lists them)',
      'f:4:20: "type" must be text, not 5',
    ],
  },
  {
    what: 'unknown keys of a device and of its own port',
    text: `devices:
  - id: a
    type: co2
    pol: 10s
    address: 5
    port:
      path: /dev/a
      baud: 9600
`,
    faults: [
      'f:4:5: unknown key "pol" (did you mean "poll"?)',
      'f:5:5: unknown key "address"',
      'f:8:7: unknown key "baud" (did you mean "baudRate"?)',
    ],
  },
  {
    what: 'faults in the keys of the type, at any depth',
    text: `devices:
  - { id: a, type: meter, port: { path: /dev/a }, model: sdm120 }
  - { id: b, type: meter, port: { path: /dev/b }, address: 248, model: sdm72 }
  - id: c
    type: relay
    port: { path: /dev/c }
    address: "4"
    relays:
      - { name: one, of: true }
      - off: true
      - two
`,
    faults: [
      'f:2:5: the key "address" is missing',
      'f:3:60: "address" must be at most 247, not 248',
      'f:3:72: "model" must be one of sdm120, sdm630, not "sdm72"',
      'f:7:14: "address" must be a whole number, not "4" (write 4 without quotes)',
      'f:9:22: unknown key "of" (did you mean "off"?)',
      'f:10:9: the key "name" is missing',
      'f:11:9: item 3 of "relays" must be a mapping, not "two"',
    ],
  },
  {
    what: 'times that are none, or make no sense',
    text: `devices:
  - { id: a, type: co2, port: { path: /dev/a }, poll: 10 }
  - { id: b, type: co2, port: { path: /dev/b }, poll: often }
  - { id: c, type: co2, port: { path: /dev/c }, poll: 1.5h }
  - { id: d, type: co2, port: { path: /dev/d }, poll: 1ms }
  - { id: e, type: co2, port: { path: /dev/e }, poll: 8d }
  - { id: f, type: co2, port: { path: /dev/f }, timeoutMs: 500, replyLatencyMaxMs: 400 }
  - { id: g, type: co2, port: { path: /dev/g }, replyLatencyMaxMs: 999 }
  - { id: h, type: co2, port: { path: /dev/h }, timeoutMs: 0, gapMs: -1 }
`,
    faults: [
      'f:2:55: "poll" must be a duration such as 10s or 1m, or off, not 10',
      'f:3:55: "poll" must be a duration such as 10s or 1m, or off, not "often"',
      'f:4:55: "poll" must be a duration such as 10s or 1m, or off, not "1.5h"',
      'f:5:55: "poll" must be between 10ms and 7d, not "1ms"',
      'f:6:55: "poll" must be between 10ms and 7d, not "8d"',
      'f:7:84: "replyLatencyMaxMs" must not be below "timeoutMs", 500',
      'f:8:68: "replyLatencyMaxMs" must not be below the timeout of the device type, 1000',
      'f:9:60: "timeoutMs" must be at least 1, not 0',
      'f:9:70: "gapMs" must be at least 0, not -1',
    ],
  },
  {
    what: 'retries of what may not be repeated',
    text: `devices:
  - { id: a, type: meter, port: { path: /dev/a }, address: 1, retries: 3 }
  - { id: b, type: relay, port: { path: /dev/b }, address: 1, retries: 2 }
  - { id: c, type: horn, port: { path: /dev/c }, address: x, retries: 1 }
  - { id: d, type: meter, port: { path: /dev/d }, address: 1, retries: 2 }
  - { id: e, type: relay, port: { path: /dev/e }, address: 1, retries: 1 }
`,
    faults: [
      'f:2:72: "retries" must be at most 2, not 3',
      'f:3:72: "retries" must be at most 1 here: this device has no reads, and a set is tried again once',
      'f:4:71: "retries" must be 0 here: no tool of this device may be repeated',
    ],
  },
  {
    what: 'tools to stop with that are not there',
    text: `devices:
  - id: a
    type: relay
    port: { path: /dev/a }
    address: 1
    stop:
      - set_relays
      - a__pulse_relay
      - b__pulse_relay
      - { tool: open, arguments: {} }
      - { arguments: {} }
      - 5
`,
    faults: [
      'f:7:9: unknown tool "set_relays": this device has none of that name (did you mean "set_relay"?)',
      'f:9:9: unknown tool "b__pulse_relay": this device has none of that name (did you mean "pulse_relay"?)',
      'f:10:17: unknown tool "open": this device has none of that name',
      'f:11:9: the key "tool" is missing',
      'f:12:9: item 6 of "stop" must be text or a mapping, not 5',
    ],
  },
  {
    what: 'names of tools that are too long',
    text: `devices:
  - id: a23456789_123456789_123456789_1
    type: text
    port: { path: /dev/a }
    tools:
      b23456789_123456789_123456789_1: { command: A, effect: set }
      c23456789_123456789_123456789_12: { command: A, effect: set }
`,
    faults: [
      'f:2:9: the tool name "a23456789_123456789_123456789_1__c23456789_123456789_123456789_12" has 65 characters; at most 64 are allowed (shorten the id, or the name behind it)',
    ],
  },
  {
    what: 'what the device type itself finds',
    text: `devices:
  - id: a
    type: text
    port: { path: /dev/a }
    tools:
      good: { command: A, effect: set }
      bad:
        command: BAD
        effect: act
  - { id: b, type: broken, port: { path: /dev/b } }
  - { id: c, type: text, port: { path: /dev/c }, tools: 5 }
  - { id: d, type: text, port: { path: /dev/d } }
`,
    faults: [
      'f:8:18: this command is bad',
      'f:10:5: the device type "broken" fails on this device: no frame today',
      // A type is not asked about options that do not fit its schema.
      'f:11:57: "tools" must be a mapping, not 5',
      'f:12:5: the key "tools" is missing',
    ],
  },
]

describe('invalid devices', () => {
  it.each(files)('names $what', expectFaults)
})
