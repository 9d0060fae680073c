/**
 * Secrets stay out of the file: `{ env: NAME }` or `{ file: PATH }` is resolved where the secret is used, anew each
 * time, so that a rotated one is taken up and none is kept in the configuration.
 */
import { readBoundedFile } from './bounded-file.ts'
import { ENVIRONMENT_NAME } from './notation.ts'

export type Secret = string | { readonly env: string } | { readonly file: string }

/** Where a configuration may hold a secret. */
export const SECRET_POINTERS = ['/mqtt/password', '/mcp/paths/*/path'] as const

/** A larger file holds no password. */
const SECRET_BYTES_MAX = 64 * 1024

/** The schema of a secret; `own` is what a secret that stands in the file itself must look like. */
export function secretSchema(description: string, own: Readonly<Record<string, unknown>> = {}) {
  return {
    type: ['string', 'object'],
    description: `${description} Best as { env: NAME } or { file: PATH }, which keep it out of this file.`,
    // Whoever shows a value must not show this one.
    writeOnly: true,
    if: { type: 'object' },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    then: {
      properties: {
        env: {
          type: 'string',
          pattern: ENVIRONMENT_NAME.pattern,
          description: 'The environment variable that holds the secret.',
        },
        file: {
          type: 'string',
          minLength: 1,
          description: 'The file that holds the secret; one line end at its end is left out.',
        },
      },
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
    },
    else: { minLength: 1, writeOnly: true, ...own },
  }
}

export type ResolvedSecret = { readonly value: string } | { readonly fault: string }

/** The secret itself, or a sentence that says why there is none. The sentence never holds the secret. */
export async function resolveSecret(
  secret: Secret,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ResolvedSecret> {
  if (typeof secret === 'string') return { value: secret }
  if ('env' in secret) {
    const value = environment[secret.env]
    return value ? { value } : { fault: `the environment variable ${secret.env} is not set` }
  }
  const content = await readBoundedFile(secret.file, SECRET_BYTES_MAX)
  if ('fault' in content) return { fault: `the secret in ${secret.file} is not to be had: ${content.fault}` }
  // The line end belongs to the editor, not to the secret.
  const value = new TextDecoder().decode(content.bytes).replace(/\r?\n$/, '')
  return value === ''
    ? { fault: `the secret in ${secret.file} is not to be had: the file is empty` }
    : { value }
}
