/** SIGHUP and an invalid file, on the built gateway. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { CallResult } from '../../src/tool/shapes.ts'
import { type GatewayProcess, startGateway, until } from './gateway-process.ts'

const device = (id: string) => `  - { id: ${id}, type: mh-z19, port: { path: simulated }, poll: 1s }\n`

describe('a changed configuration file', () => {
  let gateway: GatewayProcess | undefined
  afterEach(() => gateway?.remove())

  const ids = async () => {
    const { devices } = (await gateway?.get<{ devices: { id: string }[] }>('/v1/devices')) ?? { devices: [] }
    return devices.map(({ id }) => id)
  }

  it('is applied on SIGHUP, and an invalid one changes nothing and says why', async () => {
    gateway = await startGateway(`devices:\n${device('one')}`)
    const file = join(gateway.directory, 'baudway.yaml')
    expect(await ids()).toEqual(['one'])
    await writeFile(file, `devices:\n${device('one')}${device('two')}`)
    process.kill(gateway.pid, 'SIGHUP')
    await until(ids, (found) => found.length === 2)
    const call = () => gateway?.post<CallResult>('/v1/calls', { name: 'two__read_co2' })
    await until(call, (result) => result?.status === 'ok')
    await writeFile(file, 'devices:\n  - { id: three, type: mh-z20, port: { path: simulated } }\n')
    process.kill(gateway.pid, 'SIGHUP')
    await until(
      () => gateway?.stderr() ?? '',
      (text) => text.includes('nothing was changed'),
    )
    expect(gateway.stderr()).toContain(`${file}:2:24`)
    expect(await ids()).toEqual(['one', 'two'])
  })

  it('may name a folder of own device types', async () => {
    gateway = await startGateway(`devices:\n${device('one')}`)
    const types = join(gateway.directory, 'types')
    await import('node:fs/promises').then(({ mkdir }) => mkdir(types))
    await writeFile(
      join(types, 'echo-box.mjs'),
      `import { command, defineDevice, lines, Type } from 'baudway/device'
export default defineDevice({
  type: 'echo-box',
  title: 'A box that answers',
  uart: { baudRate: 9600 },
  serial: true,
  framing: lines({ terminator: '\\n' }),
  line: { timeoutMs: 500 },
  readings: {},
  tools: {
    read_word: command({
      description: 'The word.',
      returns: Type.Object({ word: Type.String() }),
      request: () => Buffer.from('W?\\n'),
      reply: { startsWith: [0x57, 0x3d], decode: (frame) => ({ word: frame.subarray(2).toString() }) },
      effect: 'read',
      parallelSafe: true,
    }),
  },
  simulator: () => ({
    framing: lines({ terminator: '\\n' }),
    receive: () => ({ bytes: Buffer.from('W=here\\n'), afterMs: 1 }),
  }),
})
`,
    )
    const file = join(gateway.directory, 'own.yaml')
    await writeFile(
      file,
      'devicesDir: types\ndevices:\n  - { id: box, type: echo-box, port: { path: simulated } }\n',
    )
    const { baudway } = await import('./gateway-process.ts')
    expect(await baudway(['check', '--config', file])).toMatchObject({ code: 0 })
    const own = await startGateway(
      `devicesDir: ${types}\ndevices:\n  - { id: box, type: echo-box, port: { path: simulated } }\n`,
    )
    try {
      const result = await until(
        () => own.post<CallResult>('/v1/calls', { name: 'box__read_word' }),
        ({ status }) => status === 'ok',
      )
      expect(result.value).toEqual({ word: 'here' })
    } finally {
      await own.remove()
    }
  })
})
