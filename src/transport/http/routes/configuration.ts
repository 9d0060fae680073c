/** The configuration file: read, checked, written and applied. A file with faults changes nothing. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { ConfigurationFault, Home, ReloadReport as ReloadReportView } from '../../../tool/home.ts'
import type { Guard } from '../access.ts'
import { expectedVersion } from '../entity-tag.ts'
import { Problem, type RequestFault } from '../problem.ts'
import {
  ConfigurationBody,
  ConfigurationReport,
  ConfigurationText,
  ReloadReport,
} from '../schemas/administration.ts'
import { json, problemAnswers } from '../schemas/answers.ts'
import { NoQuery, optionalHeader } from '../schemas/parts.ts'

const tags = ['configuration']
const querystring = NoQuery
const ETag = Type.String({ description: 'The version of the file, for If-Match' })

export function addConfigurationRoutes(app: FastifyInstance, home: Home, guarded: Guard): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()
  typed.get(
    '/v1/config',
    guarded('admin', {
      operationId: 'getConfiguration',
      tags,
      summary: 'The text of the configuration file',
      querystring,
      response: { 200: json(ConfigurationText, 'The file', { ETag }), ...problemAnswers([404]) },
    }),
    async (_request, reply) => {
      const configuration = (await home.configuration()) ?? noFile()
      return reply.header('etag', `"${configuration.version}"`).send(configuration)
    },
  )
  typed.post(
    '/v1/config/check',
    guarded('admin', {
      operationId: 'checkConfiguration',
      tags,
      summary: 'The faults of a configuration; changes nothing',
      querystring,
      body: ConfigurationBody,
      response: { 200: json(ConfigurationReport, 'The report, with or without faults') },
    }),
    async ({ body }) => home.checkConfiguration(body.text),
  )
  typed.post(
    '/v1/reload',
    guarded('admin', {
      operationId: 'reloadConfiguration',
      tags,
      summary: 'Reads the configuration file again and applies it',
      description: 'A file with faults is answered with status 422 and changes nothing.',
      querystring,
      response: { 200: json(ReloadReport, 'What has changed'), ...problemAnswers([404]) },
    }),
    async () => applied((await home.reload()) ?? noFile()),
  )
  addWriteRoute(app, home, guarded)
}

function addWriteRoute(app: FastifyInstance, home: Home, guarded: Guard): void {
  app.withTypeProvider<TypeBoxTypeProvider>().put(
    '/v1/config',
    guarded('admin', {
      operationId: 'putConfiguration',
      tags,
      summary: 'Writes the configuration file and applies it',
      description:
        'The old file is kept beside the new one. With If-Match it is written only if the file still is of that ' +
        'version. A text with faults is answered with status 422 and changes nothing.',
      querystring,
      documented: {
        headers: optionalHeader('If-Match', 'Write it only if the file still is of this version', '"5f2c9a"'),
      },
      body: ConfigurationBody,
      response: {
        200: json(ReloadReport, 'What has changed', { ETag }),
        ...problemAnswers([404, 412]),
      },
    }),
    async ({ headers, body: { text } }, reply) => {
      const written = await home.writeConfiguration(text, expectedVersion(headers['if-match']))
      if (written === 'conflict') {
        throw new Problem(
          'precondition-failed',
          'The file has changed since that version; nothing was written.',
        )
      }
      if (written === 'unwritable') {
        throw new Problem(
          'not-available',
          'The user of the gateway may not write its configuration file; nothing was changed.',
        )
      }
      const report = applied(written ?? noFile())
      const now = await home.configuration()
      // Somebody may have written again: then the version is not that of this text.
      if (now?.text === text) reply.header('etag', `"${now.version}"`)
      return reply.send(report)
    },
  )
}

function applied(report: ReloadReportView): ReloadReportView {
  if (report.valid) return report
  const faults = report.faults.length === 1 ? '1 fault' : `${report.faults.length} faults`
  throw new Problem('invalid-configuration', `The configuration has ${faults}; nothing was changed.`, {
    errors: report.faults.map(placed),
  })
}

function placed({ pointer, message, ...place }: ConfigurationFault): RequestFault {
  return { in: 'configuration', field: pointer, message, ...place }
}

function noFile(): never {
  throw new Problem('not-found', 'This gateway has no configuration file.')
}
