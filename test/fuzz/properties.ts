/** All properties: of the short run and of the long one. */
import { configurations } from './configuration.ts'
import { decoders } from './decoders.ts'
import { fuzzDevices } from './devices.ts'
import { FRAMERS } from './framers.ts'
import type { FuzzProperties } from './fuzz-property.ts'
import { httpBodies } from './http-bodies.ts'
import { requests } from './requests.ts'

export async function fuzzProperties(): Promise<FuzzProperties> {
  const http = await httpBodies()
  const devices = await fuzzDevices()
  const ofDevices = [...decoders(devices), ...requests(devices)]
  const properties = [...FRAMERS, ...ofDevices, ...(await configurations()), ...http.properties]
  return { properties, close: () => http.close() }
}
