/** docs/reference.md lists what there is, no more and no less: each of its lists is made from the code. */
import { afterAll, describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { validateConfiguration } from '../../src/config/load.ts'
import { configurableTypes } from '../../src/configurable-types.ts'
import { loadCatalogue } from '../../src/driver/catalogue.ts'
import { Gateway } from '../../src/gateway.ts'
import { READ_TOKEN } from '../transport/fake-home.ts'
import { bearer, closeServers, post, serve } from '../transport/http/serve.ts'
import { VirtualClock } from '../virtual-clock.ts'
import { PAGES, page, ROOT, tableBelow } from './pages.ts'
import {
  type ApiDocument,
  commands,
  configurationKeys,
  eventTypes,
  metrics,
  routes,
  typeKeys,
  unexplainedKeys,
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

describe('the keys of the generic types', () => {
  const explained = new Set(
    tableBelow(PATH, 'Keys of the device types').flatMap(([of = '', keys = '']) =>
      (of === 'both' ? ['line', 'frames'] : [of.replaceAll('`', '')]).flatMap((type) =>
        Array.from(keys.matchAll(/`(\w+)`/g), ([, key]) => `${type} ${key}`),
      ),
    ),
  )

  it.each(['modbus', 'line', 'frames'])('of %s are explained, here or by their schema', async (name) => {
    const type = configurableTypes(await loadCatalogue()).get(name)
    if (!type) throw new Error(`there is no type ${name}`)
    expect(unexplainedKeys(type).filter((key) => !explained.has(`${name} ${key}`))).toEqual([])
  })
})

describe('the shapes', () => {
  const [request, response] = page(PATH).blocks.filter(({ language }) => language === 'json')

  it('are those of a real batch', async () => {
    const types = configurableTypes(await loadCatalogue())
    const device = { id: 'office_co2', type: 'mh-z19', port: { path: 'simulated' } }
    const { configuration } = validateConfiguration({ devices: [device] }, types)
    if (!configuration) throw new Error('the configuration has faults')
    const clock = new VirtualClock({ seed: 1 })
    const gateway = await Gateway.start({ configuration, clock })
    await clock.advance(100)
    const { calls, ...options } = JSON.parse(request?.text ?? '')
    const answer = gateway.batch(calls, options)
    await clock.advance(2_000)
    expect(shapeOf(await answer)).toEqual(shapeOf(JSON.parse(response?.text ?? '')))
    const closed = gateway.close()
    await clock.advance(5_000)
    await closed
  })

  it('of a request are taken by the server, for a batch and for its plan', async () => {
    for (const url of ['/v1/batches', '/v1/plan']) {
      const answer = await serve().inject(post(url, request?.text))
      expect(answer.statusCode, answer.body).toBe(200)
    }
  })
})

/** The same with the kinds of its values in their places. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shapeOf(part)]))
}

interface NamedCommand {
  readonly name: string
  readonly options: readonly string[]
  readonly place: string
}

function namedCommand(words: string, place: string): NamedCommand {
  const [name = ''] = words.split(/\s/, 1)
  return { name, options: Array.from(words.matchAll(/ --([a-z-]+)/g), ([, option = '']) => option), place }
}

describe('the commands that the documentation names', () => {
  const inBlocks = PAGES.flatMap(({ blocks }) =>
    blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text, place }) =>
        Array.from(text.matchAll(/^npx baudway ([a-z][^\n#|]*)/gm), ([, words = '']) =>
          namedCommand(words, place),
        ),
      ),
  )
  const inLines = PAGES.flatMap(({ inlineCode }) =>
    inlineCode.flatMap(({ target, place }) => {
      const [, words] = /^(?:npx )?baudway ([a-z].*)$/.exec(target) ?? []
      return words === undefined ? [] : [namedCommand(words, place)]
    }),
  )

  it('are commands of this version, with options that they take', async () => {
    expect(inBlocks.length).toBeGreaterThan(10)
    expect(inLines.length).toBeGreaterThan(10)
    for (const { name, options, place } of [...inBlocks, ...inLines]) {
      const entry = COMMANDS.find((one) => one.name === name)
      expect(entry, `${place}: baudway ${name}`).toBeDefined()
      const taken = Object.keys((await entry?.load())?.options ?? {})
      for (const option of options) expect(taken, `${place}: baudway ${name}`).toContain(option)
    }
  })
})
