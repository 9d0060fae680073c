/**
 * Lines of text, cut as bytes. The cutting is `@serialport/parser-readline`; around it stand the three things that
 * it does not have: a length limit, terminators of any kind, and prompts. The parser is a stream, but one that works
 * inside `write` and gives its lines to `read`, so every frame comes out before `push` returns.
 */
import { ReadlineParser } from '@serialport/parser-readline'
import { assert } from '../../errors.ts'
import { LINE_BYTES_MAX } from '../../limits.ts'
import type { Framer, FrameSink } from '../framing.ts'
import { ANY_SHAPE } from '../reply.ts'
import type { TraitedFraming } from './traits.ts'

export type Terminator = 'auto' | '\r' | '\n' | '\r\n'

export interface LineOptions {
  /** `auto` takes CR, LF and CRLF, mixed as they come. */
  readonly terminator: Terminator
  /**
   * Ends a frame without a terminator, wherever it stands: it must be text that no line contains, and holds neither
   * CR nor LF. The frame is what came before it; a prompt with nothing before it is a frame of length 0, which is
   * how a device that answers with its prompt alone says that it is done.
   */
  readonly prompt?: string
  /** The longest line, in bytes without its terminator; a longer one is dropped whole. */
  readonly lengthMax?: number
}

const CR = 0x0d
const LF = 0x0a

/** Frames are lines without their terminator. Empty lines are dropped; only a prompt makes a frame of length 0. */
export function lines(options: LineOptions): TraitedFraming {
  const { terminator, lengthMax = LINE_BYTES_MAX } = options
  const prompt = Buffer.from(options.prompt ?? '')
  assert(lengthMax > 0, 'lines: a line has at least one byte')
  assert(!prompt.includes(CR) && !prompt.includes(LF), 'lines: a prompt holds no line end')
  return {
    key: `lines:${JSON.stringify([terminator, options.prompt ?? '', lengthMax])}`,
    frameLengthMax: lengthMax + terminator.length + prompt.length,
    silenceEndsFrame: false,
    shape: ANY_SHAPE,
    checked: false,
    create: (sink) => {
      const cutter = new LineCutter(terminator === 'auto' ? '\n' : terminator, lengthMax, sink)
      const cut = prompt.length === 0 ? cutter : new PromptCutter(cutter, prompt)
      return terminator === 'auto' ? lineFeedsOnly(cut) : cut
    },
  }
}

/** CR becomes LF. The second half of a CRLF then is an empty line, and those are dropped. */
function lineFeedsOnly(next: Framer): Framer {
  return {
    push(chunk) {
      if (!chunk.includes(CR)) return next.push(chunk)
      next.push(chunk.map((byte) => (byte === CR ? LF : byte)))
    },
    idle: () => next.idle(),
    reset: () => next.reset(),
    get held() {
      return next.held
    },
  }
}

/** The parser and its length guard. */
class LineCutter implements Framer {
  readonly #delimiter: Buffer
  readonly #lengthMax: number
  readonly #sink: FrameSink
  #parser: ReadlineParser
  /** In a line that was too long: what the parser gives next is its end, no line. */
  #dropping = false

  constructor(delimiter: string, lengthMax: number, sink: FrameSink) {
    this.#delimiter = Buffer.from(delimiter)
    this.#lengthMax = lengthMax
    this.#sink = sink
    this.#parser = this.#freshParser()
  }

  /** Fed in pieces that cannot complete a line that is too long, whatever the size of the chunk. */
  push(chunk: Uint8Array): void {
    const heldMax = this.#lengthMax + this.#delimiter.length
    let offset = 0
    while (offset < chunk.length) {
      const piece = chunk.subarray(offset, offset + heldMax - this.held)
      offset += piece.length
      this.#write(piece)
      for (let line = this.#read(); line !== undefined; line = this.#read()) this.#take(line, false)
      if (this.held >= heldMax) this.#overflow()
    }
  }

  /** Ends the line that is held, as a prompt does. */
  endLine(): void {
    // Without the prompt a CR at the end of the longest line might still have been half of its terminator.
    if (this.held > this.#lengthMax) this.#overflow()
    this.#write(this.#delimiter)
    const line = this.#read()
    if (line !== undefined) this.#take(line, true)
  }

  idle(): void {
    const length = this.held
    this.reset()
    if (length > 0) this.#sink.error('junk', length)
  }

  reset(): void {
    this.#dropping = false
    this.#parser = this.#freshParser()
  }

  get held(): number {
    return this.#parser.buffer.length
  }

  #take(line: Uint8Array, evenEmpty: boolean): void {
    if (this.#dropping) {
      this.#dropping = false
      if (line.length > 0) this.#sink.error('junk', line.length)
    } else if (line.length > 0 || evenEmpty) {
      this.#sink.frame(line)
    }
  }

  /** The parser holds more than a line and no terminator. A CR at its end may still be half of one. */
  #overflow(): void {
    const keepsCr = this.#delimiter.length === 2 && this.#parser.buffer.at(-1) === CR
    this.#sink.error(this.#dropping ? 'junk' : 'overflow', this.held - (keepsCr ? 1 : 0))
    this.#parser = this.#freshParser()
    this.#dropping = true
    if (keepsCr) this.#write(this.#delimiter.subarray(0, 1))
  }

  /** latin1 keeps every byte as it is; object mode keeps lines apart, and empty ones. */
  #freshParser(): ReadlineParser {
    return new ReadlineParser({ delimiter: this.#delimiter, encoding: 'latin1', readableObjectMode: true })
  }

  /** The parser keeps the chunk, so it gets a copy. */
  #write(bytes: Uint8Array): void {
    this.#parser.write(Buffer.from(bytes))
  }

  #read(): Uint8Array | undefined {
    const line: string | null = this.#parser.read()
    return line === null ? undefined : Uint8Array.from(Buffer.from(line, 'latin1'))
  }
}

/** Finds prompts, and holds back a prompt that has come in part. */
class PromptCutter implements Framer {
  readonly #cutter: LineCutter
  readonly #prompt: Buffer
  #heldBack: Uint8Array = new Uint8Array(0)

  constructor(cutter: LineCutter, prompt: Buffer) {
    this.#cutter = cutter
    this.#prompt = prompt
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.concat([this.#heldBack, chunk])
    let offset = 0
    for (;;) {
      const found = bytes.indexOf(this.#prompt, offset)
      if (found === -1) break
      this.#cutter.push(bytes.subarray(offset, found))
      this.#cutter.endLine()
      offset = found + this.#prompt.length
    }
    const rest = bytes.subarray(offset)
    const partial = this.#partialPromptLength(rest)
    this.#cutter.push(rest.subarray(0, rest.length - partial))
    this.#heldBack = new Uint8Array(rest.subarray(rest.length - partial))
  }

  idle(): void {
    this.#cutter.push(this.#heldBack)
    this.#heldBack = new Uint8Array(0)
    this.#cutter.idle()
  }

  reset(): void {
    this.#heldBack = new Uint8Array(0)
    this.#cutter.reset()
  }

  get held(): number {
    return this.#cutter.held + this.#heldBack.length
  }

  /** How many bytes at the end are the beginning of a prompt. */
  #partialPromptLength(bytes: Buffer): number {
    for (let length = Math.min(bytes.length, this.#prompt.length - 1); length > 0; length -= 1) {
      if (bytes.subarray(bytes.length - length).equals(this.#prompt.subarray(0, length))) return length
    }
    return 0
  }
}
