import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type LineOptions, lines } from '../../../src/port/framer/lines.ts'
import type { FrameErrorKind } from '../../../src/port/framing.ts'

function cut(options: LineOptions) {
  const frames: string[] = []
  const errors: { kind: FrameErrorKind; length: number }[] = []
  const framer = lines(options).create({
    frame: (frame) => frames.push(Buffer.from(frame).toString('latin1')),
    error: (kind, length) => errors.push({ kind, length }),
  })
  return { frames, errors, framer, push: (text: string) => framer.push(Buffer.from(text, 'latin1')) }
}

describe('terminators', () => {
  test('auto takes CR, LF and CRLF as they come', () => {
    const { frames, push } = cut({ terminator: 'auto' })
    push('one\rtwo\nthree\r\nfour\r')
    push('\nfive\n')
    expect(frames).toEqual(['one', 'two', 'three', 'four', 'five'])
  })

  // The modem that "timed out" though it answered (zabsalahid/serialport-gsm issue 82).
  test('blank lines before, between and behind are dropped', () => {
    const { frames, push } = cut({ terminator: 'auto' })
    push('\r\n+CPIN: READY\r\n\r\nOK\r\n')
    expect(frames).toEqual(['+CPIN: READY', 'OK'])
  })

  test('CR alone leaves LF in the line', () => {
    const { frames, push } = cut({ terminator: '\r' })
    push('PWON\rMV\n80\r')
    expect(frames).toEqual(['PWON', 'MV\n80'])
  })

  test('CRLF leaves a lone CR and a lone LF in the line, also across chunks', () => {
    const { frames, push } = cut({ terminator: '\r\n' })
    push('a\rb\nc\r')
    expect(frames).toEqual([])
    push('\nd\r\n')
    expect(frames).toEqual(['a\rb\nc', 'd'])
  })
})

describe('frames', () => {
  test('come out before push returns, however many a chunk holds', () => {
    const { frames, push } = cut({ terminator: '\n' })
    push('line\n'.repeat(200))
    expect(frames).toHaveLength(200)
  })

  test('keep every byte as it came, above 7F too', () => {
    const { frames, push } = cut({ terminator: '\n' })
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => byte !== 10))
    push(`${all.toString('latin1')}\n`)
    expect(frames).toEqual([all.toString('latin1')])
  })

  test('that are not ended are held, and dropped as junk in silence', () => {
    const { frames, errors, framer, push } = cut({ terminator: 'auto' })
    push('OK 21.5')
    expect(framer.held).toBe(7)
    framer.idle()
    push('OK\n')
    expect(frames).toEqual(['OK'])
    expect(errors).toEqual([{ kind: 'junk', length: 7 }])
  })

  test('do not outlive a reset', () => {
    const { frames, errors, framer, push } = cut({ terminator: 'auto' })
    push('half')
    framer.reset()
    push('whole\n')
    expect(frames).toEqual(['whole'])
    expect(errors).toEqual([])
  })

  test('are the receiver’s to keep', () => {
    const kept: Uint8Array[] = []
    const framer = lines({ terminator: '\n' }).create({ frame: (frame) => kept.push(frame), error: () => {} })
    const chunk = Buffer.from('first\nsec')
    framer.push(chunk)
    chunk.fill(0)
    framer.push(Buffer.from('ond\n'))
    expect(kept.map((frame) => Buffer.from(frame).toString())).toEqual(['first', 'second'])
  })
})

describe('a line that is too long', () => {
  test('is dropped whole up to its end, and the next one is read', () => {
    const { frames, errors, push } = cut({ terminator: 'auto', lengthMax: 8 })
    push('12345678\r\n123456789\r\nfine\r\n')
    expect(frames).toEqual(['12345678', 'fine'])
    expect(errors).toEqual([{ kind: 'overflow', length: 9 }])
  })

  test('counts as one overflow however long it is', () => {
    const { frames, errors, framer, push } = cut({ terminator: '\r\n', lengthMax: 8 })
    for (let index = 0; index < 1000; index += 1) push('U\r')
    push('\nfine\r\n')
    expect(frames).toEqual(['fine'])
    expect(errors.filter(({ kind }) => kind === 'overflow')).toHaveLength(1)
    expect(errors.every(({ kind }) => kind === 'overflow' || kind === 'junk')).toBe(true)
    expect(framer.held).toBe(0)
  })

  // A device at another baud rate, without a terminator for ever: the parser alone takes half a minute for this.
  test('costs a bounded time when it never ends', () => {
    const { frames, framer } = cut({ terminator: 'auto' })
    const chunk = Buffer.alloc(64, 0x55)
    const start = performance.now()
    for (let index = 0; index < 60_000; index += 1) framer.push(chunk)
    expect(performance.now() - start).toBeLessThan(8_000)
    expect(framer.held).toBeLessThanOrEqual(1024)
    expect(frames).toEqual([])
  })
})

