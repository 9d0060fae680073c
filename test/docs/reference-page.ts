/**
 * The lists of docs/reference.md and docs/errors.md, made from the code. A page keeps each of them between two
 * comments, `<!-- begin NAME -->` and `<!-- end NAME -->`; what stands around them is written by hand.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMANDS } from '../../src/cli/commands.ts'
import { usageLine } from '../../src/cli/help.ts'
import type { ConfigurableType, ConfigurableTypes } from '../../src/config/configurable-type.ts'
import { DEFERRED_KEYS } from '../../src/config/deferred-keys.ts'
import { jsonSchema } from '../../src/config/schema.ts'
import { ERRORS, type OutcomeRule, type RetryRule } from '../../src/errors.ts'
import { ROOT } from './pages.ts'

/** The page with its lists made anew. Throws for a list that the page does not have, and for one it has too many. */
export function withLists(text: string, lists: Readonly<Record<string, string>>): string {
  const known = new Set(Object.keys(lists))
  const made = text.replaceAll(
    /(<!-- begin ([a-z-]+) -->\n)[\s\S]*?(<!-- end \2 -->)/g,
    (_, begin: string, name: string, end: string) => {
      const list = lists[name]
      if (list === undefined) throw new Error(`there is no list "${name}"`)
      known.delete(name)
      return `${begin}\n${list}\n\n${end}`
    },
  )
  if (known.size > 0) throw new Error(`the page has no place for ${[...known].join(', ')}`)
  return made
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

const OUTCOME_WORDS: Readonly<Record<OutcomeRule, string>> = {
  not_executed: '`not_executed`',
  unknown: '`unknown`',
  unknown_if_sent: '`unknown` once a byte had left, else `not_executed`',
  unknown_unless_read: '`not_executed` for a `read`, else `unknown`',
  not_executed_if_proven: '`not_executed` if the refusal proves it, else `unknown`',
}

const RETRY_WORDS: Readonly<Record<RetryRule, string>> = {
  yes: 'yes',
  no: 'no',
  if_read: 'if `read`',
  if_set: 'if `set`',
}

export function errorCodes(): string {
  return table(
    ['code', 'outcome', 'retryable', 'when'],
    Object.entries(ERRORS).map(([code, { outcome, retryable, when }]) => [
      `\`${code}\``,
      OUTCOME_WORDS[outcome],
      RETRY_WORDS[retryable],
      when,
    ]),
  )
}

/** The kinds of problem documents, from the one table in which the transport has them. */
export function problemKinds(): string {
  const source = readFileSync(join(ROOT, 'src/transport/http/problem.ts'), 'utf8')
  const [, list = ''] = /const PROBLEMS = \{\n([\s\S]*?)\n\}/.exec(source) ?? []
  const rows = Array.from(
    list.matchAll(/^ {2}'?([a-z-]+)'?: \{ status: ([0-9]{3}), title: '([^']+)' \},?$/gm),
    ([, kind = '', status = '', title = '']) => [status, `\`${kind}\``, title] as const,
  )
  if (rows.length !== list.trim().split('\n').length) throw new Error('problem.ts is not read whole')
  return table(
    ['status', 'kind', 'title'],
    rows.toSorted(([one], [other]) => Number(one) - Number(other)),
  )
}

interface Operation {
  readonly summary?: string
  readonly security?: readonly { readonly token?: readonly string[] }[]
}

/** The part of an OpenAPI document that is shown. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export function routes({ paths }: ApiDocument): string {
  const sorted = Object.entries(paths).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const operations = sorted.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary = '', security = [] }]) => [
      `\`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}\``,
      security.flatMap(({ token = [] }) => token).join(', ') || 'none',
      summary,
    ]),
  )
  return table(['route', 'role', 'does'], operations)
}

/** What the library counts of the process by itself depends on the host and on the version of Node.js. */
const OF_THE_PROCESS = /^baudway_(?:process|nodejs)_/

/** From the text that Prometheus reads. */
export function metrics(text: string): string {
  const types = new Map(Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name, type]) => [name, type]))
  const own = Array.from(
    text.matchAll(/^# HELP (\S+) (.*)$/gm),
    ([, name = '', help = '']) => [name, help] as const,
  ).filter(([name]) => !OF_THE_PROCESS.test(name))
  return table(
    ['metric', 'kind', 'says'],
    own.map(([name, help]) => [`\`${name}\``, types.get(name) ?? '', help]),
  )
}

