/** The text of the test of a new device file: what the bytes of the manual mean. */
import { contractTest, type TestWords } from './contract-test.ts'

export function testFile(words: TestWords): string {
  return words.contract === undefined ? own(words) : inCheckout(words)
}

function own({ name, deviceFile }: TestWords): string {
  const isTyped = deviceFile.endsWith('.ts')
  return `import assert from 'node:assert/strict'
import { test } from 'node:test'
import device from '${deviceFile}'

const { framing, tools } = device.describe(device.sample)

/** What the frames in a text say to a read. */
const verdictsOf = (${isTyped ? 'text: string' : 'text'}) => {
  const verdicts${isTyped ? ': unknown[]' : ''} = []
  const match = (${isTyped ? 'frame: Uint8Array' : 'frame'}) => tools.read_temperature?.exchange?.({}).reply?.match(frame)
  const framer = framing.create({ frame: (frame) => verdicts.push(match(frame)), error: () => {} })
  framer.push(Buffer.from(text))
  return verdicts
}

test('${name} asks as the manual says', () => {
  const request = tools.read_temperature?.exchange?.({}).request ?? []
  assert.equal(Buffer.from(request).toString('latin1'), 'T?\\r\\n')
})

test('${name} decodes the example of the manual', () => {
  assert.deepEqual(verdictsOf('T=21.5\\r\\n'), [{ kind: 'value', value: { temperature: 21.5 } }])
})

test('${name} takes neither half a line nor the reply to something else', () => {
  assert.deepEqual(verdictsOf('T=21.'), [])
  assert.deepEqual(verdictsOf('H=44.0\\r\\n'), [undefined])
})
`
}

function inCheckout(words: TestWords): string {
  const { name } = words
  return `${contractTest(words)}
const { framing, tools } = device.describe(device.sample)

function verdictsOf(text: string) {
  const frames: Uint8Array[] = []
  const framer = framing.create({ frame: (frame) => frames.push(frame), error: () => {} })
  framer.push(Buffer.from(text))
  return frames.map((frame) => tools.read_temperature?.exchange?.({}).reply?.match(frame))
}

test('${name} asks as the manual says', () => {
  const request = tools.read_temperature?.exchange?.({}).request ?? []
  expect(Buffer.from(request).toString('latin1')).toBe('T?\\r\\n')
})

test('${name} decodes the example of the manual', () => {
  expect(verdictsOf('T=21.5\\r\\n')).toEqual([{ kind: 'value', value: { temperature: 21.5 } }])
})

test('${name} takes neither half a line nor the reply to something else', () => {
  expect(verdictsOf('T=21.')).toEqual([])
  expect(verdictsOf('H=44.0\\r\\n')).toEqual([undefined])
})
`
}
