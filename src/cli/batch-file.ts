/** The request of a batch as a file has it: JSON or YAML, its faults named by line and column. */
import { resolve } from 'node:path'
import { LineCounter, parseDocument } from 'yaml'
import { CommandFault, WRONG_USAGE } from './command.ts'
import type { Terminal } from './terminal.ts'

export const BATCH_FILE_NOTES = [
  'FILE is JSON or YAML: a list of calls, or an object with "calls" and the',
  'options of a batch. - is stdin.',
] as const

/** A bare list is the calls. What the calls are is judged by the gateway. */
export async function readBatchFile(file: string, terminal: Terminal): Promise<unknown> {
  const name = file === '-' ? 'stdin' : file
  const text = await readText(file, name, terminal)
  const content = parseYaml(text, name)
  return Array.isArray(content) ? { calls: content } : content
}

/** The text of a file; `-` is stdin. */
export async function readText(file: string, name: string, terminal: Terminal): Promise<string> {
  try {
    return file === '-'
      ? await terminal.readStandardInput()
      : await terminal.readFile(resolve(terminal.directory, file))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandFault(WRONG_USAGE, `${name} cannot be read (${code ?? 'no reason given'})`)
  }
}

/** JSON is YAML. */
export function parseYaml(text: string, name: string): unknown {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  if (document.errors.length > 0) {
    const faults = document.errors.map(({ pos, message }) => {
      const { line, col } = lines.linePos(pos[0])
      return `${name}:${line}:${col}: ${message}`
    })
    throw new CommandFault(WRONG_USAGE, ...faults)
  }
  return document.toJS()
}
