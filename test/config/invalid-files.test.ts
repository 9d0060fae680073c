/**
 * Files with faults, and where and how each fault is told. Lines and columns are counted by hand in the text, as an
 * editor shows them.
 */
import { describe, expect, it } from 'vitest'
import { formatFault } from '../../src/config/fault.ts'
import { parseConfiguration } from '../../src/config/load.ts'
import { fakeTypes } from './fake-types.ts'

interface InvalidFile {
  readonly what: string
  readonly text: string
  readonly faults: readonly string[]
}

const SECTIONS: readonly InvalidFile[] = [
  {
    what: 'an unknown key of the file',
    text: `http: {}
device: []
`,
    faults: ['f:2:1: unknown key "device" (did you mean "devices"?)'],
  },
  {
    what: 'an unknown key of http',
    text: `http:
  host: localhost
  adress: 1
`,
    faults: ['f:3:3: unknown key "adress"'],
  },
  {
    what: 'a key in the wrong case, in a flow mapping',
    text: 'ports: { bus1: { path: simulated, baudrate: 9600 } }',
    faults: ['f:1:35: unknown key "baudrate" (did you mean "baudRate"?)'],
  },
  {
    what: 'an unknown key of the scheduler',
    text: 'scheduler: { policy: batch, queue: 5 }',
    faults: ['f:1:29: unknown key "queue" (did you mean "queueLength"?)'],
  },
  {
    what: 'an unknown key of an interlock, of mqtt, of history, of mcp and of one of its paths',
    text: `never: [{ tool: "*", gap: 1 }]
mqtt: { url: "mqtt://h", user: me }
history: { keepDaily: 7d }
mcp: { paths: [{ path: { env: P }, token: t, role: admin }], path: x }
`,
    faults: [
      'f:1:22: unknown key "gap"',
      'f:2:26: unknown key "user" (did you mean "username"?)',
      'f:3:12: unknown key "keepDaily"',
      'f:4:46: unknown key "role"',
      'f:4:62: unknown key "path" (did you mean "paths"?)',
    ],
  },
  {
    what: 'sections of the wrong kind',
    text: `http: yes
ports:
  - a
devices: {}
never: 5
scheduler:
`,
    faults: [
      'f:1:7: "http" must be a mapping, not "yes"',
      'f:3:3: "ports" must be a mapping, not a list',
      'f:4:10: "devices" must be a list, not a mapping',
      'f:5:8: "never" must be a list, not 5',
      'f:6:1: "scheduler" must be a mapping, not empty',
    ],
  },
  {
    what: 'values outside of their bounds',
    text: `http: { port: 70000, allowedHosts: ["a:80", b.local], allowedOrigins: [https://a/b] }
scheduler: { policy: Batch, queueLength: 0 }
history: { keepRaw: 7, keep5min: 3 weeks, maxSize: 2gb }
`,
    faults: [
      'f:1:15: "port" must be at most 65535, not 70000',
      'f:1:37: item 1 of "allowedHosts" must be a host name or an address, without scheme and port, not "a:80"',
      'f:1:72: item 1 of "allowedOrigins" must be an origin such as https://panel.example or http://192.168.1.5:8080, without a path, not "https://a/b"',
      'f:2:22: "policy" must be one of partition, batch, resource, not "Batch" (did you mean "batch"?)',
      'f:2:42: "queueLength" must be at least 1, not 0',
      'f:3:21: "keepRaw" must be a duration such as 7d or 90d, or forever, not 7',
      'f:3:34: "keep5min" must be a duration such as 7d or 90d, or forever, not "3 weeks"',
      'f:3:52: "maxSize" must be a size such as 500MB or 2GB, not "2gb"',
    ],
  },
  {
    what: 'secrets that are none, without showing them',
    text: `mqtt:
  url: mqtt://me:hunter2@broker
  username: { env: A, file: B }
  password: 12345
mcp: { paths: [{ path: /mcp/hunter2, token: t }] }
`,
    faults: [
      'f:2:8: "url" must be a URL such as mqtt://127.0.0.1:1883; user name and password have keys of their own, not what stands there',
      'f:3:13: "username" takes at most one entry',
      'f:4:13: "password" must be text or a mapping, not what stands there',
      'f:5:24: "path" must be /mcp/ and 32 random bytes, as base64url (43 characters) or hexadecimal (64), not what stands there',
    ],
  },
]

