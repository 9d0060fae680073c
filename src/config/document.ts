/**
 * A configuration's text as plain data that knows its places. Whatever the text is, the outcome is data or faults:
 * the depth is bounded before the YAML library recurses into it, and aliases are counted before anything walks them.
 */
import { Composer, type CST, type Document, isScalar, Lexer, LineCounter, Parser, type YAMLError } from 'yaml'
import { JSON_DEPTH_MAX } from '../limits.ts'
import { escaped } from './fault.ts'
import type { LocatedEntry } from './position.ts'
import { convertNode, type TextFault } from './yaml-node.ts'

export interface ParsedText {
  /** Undefined where faults leave no data worth checking. */
  readonly root: LocatedEntry | undefined
  readonly faults: readonly TextFault[]
  /** Of an offset, which may be off the end of the text; both count from 1. */
  position(offset: number): { readonly line: number; readonly column: number }
}

/** The library goes on after an error, and most of what it then finds follows from it. */
const SYNTAX_FAULTS_MAX = 20
const MESSAGE_LENGTH_MAX = 160

export function parseText(text: string): ParsedText {
  const lines = linesOf(text)
  const position = (offset: number) => {
    const { line, col } = lines.linePos(Math.min(Math.max(0, offset), text.length))
    return { line, column: col }
  }
  const refuse = (faults: readonly TextFault[]) => ({ root: undefined, faults, position })

  const control = controlCharacter(text)
  if (control) return refuse([control])
  const composed = compose(text)
  if ('fault' in composed) return refuse([composed.fault])
  const { documents } = composed
  const errors = documents.flatMap((document) => [...document.errors, ...document.warnings])
  if (errors.length > 0) return refuse(syntaxFaults(errors))
  const [document, second] = documents
  if (second) return refuse([fault(second.range[0], 'a second document begins here; a file holds one')])
  const contents = document?.contents
  if (!contents || (isScalar(contents) && contents.value === null && contents.source === '')) {
    return refuse([fault(0, 'the file is empty', 'a gateway without devices is written as {}')])
  }
  return { ...convertNode(contents), position }
}

function fault(offset: number, message: string, hint?: string): TextFault {
  return hint === undefined ? { offset, pointer: '', message } : { offset, pointer: '', message, hint }
}

function linesOf(text: string): LineCounter {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) lines.addNewLine(end + 1)
  return lines
}

/** YAML allows none of them as such, and the library uses some as marks of its own. */
function controlCharacter(text: string): TextFault | undefined {
  for (let offset = 0; offset < text.length; offset += 1) {
    const code = text.charCodeAt(offset)
    const isAllowed = (code >= 0x20 && code !== 0x7f) || code === 0x09 || code === 0x0a || code === 0x0d
    if (isAllowed) continue
    const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    return fault(
      offset,
      `the control character ${name} may not stand in a file`,
      'write "\\r" and the like as escapes',
    )
  }
  return undefined
}

type Composed = { readonly documents: readonly Document.Parsed[] } | { readonly fault: TextFault }

/**
 * The library composes by recursion and its stack overflow is not always one that can be caught, so the depth is
 * watched while its parser, which does not recurse, takes the text apart. Equal keys are found in `convertNode`,
 * since the library compares each key with each.
 */
function compose(text: string): Composed {
  const parser = new Parser()
  const tokens: CST.Token[] = []
  let errorCount = 0
  for (const lexeme of new Lexer().lex(text)) {
    const { offset } = parser
    for (const token of parser.next(lexeme)) {
      tokens.push(token)
      if (token.type === 'error') errorCount += 1
    }
    if (parser.stack.length > STACK_LENGTH_MAX) {
      return { fault: fault(offset, `nested more than ${JSON_DEPTH_MAX} levels deep`) }
    }
    // What follows is not told anyway, and a megabyte of errors takes its time.
    if (errorCount > SYNTAX_FAULTS_MAX) break
  }
  tokens.push(...parser.end())
  const composer = new Composer({
    schema: 'core',
    stringKeys: true,
    uniqueKeys: false,
    resolveKnownTags: false,
    logLevel: 'error',
  })
  return { documents: [...composer.compose(tokens, true, text.length)] }
}

/** The document and one scalar stand on the parser's stack beside the collections. */
const STACK_LENGTH_MAX = JSON_DEPTH_MAX + 2

function syntaxFaults(errors: readonly YAMLError[]): TextFault[] {
  const byOffset = new Map<number, YAMLError>()
  for (const error of errors) {
    if (!byOffset.has(error.pos[0])) byOffset.set(error.pos[0], error)
  }
  const faults = [...byOffset.values()].toSorted((one, other) => one.pos[0] - other.pos[0]).map(syntaxFault)
  const [next] = faults.splice(SYNTAX_FAULTS_MAX)
  if (next) faults.push(fault(next.offset, 'and more from here on'))
  return faults
}

function syntaxFault({ code, message, pos }: YAMLError): TextFault {
  switch (code) {
    case 'TAB_AS_INDENT':
      return fault(pos[0], 'a tab does not indent in YAML', 'use spaces')
    case 'NON_STRING_KEY':
      return fault(pos[0], 'a key must be plain text')
    case 'TAG_RESOLVE_FAILED':
      return fault(
        pos[0],
        `tags such as !secret are not known here: ${firstLine(message)}`,
        'a secret is written as { env: NAME } or { file: PATH }',
      )
    default:
      return fault(pos[0], `not valid YAML: ${firstLine(message)}`)
  }
}

/** The library quotes the text as it stands there. */
function firstLine(message: string): string {
  const line = escaped(message.split('\n', 1)[0] ?? '')
  return line.length > MESSAGE_LENGTH_MAX ? `${line.slice(0, MESSAGE_LENGTH_MAX)}…` : line
}
