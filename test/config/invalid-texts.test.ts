/** Texts that are no configuration at all, or nearly. Lines and columns are counted by hand, as an editor shows them. */
import { describe, it } from 'vitest'
import { expectFaults, type InvalidFile } from './invalid-file.ts'

const files: readonly InvalidFile[] = [
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

describe('invalid texts', () => {
  it.each(files)('names $what', expectFaults)
})
