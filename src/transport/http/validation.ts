/**
 * The validators of the routes. Nothing in a request is coerced, dropped or defaulted by them. They belong to the
 * process and are compiled when they are first needed: compiling all of them takes longer than the rest of the
 * server's start.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'

const ajv = new Ajv({
  allErrors: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  verbose: true,
})

/** In the form of Fastify: the faults of the last value are a property of the function. */
interface Validator {
  (value: unknown): boolean
  errors?: ErrorObject[] | null
}

export const compileWhenUsed: FastifySchemaCompiler<object> = ({ schema }) => {
  let compiled: ValidateFunction | undefined
  const validator: Validator = (value) => {
    // The same schema object gives the same compiled function, whichever server asks.
    compiled ??= ajv.compile(schema)
    const isValid = compiled(value)
    validator.errors = compiled.errors ?? null
    return isValid
  }
  return validator
}