const PORTS: readonly InvalidFile[] = [
  {
    what: 'a port without a path',
    text: `ports:
  bus1:
    baudRate: 9600
devices: [{ id: a, type: co2, port: bus1 }]
`,
    faults: ['f:2:3: the key "path" is missing'],
  },
  {
    what: 'line settings of the wrong kind',
    text: `ports:
  bus1:
    path: simulated
    baudRate: fast
    dataBits: 9
    stopBits: "1"
    parity: N
    rtscts: on
    hupcl: No
    echo: true
devices: [{ id: a, type: co2, port: bus1 }]
`,
    faults: [
      'f:4:15: "baudRate" must be a whole number, not "fast"',
      'f:5:15: "dataBits" must be one of 5, 6, 7, 8, not 9',
      'f:6:15: "stopBits" must be one of 1, 1.5, 2, not "1"',
      'f:7:13: "parity" must be one of none, even, odd, mark, space, not "N"',
      'f:8:13: "rtscts" must be true or false, not "on" (write true, without quotes)',
      'f:9:12: "hupcl" must be true or false, not "No" (write false, without quotes)',
      'f:10:11: "echo" must be one of auto, on, off, not true',
    ],
  },
  {
    what: 'a number in quotes',
    text: 'ports: { bus1: { path: simulated, baudRate: "9600" } }\ndevices: [{ id: a, type: co2, port: bus1 }]',
    faults: ['f:1:45: "baudRate" must be a whole number, not "9600" (write 9600 without quotes)'],
  },
  {
    what: 'names of ports that are no ids',
    text: `ports:
  Bus-1: { path: simulated }
  a_name_that_is_much_longer_than_it_may: { path: simulated }
devices:
  - { id: a, type: co2, port: Bus-1 }
  - { id: b, type: co2, port: a_name_that_is_much_longer_than_it_may }
`,
    faults: [
      'f:2:3: the key "Bus-1" must be lower-case letters and digits in words joined by single underscores, beginning with a letter ("bus_1" would do)',
      'f:3:3: the key "a_name_that_is_much_longer_than_it_may" has 38 characters; at most 31 are allowed ("a_name_that_is_much_longer_than" would do)',
    ],
  },
  {
    what: 'paths that are not serial devices',
    text: `ports:
  a: { path: "tcp://192.168.1.5:4001" }
  b: { path: "rfc2217://host:1" }
  c: { path: "modbus-tcp://host" }
  d: { path: "udp://host" }
  e: { path: "" }
devices:
  - { id: a1, type: co2, port: a }
  - { id: b1, type: co2, port: b }
  - { id: c1, type: co2, port: c }
  - { id: d1, type: co2, port: d }
  - { id: e1, type: co2, port: e }
`,
    faults: [
      'f:2:14: tcp:// is not supported by this version yet',
      'f:3:14: rfc2217:// is a reserved name: it is not supported by this version yet',
      'f:4:14: modbus-tcp:// is a reserved name: it is not supported by this version yet',
      'f:5:14: "udp://" is no kind of port (a serial device, or simulated)',
      'f:6:14: "path" must not be empty',
    ],
  },
  {
    what: 'one path twice, however it is spelled',
    text: `ports:
  bus1: { path: /dev/ttyAMA0 }
  bus2: { path: /dev/../dev//ttyAMA0 }
devices:
  - { id: a, type: co2, port: bus1 }
  - { id: b, type: co2, port: bus2 }
  - { id: c, type: co2, port: { path: /dev/ttyAMA0 } }
  - { id: d, type: co2, port: { path: /dev/ttyAMA1 } }
  - { id: e, type: co2, port: { path: /dev/ttyAMA1 } }
`,
    faults: [
      'f:3:17: port "bus1" has this path already (name port "bus1" instead)',
      'f:7:39: port "bus1" has this path already (name port "bus1" instead)',
      'f:9:39: the port of device "d" has this path already (give it an entry of "ports", and name that in both)',
    ],
  },
  {
    what: 'ports that are not there',
    text: `ports:
  bus1: { path: simulated }
devices:
  - { id: a, type: co2, port: bus2 }
  - { id: b, type: co2, port: /dev/ttyUSB0 }
  - { id: c, type: co2, port: simulated }
  - id: d
    type: co2
    port: garden
  - { id: e, type: co2, port: bus1 }
`,
    faults: [
      'f:4:31: unknown port "bus2" (did you mean "bus1"?)',
      'f:5:31: unknown port "/dev/ttyUSB0" (write port: { path: /dev/ttyUSB0 })',
      'f:6:31: unknown port "simulated" (write port: { path: simulated })',
      'f:9:11: unknown port "garden"',
    ],
  },
  {
    what: 'a port of its own whose name is taken',
    text: `ports:
  amp: { path: /dev/a }
devices:
  - { id: amp, type: co2, port: { path: /dev/b } }
  - { id: c, type: co2, port: amp }
`,
    faults: ['f:4:27: the port of this device would be called "amp", as an entry of "ports" is already'],
  },
  {
    what: 'devices that cannot share a port',
    text: `ports:
  bus1: { path: /dev/a, baudRate: 9600 }
  bus2: { path: /dev/b }
devices:
  - { id: a, type: meter, port: bus1, address: 7 }
  - { id: b, type: meter, port: bus1, address: 7 }
  - { id: c, type: co2, port: bus1 }
  - { id: d, type: horn, port: bus1, address: "9" }
  - { id: e, type: co2, port: bus2 }
  - { id: f, type: meter, port: bus2, address: 1 }
`,
    faults: [
      'f:6:48: address 7 of port "bus1" is taken by "a"',
      'f:7:31: "c" has no address, so it cannot share port "bus1" with "a"',
      'f:8:32: "d" frames its messages differently from "a" on port "bus1"',
      'f:10:33: port "bus2" is taken by "e", which has no address and cannot share it',
    ],
  },
  {
    what: 'a line setting that two types want differently',
    text: `ports:
  bus1:
    path: /dev/a
devices:
  - { id: a, type: meter, port: bus1, address: 1 }
  - { id: b, type: relay, port: bus1, address: 2 }
`,
    faults: ['f:2:3: port "bus1" must set "baudRate", since its devices differ: "a" has 9600, "b" has 19200'],
  },
]

