/** Every page is found from the README, and every link and path leads somewhere. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOCUMENTS, type Link, PAGES, type Page, page, ROOT } from './pages.ts'

const isExternal = ({ target }: Link) => /^[a-z][a-z0-9+.-]*:/.test(target)

/** What a relative link leads to: a path from the root, and the anchor in it. */
function goal(from: Page, { target }: Link): { path: string; anchor: string | undefined } {
  const [file = '', anchor] = target.split('#', 2)
  const path = file === '' ? from.path : relative(ROOT, join(ROOT, dirname(from.path), file))
  return { path, anchor }
}

const everyLink = PAGES.flatMap((from) =>
  from.links.filter((link) => !isExternal(link)).map((link) => ({ from, link })),
)

describe('the links of the documentation', () => {
  it('reach every page from the README', () => {
    const reached = new Set(['README.md'])
    for (const path of reached) {
      const from = PAGES.find((one) => one.path === path)
      for (const link of from?.links.filter((one) => !isExternal(one)) ?? []) {
        if (from) reached.add(goal(from, link).path)
      }
    }
    expect(DOCUMENTS.length).toBeGreaterThan(7)
    expect(DOCUMENTS.filter((path) => !reached.has(path))).toEqual([])
  })

  it('lead to files that exist', () => {
    expect(everyLink.length).toBeGreaterThan(20)
    const dead = everyLink.filter(({ from, link }) => !existsSync(join(ROOT, goal(from, link).path)))
    expect(dead.map(({ link }) => `${link.place}: ${link.target}`)).toEqual([])
  })

  it('lead to headings that exist', () => {
    const dead = everyLink.filter(({ from, link }) => {
      const { path, anchor } = goal(from, link)
      return anchor !== undefined && !PAGES.find((one) => one.path === path)?.anchors.has(anchor)
    })
    expect(dead.map(({ link }) => `${link.place}: ${link.target}`)).toEqual([])
  })

  it('lead, from a page that is in the package, to what is in the package', () => {
    const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] }
    const isShipped = (path: string) => files.some((file) => path === file || path.startsWith(`${file}/`))
    const shipped = everyLink.filter(({ from }) => isShipped(from.path))
    expect(shipped.length).toBeGreaterThan(20)
    const dead = shipped.filter(({ from, link }) => !isShipped(goal(from, link).path))
    expect(dead.map(({ link }) => `${link.place}: ${link.target}`)).toEqual([])
  })

  it('are relative, and stay inside the repository', () => {
    const wrong = everyLink.filter(
      ({ from, link }) => isAbsolute(link.target) || goal(from, link).path.startsWith('..'),
    )
    expect(wrong.map(({ link }) => `${link.place}: ${link.target}`)).toEqual([])
  })
})

/** Files of this repository that a page names in backticks; a name with a placeholder is none. */
const named = PAGES.flatMap(({ inlineCode }) =>
  inlineCode.filter(({ target }) => /^(src|test|bench|devices|docs|systemd)\/[\w./-]*$/.test(target)),
)

describe('the paths that the documentation names', () => {
  it('exist', () => {
    expect(named.length).toBeGreaterThan(20)
    // The guide makes two types of its own, which a test puts together from it.
    const missing = named.filter(
      ({ target }) => !existsSync(join(ROOT, target)) && !/\/(pond-gauge|barn-meter)\./.test(target),
    )
    expect(missing.map(({ target, place }) => `${place}: ${target}`)).toEqual([])
  })

  it('are those of every folder of the source, in the page of the architecture', () => {
    const text = page('docs/architecture.md').text
    for (const folder of [
      'cli',
      'config',
      'driver',
      'port',
      'scheduler',
      'simulator',
      'store',
      'tool',
      'transport',
    ]) {
      expect(existsSync(join(ROOT, 'src', folder))).toBe(true)
      expect(text).toMatch(new RegExp(`^ *(src/)?${folder}/ `, 'm'))
    }
  })
})