describe('a prompt', () => {
  test('ends a reply that has no terminator', () => {
    const { frames, push } = cut({ terminator: 'auto', prompt: ':' })
    push('PWR=01:')
    expect(frames).toEqual(['PWR=01'])
  })

  test('with nothing before it is a frame of length 0', () => {
    const { frames, push } = cut({ terminator: 'auto', prompt: ':' })
    push('PWR=01\r:')
    push(':')
    expect(frames).toEqual(['PWR=01', '', ''])
  })

  test('is found when it comes in pieces', () => {
    const { frames, framer, push } = cut({ terminator: 'auto', prompt: '> ' })
    push('AT\r\n>')
    expect(frames).toEqual(['AT'])
    expect(framer.held).toBe(1)
    push(' ok\r\n')
    expect(frames).toEqual(['AT', '', 'ok'])
  })

  test('that is not completed is part of the line', () => {
    const { frames, push } = cut({ terminator: 'auto', prompt: '> ' })
    push('a>')
    push('b\r\n')
    expect(frames).toEqual(['a>b'])
  })

  test('begun and not continued is dropped as junk in silence', () => {
    const { frames, errors, framer, push } = cut({ terminator: 'auto', prompt: '> ' })
    push('ab>')
    framer.idle()
    expect(framer.held).toBe(0)
    push('c\n')
    expect(frames).toEqual(['c'])
    expect(errors).toEqual([{ kind: 'junk', length: 3 }])
  })

  test('ends a line that is too long as well', () => {
    const { frames, push } = cut({ terminator: 'auto', prompt: '#', lengthMax: 4 })
    push('123456789#ok#')
    expect(frames).toEqual(['ok'])
  })

  test('ends no line that is one byte too long, though a CR at its end could have been half of a CRLF', () => {
    const { frames, errors, push } = cut({ terminator: '\r\n', prompt: '#', lengthMax: 4 })
    push('1234#12345#1234\r#ok#')
    expect(frames).toEqual(['1234', 'ok'])
    expect(errors.map(({ kind }) => kind)).toEqual(['overflow', 'overflow', 'junk'])
  })
})

describe('any bytes in any chunks', () => {
  const alphabet = fc.constantFrom('a', 'b', '\r', '\n', '>', ' ', '\xb3')
  const text = fc.array(alphabet, { maxLength: 80 }).map((characters) => characters.join(''))
  const options = fc.record(
    {
      terminator: fc.constantFrom('auto' as const, '\r' as const, '\n' as const, '\r\n' as const),
      prompt: fc.constantFrom('>', '> ', '>>a'),
      lengthMax: fc.constantFrom(1, 3, 8, 1024),
    },
    { requiredKeys: ['terminator'] },
  )
  const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 })

  test('give the same lines, hold a bounded number of bytes and lose none uncounted', () => {
    fc.assert(
      fc.property(text, options, sizes, (input, given, pieces) => {
        const whole = cut(given)
        whole.push(input)
        const parts = cut(given)
        for (let offset = 0, turn = 0; offset < input.length; turn += 1) {
          const size = pieces[turn % pieces.length] ?? 1
          parts.push(input.slice(offset, offset + size))
          offset += size
          expect(parts.framer.held).toBeLessThanOrEqual(lines(given).frameLengthMax)
        }
        expect(parts.frames).toEqual(whole.frames)
        expect(parts.errors.filter(({ kind }) => kind === 'overflow')).toEqual(
          whole.errors.filter(({ kind }) => kind === 'overflow'),
        )
        expect(parts.framer.held).toBe(whole.framer.held)
      }),
      { numRuns: 500 },
    )
  })

  test('without a prompt are the lines that splitting the text gives', () => {
    fc.assert(
      fc.property(text, (input) => {
        const { frames, push } = cut({ terminator: 'auto' })
        push(input)
        const expected = input.split(/[\r\n]/).slice(0, -1)
        expect(frames).toEqual(expected.filter((line) => line !== ''))
      }),
    )
  })
})

test('framings with equal options have equal keys', () => {
  expect(lines({ terminator: 'auto' }).key).toBe(lines({ terminator: 'auto' }).key)
  expect(lines({ terminator: 'auto' }).key).not.toBe(lines({ terminator: '\r' }).key)
  expect(lines({ terminator: 'auto' }).key).not.toBe(lines({ terminator: 'auto', prompt: '>' }).key)
})

test('a prompt that holds a line end is refused', () => {
  expect(() => lines({ terminator: 'auto', prompt: '\r\n#' })).toThrow('prompt')
})
