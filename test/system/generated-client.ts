/**
 * A client made from the OpenAPI document by a generator, as a user of the API makes one, compiled in strict mode
 * together with a caller.
 */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { generateSource } from 'oazapfts'
import { ROOT } from './gateway-process.ts'

const CALLER = 'client-caller.mjs'
/** All that the project itself asks for but exactOptionalPropertyTypes, which the generator's runtime does not keep. */
const STRICT = {
  target: 'es2023',
  lib: ['es2023', 'dom'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  strict: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
  allowJs: true,
  checkJs: true,
  types: [],
  rootDir: '.',
  outDir: 'out',
}

/** What a generated function resolves to. */
export interface Answer {
  readonly status: number
  readonly data: unknown
  readonly headers: Headers
}

export interface Client {
  readonly defaults: { baseUrl: string; headers: Record<string, string>; fetch?: typeof fetch }
  readonly [operationId: string]: unknown
}

export interface Caller {
  /** By operation id: calls that operation, and whatever it needs before or after. */
  readonly calls: Readonly<Record<string, () => Promise<Answer>>>
  /** By status: a request that is answered with it. */
  readonly refused: Readonly<Record<string, () => Promise<Answer>>>
}

export interface GeneratedClient {
  readonly client: Client
  readonly caller: Caller
  /** The generated text. */
  readonly source: string
  /** What the compiler had to say. */
  readonly diagnostics: string
  remove(): Promise<void>
}

export async function generateClient(document: object): Promise<GeneratedClient> {
  const directory = await mkdtemp(join(tmpdir(), 'baudway-client-'))
  const inside = (name: string) => join(directory, name)
  await writeFile(inside('openapi.json'), JSON.stringify(document))
  const source = await generateSource(inside('openapi.json'), {
    useUnknown: true,
    futureStripLegacyMethods: true,
  })
  await writeFile(inside('client.ts'), source)
  await copyFile(join(import.meta.dirname, CALLER), inside(CALLER))
  await writeFile(inside('package.json'), '{ "type": "module" }')
  await writeFile(
    inside('tsconfig.json'),
    JSON.stringify({ compilerOptions: STRICT, include: ['client.ts', CALLER] }),
  )
  await symlink(join(ROOT, 'node_modules'), inside('node_modules'))
  await mkdir(inside('out'))
  const diagnostics = await compile(inside('tsconfig.json'))
  const load = (name: string) => import(pathToFileURL(inside(`out/${name}`)).href)
  return {
    client: (await load('client.js')) as Client,
    caller: (await load(CALLER)) as Caller,
    source,
    diagnostics,
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}

function compile(project: string): Promise<string> {
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc')
  return new Promise((resolve) => {
    execFile(tsc, ['-p', project], (error, stdout, stderr) =>
      resolve(`${stdout}${stderr}${error && stdout === '' ? error.message : ''}`),
    )
  })
}
