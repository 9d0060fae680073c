/** The pages of the documentation as the tests of it see them: blocks of code, links, headings, tables. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../..')

export interface CodeBlock {
  /** What stands behind the opening fence. */
  readonly language: string
  readonly text: string
  /** "docs/errors.md:12", for messages. */
  readonly place: string
}

export interface Link {
  readonly target: string
  readonly place: string
}

export interface Page {
  /** Relative to the root, with slashes. */
  readonly path: string
  readonly text: string
  readonly blocks: readonly CodeBlock[]
  readonly links: readonly Link[]
  readonly anchors: ReadonlySet<string>
  /** What stands in backticks within a line. */
  readonly inlineCode: readonly Link[]
}

/** Every page below docs/. */
export const DOCUMENTS = markdownBelow('docs')
/** What is read by people, and is therefore held to the code. */
export const PAGES: readonly Page[] = ['README.md', 'devices/README.md', ...DOCUMENTS].map(readPage)

export function page(path: string): Page {
  const found = PAGES.find((one) => one.path === path)
  if (!found) throw new Error(`there is no page ${path}`)
  return found
}

/** The cells of each row of the first table below a heading, before the next one, without its head. */
export function tableBelow(path: string, heading: string): string[][] {
  const rows = page(path).text.split('\n')
  const from = rows.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading)
  if (from === -1) throw new Error(`${path} has no heading "${heading}"`)
  const next = rows.findIndex((line, index) => index > from && /^#+ /.test(line))
  const below = rows.slice(from + 1, next === -1 ? undefined : next)
  const start = below.findIndex((line) => line.startsWith('|'))
  if (start === -1) throw new Error(`${path} has no table below "${heading}"`)
  const end = below.findIndex((line, index) => index > start && !line.startsWith('|'))
  return below.slice(start + 2, end === -1 ? undefined : end).map(cells)
}

function cells(row: string): string[] {
  return row
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
}

function markdownBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) return markdownBelow(path)
      return entry.name.endsWith('.md') ? [path] : []
    })
    .sort()
}

function readPage(path: string): Page {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const blocks: CodeBlock[] = []
  const links: Link[] = []
  const inlineCode: Link[] = []
  const anchors = new Set<string>()
  let open: { language: string; lines: string[]; place: string } | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const place = `${path}:${index + 1}`
    const fence = /^```(.*)$/.exec(line)
    if (fence && open) {
      blocks.push({ language: open.language, text: `${open.lines.join('\n')}\n`, place: open.place })
      open = undefined
    } else if (fence) {
      open = { language: fence[1] ?? '', lines: [], place }
    } else if (open) {
      open.lines.push(line)
    } else {
      const heading = /^#+ (.*)$/.exec(line)?.[1]
      if (heading !== undefined) anchors.add(newAnchor(heading, anchors))
      const plain = line.replaceAll(/`([^`]+)`/g, (_, code: string) => {
        inlineCode.push({ target: code, place })
        return '`'
      })
      for (const [, target = ''] of plain.matchAll(/\]\(([^)\s]+)\)/g)) links.push({ target, place })
    }
  }
  if (open) throw new Error(`${open.place}: the block has no end`)
  return { path, text, blocks, links, anchors, inlineCode }
}

/** GitHub's rule: lower case, letters and digits, hyphens for blanks, a number where it is taken. */
function newAnchor(heading: string, taken: ReadonlySet<string>): string {
  const anchor = heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
  if (!taken.has(anchor)) return anchor
  let number = 1
  while (taken.has(`${anchor}-${number}`)) number += 1
  return `${anchor}-${number}`
}
