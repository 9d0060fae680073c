/**
 * Calls, batches and plans as JSON Schemas. A request schema holds the form of a request; what the arguments of a
 * tool may be is the tool's own schema and is judged further in, where a fault becomes the result of that call.
 * A schema with a title becomes a named component of the OpenAPI document.
 */
import { type Static, Type } from 'typebox'
import { ERRORS } from '../../../errors.ts'
import { BATCH_CALLS_MAX, DEADLINE_DEFAULT_MS, DEADLINE_MAX_MS } from '../../../limits.ts'
import { anyObject, claim, strict, time } from './parts.ts'

const NAME_LENGTH_MAX = 256

const shortText = (description: string) =>
  Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, description })

const CALL = {
  id: Type.Optional(shortText('Minted if left out, and anew if it is given twice')),
  name: shortText('Name of the tool'),
  arguments: Type.Optional(anyObject({ description: 'By the parameters of the tool' })),
  confirmation: Type.Optional(shortText('Id of an approved confirmation')),
}

const Policy = Type.Enum(['partition', 'batch', 'resource'], {
  description: 'How the calls of a lane are ordered and overlapped',
})

const OPTIONS = {
  policy: Type.Optional(Policy),
  priority: Type.Optional(Type.Enum(['interactive', 'automation'], { description: 'Left out: interactive' })),
  deadlineMs: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: DEADLINE_MAX_MS,
      description: `From acceptance to the start of a run. Left out: ${DEADLINE_DEFAULT_MS}`,
    }),
  ),
  maxAgeMs: Type.Optional(
    Type.Number({ minimum: 0, description: 'A read may be answered by a reading of this age' }),
  ),
  onError: Type.Optional(
    Type.Enum(['continue', 'abort'], { description: 'What follows a failed call. Left out: continue' }),
  ),
  context: Type.Optional(anyObject({ description: 'Shared context of the calls' })),
}

export const CallBody = Type.Object({ ...CALL, ...OPTIONS }, { ...strict, title: 'CallRequest' })
export const BatchBody = Type.Object(
  {
    calls: Type.Array(Type.Object(CALL, { ...strict, title: 'BatchCall' }), {
      minItems: 1,
      maxItems: BATCH_CALLS_MAX,
    }),
    ...OPTIONS,
  },
  { ...strict, title: 'BatchRequest' },
)
export type BatchBody = Static<typeof BatchBody>

export const Outcome = Type.Enum(['executed', 'not_executed', 'unknown'], {
  description: 'What may be concluded about the device',
})

const ErrorDetail = Type.Object({
  message: Type.String(),
  field: Type.Optional(Type.String({ description: 'JSON pointer' })),
  hint: Type.Optional(Type.String()),
})

export const CallError = Type.Object(
  {
    code: Type.Enum(Object.keys(ERRORS)),
    message: Type.String(),
    field: Type.Optional(Type.String({ description: 'JSON pointer into the arguments' })),
    hint: Type.Optional(Type.String({ description: 'What to do about it' })),
    retryable: Type.Boolean({ description: 'The same call may be sent again' }),
    details: Type.Optional(Type.Union([Type.Array(ErrorDetail), anyObject()])),
  },
  { title: 'CallError' },
)

export const CallResult = Type.Object(
  {
    id: Type.String(),
    requestedId: Type.Optional(Type.String({ description: 'The id that was sent, if it was minted anew' })),
    name: Type.String(),
    status: Type.Enum(['ok', 'error']),
    outcome: Outcome,
    value: Type.Optional(Type.Unknown({ description: 'By the returns of the tool' })),
    error: Type.Optional(CallError),
    measuredAt: Type.Optional(time()),
    shared: Type.Boolean({ description: "Answered by another call's reading" }),
    attempts: Type.Integer({ minimum: 0 }),
    sent: Type.Optional(
      Type.Literal(true, {
        description: 'The device acknowledges nothing: the bytes left, no more is known',
      }),
    ),
    confirmedBy: Type.Optional(Type.Literal('read_back')),
    timing: Type.Object({ queuedMs: Type.Number(), runMs: Type.Number(), wireMs: Type.Number() }),
  },
  { title: 'CallResult' },
)

const Partitions = Type.Array(Type.Array(Type.String()), { description: 'Ids by partition' })

const BATCH = {
  id: Type.String(),
  policy: Policy,
  partitions: Partitions,
  executed: Type.Integer({ minimum: 0, description: 'Calls that really ran' }),
  shared: Type.Integer({ minimum: 0, description: "Calls that were answered by another call's reading" }),
  results: Type.Array(CallResult, { description: 'In the order of the calls' }),
  context: anyObject(),
  conflicts: Type.Array(
    Type.Object({
      key: Type.String(),
      kept: Type.Optional(Type.Unknown({ description: 'Absent: the key was absent and stays so' })),
      wanted: Type.Array(Type.Object({ call: Type.String(), value: Type.Unknown() })),
    }),
  ),
}

export const BatchResponse = Type.Object(BATCH, { title: 'BatchResponse' })
export const BatchStatus = Type.Object(
  { ...BATCH, state: Type.Enum(['running', 'done']) },
  { title: 'BatchStatus', description: 'A batch on its way; the results are those so far' },
)

export const PlanResponse = Type.Object(
  {
    policy: Policy,
    partitions: Partitions,
    calls: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          name: Type.String(),
          partition: Type.Integer({ minimum: 0 }),
          waitsFor: Type.Array(Type.Object({ id: Type.String(), reason: Type.String() })),
          overlaps: Type.Array(Type.String(), {
            description: 'Earlier calls that it may overlap or pass',
          }),
          claims: Type.Array(claim()),
          earlyStart: Type.Object({ yes: Type.Boolean(), reason: Type.String() }),
          confirmation: Type.Boolean({ description: 'The call would answer confirmation_required' }),
          available: Type.Boolean(),
        },
        { title: 'PlannedCall' },
      ),
    ),
  },
  { title: 'PlanResponse' },
)

export const StopStatus = Type.Object(
  {
    stopped: Type.Boolean({ description: 'While it is true, whatever changes something answers stopped' }),
    since: time({ nullable: true }),
    by: Type.Union([Type.String(), Type.Null()]),
    commands: Type.Array(CallResult, { description: "What the devices' stop commands came to" }),
  },
  { title: 'StopStatus' },
)
