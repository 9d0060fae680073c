/**
 * Calls, batches and plans as JSON Schemas. A request schema holds the form of a request; what the arguments of a
 * tool may be is the tool's own schema and is judged further in, where a fault becomes the result of that call.
 * A schema with a title becomes a named component of the OpenAPI document.
 */
import { type Static, Type } from 'typebox'
import { ERRORS } from '../../../errors.ts'
import { BATCH_CALLS_MAX, DEADLINE_DEFAULT_MS, DEADLINE_MAX_MS } from '../../../limits.ts'
import { anyObject, choice, claim, count, flag, milliseconds, nullable, strict, text, time } from './parts.ts'

const NAME_LENGTH_MAX = 256

const shortText = (description: string) =>
  Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, description })

const CALL = {
  id: Type.Optional(shortText('Minted if left out, and anew if it is given twice')),
  name: shortText('Name of the tool'),
  arguments: Type.Optional(anyObject({ description: 'By the parameters of the tool' })),
  confirmation: Type.Optional(shortText('Id of an approved confirmation')),
}

const Policy = choice(['partition', 'batch', 'resource'], {
  title: 'Policy',
  description: 'How the calls of a lane are ordered and overlapped',
})

const OPTIONS = {
  policy: Type.Optional(Policy),
  priority: Type.Optional(
    choice(['interactive', 'automation'], {
      description: 'Who goes first across batches. Left out: interactive',
    }),
  ),
  deadlineMs: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: DEADLINE_MAX_MS,
      description: `From acceptance to the start of a run. Left out: ${DEADLINE_DEFAULT_MS}`,
    }),
  ),
  maxAgeMs: Type.Optional(milliseconds('A read may be answered by a reading of this age')),
  onError: Type.Optional(
    choice(['continue', 'abort'], { description: 'What follows a failed call. Left out: continue' }),
  ),
  context: Type.Optional(anyObject({ description: 'Shared context of the calls' })),
}

export const CallBody = Type.Object(
  { ...CALL, ...OPTIONS },
  {
    ...strict,
    title: 'CallRequest',
    description: 'One call of a tool',
    examples: [{ name: 'office_co2__read_co2' }],
  },
)
export const BatchBody = Type.Object(
  {
    calls: Type.Array(
      Type.Object(CALL, { ...strict, title: 'BatchCall', description: 'One call of a batch' }),
      {
        minItems: 1,
        maxItems: BATCH_CALLS_MAX,
        description: 'In the order in which they are meant',
      },
    ),
    ...OPTIONS,
  },
  {
    ...strict,
    title: 'BatchRequest',
    description: 'Calls that are handed over together',
    examples: [
      {
        calls: [
          { id: 'air', name: 'office_co2__read_co2' },
          { id: 'fan', name: 'relays__set_relay', arguments: { channel: 0, on: true } },
        ],
        onError: 'abort',
      },
    ],
  },
)
export type BatchBody = Static<typeof BatchBody>

export const Outcome = choice(['executed', 'not_executed', 'unknown'], {
  title: 'Outcome',
  description: 'What may be concluded about the device',
})

const ErrorCode = choice(Object.keys(ERRORS), {
  title: 'ErrorCode',
  description: 'Why a call failed',
})

const ErrorDetail = Type.Object(
  {
    message: text('What is wrong'),
    field: Type.Optional(text('JSON pointer into the arguments')),
    hint: Type.Optional(text('What to do about it')),
  },
  { title: 'ErrorDetail', description: 'One of several faults' },
)

export const CallError = Type.Object(
  {
    code: ErrorCode,
    message: text('What happened, for a person'),
    field: Type.Optional(text('JSON pointer into the arguments')),
    hint: Type.Optional(text('What to do about it')),
    retryable: flag('The same call may be sent again'),
    details: Type.Optional(
      Type.Union([Type.Array(ErrorDetail), anyObject()], {
        description: 'Every fault of the arguments, or what else the code has to say',
      }),
    ),
  },
  { title: 'CallError', description: 'Why a call failed, and what may be done' },
)

