/** The sections of a file, each key of which may be wrong. Lines and columns are counted by hand, as an editor shows them. */
import { describe, it } from 'vitest'
import { expectFaults, type InvalidFile } from './invalid-file.ts'

const files: readonly InvalidFile[] = [
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

describe('invalid sections', () => {
  it.each(files)('names $what', expectFaults)
})
