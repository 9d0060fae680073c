/** Devices, their tools, and the types that they are of. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import type { Home } from '../../../tool/home.ts'
import { type Guard, nothing } from '../access.ts'
import { Problem } from '../problem.ts'
import { TypeList } from '../schemas/administration.ts'
import { json } from '../schemas/answers.ts'
import { idPath, NoQuery } from '../schemas/parts.ts'
import { Device, DeviceList, ToolList, ToolsQuery } from '../schemas/status.ts'

export function addDeviceRoutes(app: FastifyInstance, home: Home, guarded: Guard): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()
  typed.get(
    '/v1/devices',
    guarded('read', {
      operationId: 'listDevices',
      tags: ['devices'],
      summary: 'All devices with their last readings',
      querystring: NoQuery,
      response: { 200: json(DeviceList, 'The devices') },
    }),
    async () => ({ devices: home.devices() }),
  )
  typed.get(
    '/v1/devices/:id',
    guarded('read', {
      operationId: 'getDevice',
      tags: ['devices'],
      summary: 'One device with its last readings',
      params: idPath('Id of the device'),
      querystring: NoQuery,
      response: { 200: json(Device, 'The device') },
    }),
    async ({ params: { id } }) => home.device(id) ?? nothing('device', id),
  )
  typed.get(
    '/v1/tools',
    guarded('read', {
      operationId: 'listTools',
      tags: ['tools'],
      summary: 'The tools that may be called',
      querystring: ToolsQuery,
      response: { 200: json(ToolList, 'The tools') },
    }),
    async ({ query: { format } }) => {
      if (format === undefined) return { tools: home.tools() }
      const message = `${JSON.stringify(format)} is not available; leave it out for this API's own shape`
      throw new Problem('not-available', 'This format of the tool list is not available.', {
        errors: [{ in: 'query', field: '/format', message }],
      })
    },
  )
  typed.get(
    '/v1/types',
    guarded('read', {
      operationId: 'listDeviceTypes',
      tags: ['devices'],
      summary: 'The device types of the catalogue',
      querystring: NoQuery,
      response: { 200: json(TypeList, 'The types') },
    }),
    async () => ({ types: await home.types() }),
  )
}