export async function commands(): Promise<string> {
  const sections = await Promise.all(
    COMMANDS.map(async ({ name, summary, load }) => {
      const command = await load()
      const { options, notes } = command
      const rows = Object.entries(options).map(([option, { type, value, help }]) => [
        `\`--${option}${type === 'boolean' ? '' : ` ${value ?? 'VALUE'}`}\``,
        help,
      ])
      return [
        `### ${name}`,
        '',
        `\`${usageLine(name, command).replace('usage: ', '')}\`: ${summary}.`,
        ...(notes.length > 0 ? ['', '```text', ...notes, '```'] : []),
        ...(rows.length > 0 ? ['', table(['option', 'says'], rows)] : []),
      ].join('\n')
    }),
  )
  return sections.join('\n\n')
}

type Schema = Readonly<Record<string, unknown>>

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

interface Key {
  /** As it is written: `devices[].port.path`. */
  readonly name: string
  /** As `DEFERRED_KEYS` has it. */
  readonly pointer: string
  readonly schema: Schema
}

function* keysOf(schema: Schema, name: string, pointer: string): Generator<Key> {
  const { properties, patternProperties, additionalProperties, items, then, anyOf } = schema
  for (const [key, value] of Object.entries(isSchema(properties) ? properties : {})) {
    if (!isSchema(value)) continue
    const found = { name: name === '' ? key : `${name}.${key}`, pointer: `${pointer}/${key}`, schema: value }
    yield found
    // The keys of a port that a device has for itself are those of `ports`.
    if (found.pointer !== '/devices/*/port') yield* keysOf(value, found.name, found.pointer)
  }
  for (const value of Object.values(isSchema(patternProperties) ? patternProperties : {})) {
    if (isSchema(value)) yield* keysOf(value, `${name}.<name>`, `${pointer}/*`)
  }
  if (isSchema(additionalProperties)) yield* keysOf(additionalProperties, `${name}.<name>`, `${pointer}/*`)
  if (isSchema(items)) yield* keysOf(items, `${name}[]`, `${pointer}/*`)
  if (isSchema(then) && name !== '') yield* keysOf(then, name, pointer)
  for (const choice of Array.isArray(anyOf) ? anyOf : [])
    if (isSchema(choice)) yield* keysOf(choice, name, pointer)
}

function shownValue({ type, enum: choices, const: only, minimum, maximum, anyOf }: Schema): string {
  if (Array.isArray(choices)) return choices.map((choice) => `\`${JSON.stringify(choice)}\``).join(', ')
  if (only !== undefined) return `\`${JSON.stringify(only)}\``
  if (Array.isArray(anyOf)) return anyOf.filter(isSchema).map(shownValue).join(', or ')
  const name = [type].flat().join(' or ').replace('array', 'list')
  if (minimum !== undefined && maximum !== undefined) return `${name}, ${minimum} to ${maximum}`
  if (minimum !== undefined) return `${name}, from ${minimum}`
  return maximum === undefined ? name : `${name}, to ${maximum}`
}

function isDeferred({ pointer }: Key): boolean {
  return DEFERRED_KEYS.some((deferred: string) => pointer === deferred || pointer.startsWith(`${deferred}/`))
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function keyTable(keys: Iterable<Key>): string {
  const rows = Array.from(keys, (key) => {
    const said = typeof key.schema.description === 'string' ? sentence(key.schema.description) : ''
    return [
      `\`${key.name}\``,
      shownValue(key.schema),
      [said, ...(isDeferred(key) ? ['*No effect in this version yet.*'] : [])].filter(Boolean).join(' '),
    ]
  })
  return table(['key', 'value', 'says'], rows)
}

export function configurationKeys(): string {
  return keyTable(keysOf(jsonSchema(new Map()), '', ''))
}

/** The keys of a type alone that say nothing of themselves: the last word of each. */
export function unexplainedKeys({ options }: ConfigurableType): string[] {
  const keys = [...keysOf(options, '', '/devices/*')].filter(({ schema }) => schema.description === undefined)
  return [...new Set(keys.map(({ name }) => name.split('.').at(-1)?.replace('[]', '') ?? ''))]
}

/** The keys of each type alone. */
export function typeKeys(types: ConfigurableTypes): string {
  return [...types.values()]
    .map(({ type, title, options }) => {
      const keys = [...keysOf(options, '', '/devices/*')]
      return `### ${type}\n\n${title}.${keys.length > 0 ? `\n\n${keyTable(keys)}` : ' It has no keys of its own.'}`
    })
    .join('\n\n')
}

/** The types of the events of `GET /v1/events`, from their declaration. */
export function eventTypes(): string[] {
  const source = readFileSync(join(ROOT, 'src/tool/event-feed.ts'), 'utf8')
  const [, union = ''] = /export type FeedEventType =([^\n]*(?:\n {2}\|[^\n]*)*)/.exec(source) ?? []
  return Array.from(union.matchAll(/'([a-z]+)'/g), ([, name = '']) => name)
}
