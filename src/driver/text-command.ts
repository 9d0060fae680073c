/** A command of text with `{parameter}` in it. */
import { GatewayError } from '../errors.ts'
import type { Bindings } from './text-pattern.ts'

export interface TextCommand {
  /** Names in braces, in order. */
  readonly parameters: readonly string[]
  text(bindings: Bindings): string
  /** The arguments of a text that this command could have made; for simulators. */
  recognise(text: string): Bindings | undefined
}

const PARAMETER = /\{([a-zA-Z_][a-zA-Z0-9_]*)\}/g

export function textCommand(source: string): TextCommand {
  const parameters = [...new Set([...source.matchAll(PARAMETER)].map(([, name = '']) => name))]
  const parts = source.split(PARAMETER)
  return {
    parameters,
    text: (bindings) => source.replaceAll(PARAMETER, (_, name: string) => bindings[name] ?? ''),
    recognise: (text) => recognised(parts, text),
  }
}

/**
 * The texts of arguments. Throws a GatewayError `invalid_arguments` for one that would end the command early, begin
 * another one or reach the device as a control character: it must contain none, nor any of `ends`.
 */
export function bindingsOf(
  args: Readonly<Record<string, unknown>>,
  names: readonly string[],
  ends: readonly string[],
): Bindings {
  const bindings: Record<string, string> = {}
  for (const name of names) {
    const text = String(args[name] ?? '')
    const isControl = [...text].some((character) => /\p{Cc}/u.test(character))
    if (isControl || ends.some((end) => end !== '' && text.includes(end))) {
      throw new GatewayError(
        'invalid_arguments',
        `${name}: it may contain no control character and nothing that ends a command`,
        { field: `/${name}` },
      )
    }
    bindings[name] = text
  }
  return bindings
}

/** `parts` alternate: literal text, name, literal text … Each argument ends where the next literal text begins. */
function recognised(parts: readonly string[], text: string): Bindings | undefined {
  const [start = ''] = parts
  if (!text.startsWith(start)) return undefined
  const bindings: Record<string, string> = {}
  let at = start.length
  for (let index = 1; index < parts.length; index += 2) {
    const name = parts[index] ?? ''
    const next = parts[index + 1] ?? ''
    const end = next === '' ? text.length : text.indexOf(next, at)
    if (end === -1) return undefined
    bindings[name] = text.slice(at, end)
    at = end + next.length
  }
  return at === text.length ? bindings : undefined
}
