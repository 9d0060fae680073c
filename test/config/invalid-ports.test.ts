/** Ports that cannot be, and devices that cannot be on them. Lines and columns are counted by hand, as an editor shows them. */
import { describe, it } from 'vitest'
import { expectFaults, type InvalidFile } from './invalid-file.ts'

const files: readonly InvalidFile[] = [
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

describe('invalid ports', () => {
  it.each(files)('names $what', expectFaults)
})
