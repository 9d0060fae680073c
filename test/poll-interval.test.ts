/** How often a device is asked of the gateway's own accord. The truth is what was heard on its line. */
import { expect, it } from 'vitest'
import { gatewayBench } from './gateway-fixture.ts'

const READ = '01 03 00 00 00 01 84 0a'

async function heardInTwoMinutes(poll: object): Promise<number> {
  const registers = [{ name: 'value', register: 0, kind: 'holding', format: 'uint16' }]
  const device = { id: 'meter', type: 'modbus', port: { path: '/dev/a' }, address: 1, registers }
  const bench = await gatewayBench({ devices: [{ ...device, ...poll }] })
  bench.device('/dev/a').answer(READ, { hex: '01 03 02 00 11 78 48', afterMs: 5 })
  await bench.clock.advance(119_000)
  await bench.gateway.close()
  return bench.device('/dev/a').heard.length
}

// The type `modbus` says 30 s, and the first poll comes at once.
it('is the device type’s interval where the configuration says nothing', async () => {
  expect(await heardInTwoMinutes({ poll: undefined })).toBe(4)
})

it('is what the configuration says', async () => {
  expect(await heardInTwoMinutes({ poll: '1m' })).toBe(2)
})

it('is never where the configuration says off', async () => {
  expect(await heardInTwoMinutes({ poll: 'off' })).toBe(0)
})
