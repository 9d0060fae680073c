/** The layers of the source, held by looking at every import; and the few rules that no linter knows. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const BASE = ['clock.ts', 'errors.ts', 'limits.ts', 'log.ts']
/** May see everything. */
const TOP = [
  'main.ts',
  'index.ts',
  'gateway.ts',
  'lines.ts',
  'home-of.ts',
  'type-view.ts',
  'configurable-types.ts',
  'version.ts',
]
/** A layer may import those of a lower number, and itself. */
const LAYERS: Record<string, number> = { port: 1, driver: 2, scheduler: 3, tool: 4, transport: 5, stream: 5 }
/** Beside the layers: what they may import besides themselves and the base. */
const BESIDE: Record<string, readonly string[]> = { config: [], store: [], simulator: ['port', 'driver'] }

interface Source {
  /** Relative to the root, with slashes. */
  readonly file: string
  readonly text: string
  readonly imports: readonly string[]
}

function filesBelow(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return []
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? filesBelow(path) : path.endsWith('.ts') ? [path] : []
  })
}

function read(file: string): Source {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
  const found = code.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)'([^']+)'/g)
  const imports = Array.from(found, (match) => {
    const name = match[1] ?? ''
    return name.startsWith('.') ? relative(ROOT, join(ROOT, dirname(file), name)) : name
  })
  return { file, text: code, imports }
}

const sources = filesBelow('src').map(read)
const devices = filesBelow('devices').map(read)
const everything = [...sources, ...devices, ...filesBelow('test').map(read), ...filesBelow('bench').map(read)]

/** `src/port/line.ts` is in `port`, `src/clock.ts` is `clock.ts`. */
function place(file: string): string {
  return file.split('/')[1] ?? ''
}

function ours(source: Source): string[] {
  return source.imports.filter((name) => name.startsWith('src/') || name.startsWith('devices/'))
}

function isAllowed(from: string, to: string): boolean {
  if (TOP.includes(from) || from === 'cli') return true
  if (BASE.includes(to)) return !BASE.includes(from)
  if (BASE.includes(from)) return false
  const beside = BESIDE[from]
  if (beside) return to === from || beside.includes(to)
  const fromLayer = LAYERS[from]
  const toLayer = LAYERS[to]
  if (fromLayer === undefined || toLayer === undefined) return false
  return to === from || toLayer < fromLayer
}

describe('the structure of the source', () => {
  it('has sources at all', () => {
    expect(sources.length).toBeGreaterThan(40)
    expect(sources.flatMap(ours).length).toBeGreaterThan(100)
  })

  it('imports downwards only', () => {
    const wrong = sources.flatMap((source) =>
      ours(source)
        .filter((target) => target.startsWith('devices/') || !isAllowed(place(source.file), place(target)))
        .map((target) => `${source.file} imports ${target}`),
    )
    expect(wrong).toEqual([])
  })

  it('has no import cycle', () => {
    const edges = new Map(sources.map((source) => [source.file, ours(source)]))
    const done = new Set<string>()
    const cycles: string[] = []
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) {
        cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
        return
      }
      if (done.has(file)) return
      for (const next of edges.get(file) ?? []) visit(next, [...path, file])
      done.add(file)
    }
    for (const file of edges.keys()) visit(file, [])
    expect(cycles).toEqual([])
  })

  it('imports no file that does not exist', () => {
    // Tests hold texts of modules as well; those that they import are the compiler's business.
    const missing = [...sources, ...devices].flatMap((source) =>
      source.imports
        .filter((name) => /^(src|devices|test|bench)\//.test(name) && !existsSync(join(ROOT, name)))
        .map((name) => `${source.file} imports ${name}`),
    )
    expect(missing).toEqual([])
  })

  it('lets a device file see #device and npm packages only', () => {
    const wrong = devices.flatMap((device) =>
      device.imports
        .filter((name) => name !== '#device' && (/^(src|devices|node:)/.test(name) || name.startsWith('#')))
        .map((name) => `${device.file} imports ${name}`),
    )
    expect(devices.length).toBeGreaterThan(0)
    expect(wrong).toEqual([])
  })

  it('takes time, randomness and ids from the clock only', () => {
    const forbidden =
      /\b(setTimeout|setInterval|setImmediate|Date\.now|new Date\(\)|performance\.now|Math\.random|randomUUID|randomBytes\(|AbortSignal\.timeout)\b|timers\/promises/
    const wrong = [...sources, ...devices]
      .filter(({ file }) => file !== 'src/clock.ts')
      .flatMap(({ file, text }) =>
        text
          .split('\n')
          .filter((line) => forbidden.test(line) && !/clock\.randomBytes/.test(line))
          .map((line) => `${file}: ${line.trim()}`),
      )
    expect(wrong).toEqual([])
  })

  it('uses the mutex library in one place, and of it only runExclusive', () => {
    const users = sources.filter(({ imports }) => imports.includes('async-mutex')).map(({ file }) => file)
    expect(users).toEqual(['src/port/mutex.ts'])
    const mutex = sources.find(({ file }) => file === 'src/port/mutex.ts')
    expect(mutex?.text).not.toMatch(/\.(acquire|release|tryAcquire|cancel)\b/)
  })

  it('has small files with plain names', () => {
    const grabBag = /(^|[/-])(utils?|helpers?|common|shared|misc|manager|core|lib)([-.]|$)/
    for (const { file } of [...sources, ...devices]) {
      expect(file, 'kebab-case').toMatch(/^[a-z0-9/-]+(\.[a-z]+)?\.ts$/)
      expect(file, 'a noun of its own').not.toMatch(grabBag)
      const lines = readFileSync(join(ROOT, file), 'utf8').split('\n').length
      expect(lines, `${file} has ${lines} lines`).toBeLessThanOrEqual(400)
    }
  })

  it('inherits from Error only', () => {
    const wrong = [...sources, ...devices].flatMap(({ file, text }) =>
      Array.from(text.matchAll(/class \w+(?:<[^{]*>)? extends (\w+)/g), (match) => match[1])
        .filter((parent) => parent !== 'Error')
        .map((parent) => `${file} extends ${parent}`),
    )
    expect(wrong).toEqual([])
  })

  it('switches no check off', () => {
    const off = new RegExp(
      [
        '@ts-' + 'ignore',
        '@ts-' + 'nocheck',
        '(v8|c8|istanbul) ' + 'ignore',
        '\\bas ' + 'any\\b',
        '\\.(skip|only|todo)\\(',
      ].join('|'),
    )
    const wrong = everything
      .filter(({ file }) => file !== 'test/structure.test.ts')
      .flatMap(({ file }) => (off.test(readFileSync(join(ROOT, file), 'utf8')) ? [file] : []))
    expect(wrong).toEqual([])
  })
})
