/**
 * How values are written in a configuration: durations, sizes, ids. Each notation is one pattern, used by the
 * schema, and one phrase, used where a value does not fit.
 */

export interface Notation {
  readonly pattern: string
  /** Ends the sentence `"key" must be …`. */
  readonly expected: string
}

export const ID_LENGTH_MAX = 31

export const ID: Notation = {
  pattern: '^[a-z][a-z0-9]*(_[a-z0-9]+)*$',
  expected: 'lower-case letters and digits in words joined by single underscores, beginning with a letter',
}

/** Names and paths end up in logs and on terminals. */
export const PLAIN_TEXT: Notation = {
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  expected: 'text without control characters',
}

export const DURATION: Notation = {
  pattern: '^[1-9][0-9]{0,8}(ms|s|m|h|d)$',
  expected: 'a duration such as 500ms, 10s, 1m, 2h or 7d',
}

/** Of a device: how often it is polled. */
export const POLL: Notation = {
  pattern: '^([1-9][0-9]{0,8}(ms|s|m|h|d)|off)$',
  expected: 'a duration such as 10s or 1m, or off',
}

export const RETENTION: Notation = {
  pattern: '^([1-9][0-9]{0,8}(ms|s|m|h|d)|forever)$',
  expected: 'a duration such as 7d or 90d, or forever',
}

export const SIZE: Notation = {
  pattern: '^[1-9][0-9]{0,8}(kB|MB|GB|TB)$',
  expected: 'a size such as 500MB or 2GB',
}

export const HOST_NAME: Notation = {
  pattern: '^[A-Za-z0-9._-]+$|^\\[[0-9A-Fa-f:.]+\\]$',
  expected: 'a host name or an address, without scheme and port',
}

export const ORIGIN: Notation = {
  pattern: '^[a-z][a-z0-9+.-]*://[^/\\s]+$',
  expected: 'an origin such as https://panel.example or http://192.168.1.5:8080, without a path',
}

export const TOOL_PATTERN: Notation = {
  pattern: '^[A-Za-z0-9_*-]{1,64}$',
  expected: 'a tool name such as pump__set_speed; a * stands for any characters',
}

export const TOOL_NAME: Notation = {
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  expected: 'the name of a tool',
}

export const BROKER_URL: Notation = {
  pattern: '^(mqtt|mqtts|ws|wss)://[^\\s@]+$',
  expected: 'a URL such as mqtt://127.0.0.1:1883; user name and password have keys of their own',
}

export const NODE_NAME: Notation = {
  pattern: '^[a-z0-9]+([_-][a-z0-9]+)*$',
  expected: 'lower-case letters and digits, joined by single hyphens or underscores',
}

export const MCP_PATH: Notation = {
  pattern: '^/mcp/[A-Za-z0-9_-]{43,}$',
  expected: '/mcp/ and 32 random bytes, as base64url (43 characters) or hexadecimal (64)',
}

export const ENVIRONMENT_NAME: Notation = {
  pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
  expected: 'the name of an environment variable',
}

const NOTATIONS: readonly Notation[] = [
  ID,
  PLAIN_TEXT,
  DURATION,
  POLL,
  RETENTION,
  SIZE,
  HOST_NAME,
  ORIGIN,
  TOOL_PATTERN,
  TOOL_NAME,
  BROKER_URL,
  NODE_NAME,
  MCP_PATH,
  ENVIRONMENT_NAME,
]

const PHRASES: ReadonlyMap<unknown, string> = new Map(
  NOTATIONS.map(({ pattern, expected }) => [pattern, expected]),
)

/** The phrase of a schema's pattern, where it is one of ours. */
export function expectedBy(pattern: unknown): string | undefined {
  return PHRASES.get(pattern)
}

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** Milliseconds of a duration such as `10s`; undefined if it is none. */
export function parseDuration(text: string): number | undefined {
  return parseQuantity(text, DURATION, UNIT_MS)
}

const UNIT_BYTES: ReadonlyMap<string, number> = new Map([
  ['kB', 1e3],
  ['MB', 1e6],
  ['GB', 1e9],
  ['TB', 1e12],
])

/** Bytes of a size such as `2GB`; undefined if it is none. */
export function parseSize(text: string): number | undefined {
  return parseQuantity(text, SIZE, UNIT_BYTES)
}

function parseQuantity(
  text: string,
  notation: Notation,
  units: ReadonlyMap<string, number>,
): number | undefined {
  if (!new RegExp(notation.pattern).test(text)) return undefined
  const number = Number.parseInt(text, 10)
  const unit = units.get(text.slice(String(number).length))
  return unit === undefined ? undefined : number * unit
}

export function isId(text: string): boolean {
  return text.length <= ID_LENGTH_MAX && new RegExp(ID.pattern).test(text)
}

/** An id in words: `office_co2` is shown as `Office co2`. */
export function wordsOf(id: string): string {
  const words = id.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The id that a name could have meant, or undefined where nothing is left of it. */
export function idLike(name: string): string | undefined {
  const id = name
    .normalize('NFKD')
    .replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^[_0-9]+|_+$/g, '')
    .slice(0, ID_LENGTH_MAX)
    .replaceAll(/_+$/g, '')
  return id === '' ? undefined : id
}