const DEVICES: readonly InvalidFile[] = [
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
    what: 'types that are not there',
    text: `devices:
  - { id: a, type: metre, port: { path: /dev/a } }
  - { id: b, type: constructor, port: { path: /dev/b } }
  - { id: c, type: 5, port: { path: /dev/c } }
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
  - { id: b, type: co2, port: { path: /dev/b }, poll: off }
  - { id: c, type: co2, port: { path: /dev/c }, poll: 1.5h }
  - { id: d, type: co2, port: { path: /dev/d }, poll: 1ms }
  - { id: e, type: co2, port: { path: /dev/e }, poll: 8d }
  - { id: f, type: co2, port: { path: /dev/f }, timeoutMs: 500, replyLatencyMaxMs: 400 }
  - { id: g, type: co2, port: { path: /dev/g }, replyLatencyMaxMs: 999 }
  - { id: h, type: co2, port: { path: /dev/h }, timeoutMs: 0, gapMs: -1 }
`,
    faults: [
      'f:2:55: "poll" must be a duration such as 500ms, 10s, 1m, 2h or 7d, not 10',
      'f:3:55: "poll" must be a duration such as 500ms, 10s, 1m, 2h or 7d, not "off"',
      'f:4:55: "poll" must be a duration such as 500ms, 10s, 1m, 2h or 7d, not "1.5h"',
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
`,
    faults: [
      'f:8:18: this command is bad',
      'f:10:5: the device type "broken" fails on this device: no frame today',
    ],
  },
]

const TEXTS: readonly InvalidFile[] = [
  {
    what: 'an empty file',
    text: '',
    faults: ['f:1:1: the file is empty (a gateway without devices is written as {})'],
  },
  {
    what: 'a file of comments',
    text: '# nothing yet\n\n',
    faults: ['f:1:1: the file is empty (a gateway without devices is written as {})'],
  },
  { what: 'a list', text: '- a\n- b\n', faults: ['f:1:1: the configuration must be a mapping, not a list'] },
  {
    what: 'a word',
    text: '\nbaudway',
    faults: ['f:2:1: the configuration must be a mapping, not "baudway"'],
  },
  { what: 'null', text: 'null', faults: ['f:1:1: the configuration must be a mapping, not empty'] },
  {
    what: 'what is not YAML',
    text: 'devices: [{ id: a\nports: {}\n',
    faults: ['f:2:1'],
  },
  {
    what: 'a tab that indents',
    text: 'http:\n\thost: localhost\n',
    faults: ['f:2:1: a tab does not indent in YAML (use spaces)'],
  },
  {
    what: 'a key that is given twice',
    text: 'http: { port: 1 }\nnever: []\nhttp: { port: 2, host: localhost, port: 3 }\n',
    faults: ['f:3:1: the key "http" is given twice'],
  },
  {
    what: 'a key that is given twice further in, beside another fault',
    text: 'http:\n  port: 80\n  port: 81\n  pot: 82\n',
    faults: ['f:3:3: the key "port" is given twice', 'f:4:3: unknown key "pot" (did you mean "port"?)'],
  },
  {
    what: 'keys that reach for a prototype',
    text: '__proto__: { http: 1 }\nconstructor: 1\nports: { __proto__: { path: simulated }, constructor: { path: simulated } }\ndevices: [{ id: a, type: co2, port: constructor, __proto__: 1 }]',
    faults: [
      'f:1:1: the key "__proto__" is not allowed',
      'f:2:1: unknown key "constructor"',
      'f:3:10: the key "__proto__" is not allowed',
      'f:4:50: the key "__proto__" is not allowed',
    ],
  },
  {
    what: 'a second document',
    text: 'http: {}\n---\nports: {}\n',
    faults: ['f:2:1: a second document begins here; a file holds one'],
  },
  {
    what: 'a tag',
    text: 'state: /a\nmqtt: { url: !secret broker }\n',
    faults: [
      'f:2:14: tags such as !secret are not known here: Unresolved tag: !secret (a secret is written as { env: NAME } or { file: PATH })',
    ],
  },
  {
    what: 'a key that is no text',
    text: 'http: { [1]: 2 }\n',
    faults: ['f:1:9: a key must be plain text'],
  },
  {
    what: 'merge keys, which YAML 1.2 does not have',
    text: 'ports:\n  a: &line { path: simulated }\n  b: { <<: *line }\ndevices: [{ id: c, type: co2, port: a }, { id: d, type: co2, port: b }]',
    faults: ['f:3:3: the key "path" is missing', 'f:3:8: unknown key "<<"'],
  },
  {
    what: 'aliases of nothing and of themselves',
    text: 'http: { port: *nothing }\nports: &all { a: *all }\n',
    faults: [
      'f:1:15: nothing above is marked as "&nothing"',
      'f:2:18: "*all" stands inside what it stands for',
    ],
  },
  {
    what: 'a fault under an anchor, once however often it is used',
    text: `devices:
  - { id: a, type: relay, address: 1, port: &line { path: /dev/a, echo: loud }, relays: &all [{ nme: x }] }
  - { id: b, type: relay, address: 1, port: { path: /dev/b }, relays: *all }
`,
    faults: [
      'f:2:73: "echo" must be one of auto, on, off, not "loud"',
      'f:2:95: the key "name" is missing',
      'f:2:97: unknown key "nme" (did you mean "name"?)',
    ],
  },
  {
    what: 'a wrong alias, where it is used',
    text: 'http: { host: &h localhost }\nscheduler: { queueLength: *h }\n',
    faults: ['f:2:27: "queueLength" must be a whole number, not "localhost"'],
  },
  {
    what: 'numbers that are none',
    text: 'http: { port: .inf }\nscheduler: { queueLength: 1e999 }\n',
    faults: [
      'f:1:15: Infinity is not a number that can be used here',
      'f:2:27: Infinity is not a number that can be used here',
    ],
  },
  {
    what: 'a control character',
    text: 'http:\n  host: local\u0000host\n',
    faults: [
      'f:2:14: the control character U+0000 may not stand in a file (write "\\r" and the like as escapes)',
    ],
  },
  {
    what: 'lines that end in CR and LF',
    text: 'http:\r\n  port: 80\r\n  hots: a\r\n',
    faults: ['f:3:3: unknown key "hots" (did you mean "host"?)'],
  },
  {
    what: 'a byte order mark before the fault',
    text: '\ufeffhtpt: {}\n',
    faults: ['f:1:1: unknown key "htpt" (did you mean "http"?)'],
  },
  {
    what: 'letters of more than one byte before the fault',
    text: 'devices: [{ name: Küche 🏠, id: a, type: co2, port: { path: /dev/a }, pol: 1s }]',
    faults: ['f:1:71: unknown key "pol" (did you mean "poll"?)'],
  },
]

/** Every fault, printed. An expectation without a message stands for any message at that place. */
function printed(text: string, expected: readonly string[]): string[] {
  const { faults, configuration } = parseConfiguration(text, 'f', fakeTypes)
  expect(configuration === undefined).toBe(faults.length > 0)
  return faults.map((fault, index) => {
    const place = `${fault.file}:${fault.line}:${fault.column}`
    return expected[index] === place ? place : formatFault(fault)
  })
}

describe.each([
  ['sections', SECTIONS],
  ['ports', PORTS],
  ['devices', DEVICES],
  ['the text', TEXTS],
])('faults of %s', (_, files) => {
  it.each(files)('names $what', ({ text, faults }) => {
    expect(printed(text, faults)).toEqual(faults)
  })
})