export const CallResult = Type.Object(
  {
    id: text('The id of the call'),
    requestedId: Type.Optional(text('The id that was sent, if it was minted anew')),
    name: text('Name of the tool'),
    status: choice(['ok', 'error'], {
      description: 'With error there is an error, with ok there may be a value',
    }),
    outcome: Outcome,
    value: Type.Optional(Type.Unknown({ description: 'By the returns of the tool' })),
    error: Type.Optional(CallError),
    measuredAt: Type.Optional(time('When the value was measured')),
    shared: flag("Answered by another call's reading"),
    attempts: count('Runs that were begun, repeats included'),
    sent: Type.Optional(
      Type.Literal(true, {
        description: 'The device acknowledges nothing: the bytes left, no more is known',
      }),
    ),
    confirmedBy: Type.Optional(
      Type.Literal('read_back', { description: 'The device was asked afterwards, and shows what was set' }),
    ),
    timing: Type.Object(
      {
        queuedMs: milliseconds('From acceptance to the start of the run'),
        runMs: milliseconds('From the start of the run to its end'),
        wireMs: milliseconds('The part of the run in which the line was in use'),
      },
      { title: 'CallTiming', description: 'Where the time went' },
    ),
  },
  { title: 'CallResult', description: 'What became of one call' },
)

const Partitions = Type.Array(Type.Array(Type.String()), { description: 'Ids by partition' })

const ContextConflict = Type.Object(
  {
    key: text('The key of the context'),
    kept: Type.Optional(Type.Unknown({ description: 'Absent: the key was absent and stays so' })),
    wanted: Type.Array(
      Type.Object(
        {
          call: text('The id of the call'),
          value: Type.Unknown({ description: 'What it wanted the key to be' }),
        },
        { title: 'ContextChange', description: 'What one call wanted' },
      ),
      { description: 'What each of the calls wanted' },
    ),
  },
  {
    title: 'ContextConflict',
    description: 'Calls that overlapped and wanted one key to be different things',
  },
)

const BATCH = {
  id: text('The id of the batch'),
  policy: Policy,
  partitions: Partitions,
  executed: count('Calls that really ran'),
  shared: count("Calls that were answered by another call's reading"),
  results: Type.Array(CallResult, { description: 'In the order of the calls' }),
  context: anyObject({ description: 'The shared context as the calls left it' }),
  conflicts: Type.Array(ContextConflict, {
    description: 'Changes of the context that contradicted each other',
  }),
}

export const BatchResponse = Type.Object(BATCH, {
  title: 'BatchResponse',
  description: 'What became of the calls of a batch',
})
export const BatchStatus = Type.Object(
  { ...BATCH, state: choice(['running', 'done'], { description: 'Whether results may still come' }) },
  { title: 'BatchStatus', description: 'A batch on its way; the results are those so far' },
)

const PlannedCall = Type.Object(
  {
    id: text('The id of the call'),
    name: text('Name of the tool'),
    partition: count('Index of its partition'),
    waitsFor: Type.Array(
      Type.Object(
        { id: text('The id of the earlier call'), reason: text('Why') },
        { title: 'Wait', description: 'An earlier call that has to end first' },
      ),
      { description: 'What has to end before it may start' },
    ),
    overlaps: Type.Array(Type.String(), {
      description: 'Earlier calls that it may overlap or pass',
    }),
    claims: Type.Array(claim(), { description: 'What it needs' }),
    earlyStart: Type.Object(
      { yes: flag('Whether it may'), reason: text('Why, or why not') },
      { title: 'EarlyStart', description: 'Whether it may start while the calls after it still arrive' },
    ),
    confirmation: flag('The call would answer confirmation_required'),
    available: flag('The call would not answer device_unavailable'),
    error: Type.Optional(CallError),
  },
  { title: 'PlannedCall', description: 'What would be done with one call' },
)

export const PlanResponse = Type.Object(
  {
    policy: Policy,
    partitions: Partitions,
    calls: Type.Array(PlannedCall, { description: 'In the order of the request' }),
  },
  { title: 'PlanResponse', description: 'What a batch would do' },
)

export const StopStatus = Type.Object(
  {
    stopped: flag('While it is true, whatever changes something answers stopped'),
    since: nullable(time(), 'Since when it is stopped'),
    by: nullable(Type.String(), 'Who stopped'),
    commands: Type.Array(CallResult, { description: "What the devices' stop commands came to" }),
  },
  { title: 'StopStatus', description: 'The state of the emergency stop' },
)
