/** docs/reference.md lists what there is, no more and no less: each of its lists is made from the code. */
import { afterAll, describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { configurableTypes } from '../../src/configurable-types.ts'
import { loadCatalogue } from '../../src/driver/catalogue.ts'
import { READ_TOKEN } from '../transport/fake-home.ts'
import { bearer, closeServers, serve } from '../transport/http/serve.ts'
import { PAGES, page, ROOT, tableBelow } from './pages.ts'
import {
  type ApiDocument,
  commands,
  configurationKeys,
  eventTypes,
  metrics,
  routes,
  typeKeys,
  withLists,
} from './reference-page.ts'

const PATH = 'docs/reference.md'

afterAll(closeServers)

async function apiDocument(): Promise<ApiDocument> {
  const answer = await serve().inject('/openapi.json')
  expect(answer.statusCode).toBe(200)
  return answer.json<ApiDocument>()
}

async function metricsText(): Promise<string> {
  const answer = await serve().inject({ url: '/metrics', headers: bearer(READ_TOKEN) })
  expect(answer.statusCode).toBe(200)
  return answer.body
}

/** What the router has, one line for each path: "/v1/ports (GET, HEAD)". */
async function routedPaths(): Promise<string[]> {
  const app = serve()
  await app.ready()
  const stack: string[] = []
  const found: string[] = []
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', part = '', methods] = /^([│ ]*)[├└]── (\S*)(?: \(([A-Z, ]+)\))?/.exec(line) ?? []
    if (part === '') continue
    const depth = indent.length / 4
    stack.length = depth
    stack.push(part)
    const path = stack.join('')
    for (const method of methods?.split(', ') ?? []) if (method !== 'HEAD') found.push(`${method} ${path}`)
  }
  return found
}

describe('the reference', () => {
  // `npx vitest run --project unit test/docs -u` writes its lists anew.
  it('has the lists of the code', async () => {
    const made = withLists(page(PATH).text, {
      routes: routes(await apiDocument()),
      metrics: metrics(await metricsText()),
      commands: await commands(),
      'configuration-keys': configurationKeys(),
      'type-keys': typeKeys(configurableTypes(await loadCatalogue())),
    })
    await expect(made).toMatchFileSnapshot(`${ROOT}/${PATH}`)
  })

  it('has every route that the server answers', async () => {
    const listed = ['Pages', 'Routes'].flatMap((heading) =>
      tableBelow(PATH, heading).map(([route = '']) => route.replaceAll('`', '')),
    )
    const routed = (await routedPaths()).filter((route) => !/ \/(docs|static)\/./.test(route))
    expect(routed.length).toBeGreaterThan(10)
    expect(listed.toSorted()).toEqual(routed.toSorted())
  })

  it('says of every route what it does, and which role it needs', () => {
    for (const [route, role, does] of tableBelow(PATH, 'Routes')) {
      expect(role, route).toMatch(/^(none|read|control|admin)$/)
      expect(does, route).not.toBe('')
    }
  })

  it('has the types of events', () => {
    const events = tableBelow(PATH, 'Events').map(([type = '']) => type.replaceAll('`', ''))
    expect(eventTypes()).toContain('reading')
    expect(events).toEqual([...eventTypes(), 'missed'])
  })
})

describe('the commands in the blocks of the documentation', () => {
  const calls = PAGES.flatMap(({ blocks }) =>
    blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text, place }) =>
        Array.from(text.matchAll(/\bbaudway ([a-z-]+)([^\n#|]*)/g), ([, name = '', rest = '']) => ({
          name,
          options: Array.from(rest.matchAll(/ --([a-z-]+)/g), ([, option = '']) => option),
          place,
        })),
      ),
  ).filter(({ name }) => !['service', 'yaml'].includes(name))

  it('are commands of this version, with options that they take', async () => {
    expect(calls.length).toBeGreaterThan(10)
    for (const { name, options, place } of calls) {
      const entry = COMMANDS.find((one) => one.name === name)
      expect(entry, `${place}: baudway ${name}`).toBeDefined()
      const taken = Object.keys((await entry?.load())?.options ?? {})
      for (const option of options) expect(taken, `${place}: baudway ${name}`).toContain(option)
    }
  })
})
