/** The text of the test of a new file for a Modbus device. It is one text for both runners but for how they expect. */
import { contractTest, type TestWords } from './contract-test.ts'

export function modbusTestFile(words: TestWords): string {
  const { name, deviceFile, contract } = words
  const isTyped = deviceFile.endsWith('.ts')
  const isOwn = contract === undefined
  const text = isTyped ? 'text: string' : 'text'
  const equal = (got: string, wanted: string) =>
    isOwn ? `assert.deepEqual(${got}, ${wanted})` : `expect(${got}).toEqual(${wanted})`
  const head = isOwn
    ? `import assert from 'node:assert/strict'
import { test } from 'node:test'
import device from '${deviceFile}'
`
    : contractTest(words)
  return `${head}
const { framing, tools } = device.describe({ address: 1 })
const bytes = (${text}) => Buffer.from(text.replaceAll(' ', ''), 'hex')

/** What the frames in some bytes, given in hex, say to a read. */
function verdictsOf(${text}) {
  const frames${isTyped ? ': Uint8Array[]' : ''} = []
  const framer = framing.create({ frame: (frame) => frames.push(frame), error: () => {} })
  framer.push(bytes(text))
  return frames.map((frame) => tools.read_climate?.exchange?.({}).reply?.match(frame))
}

test('${name} asks as the manual says', () => {
  const request = tools.read_climate?.exchange?.({}).request ?? []
  ${equal('Buffer.from(request)', "bytes('01 04 00 00 00 02 71 cb')")}
})

test('${name} is asked at its address', () => {
  const { read_climate } = device.describe({ address: 7 }).tools
  const request = read_climate?.exchange?.({}).request ?? []
  ${equal('Buffer.from(request)', "bytes('07 04 00 00 00 02 71 ad')")}
})

test('${name} decodes the example of the manual', () => {
  const value = { temperature: 21.5, humidity: 44 }
  ${equal("verdictsOf('01 04 04 00 d7 01 b8 4a 5e')", "[{ kind: 'value', value }]")}
})

test('${name} takes neither a damaged frame nor the reply of another unit', () => {
  ${equal("verdictsOf('01 04 04 00 d7 01 b8 4a 5f')", '[]')}
  ${equal("verdictsOf('02 04 04 00 d7 01 b8 79 5e')", '[undefined]')}
})

test('${name} sets tenths of a degree', () => {
  const request = tools.set_setpoint?.exchange?.({ setpoint: 21.5 }).request ?? []
  ${equal('Buffer.from(request)', "bytes('01 06 00 04 00 d7 88 55')")}
})
`
}
