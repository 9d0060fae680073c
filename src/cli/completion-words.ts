/** What may come next on a command line, by what the commands declare and what the running gateway offers. */
import type { ToolView } from '../tool/shapes.ts'
import type { CommandEntry } from './command.ts'
import { findGateway, type GatewayOptions, listOf } from './gateway-client.ts'
import type { Terminal } from './terminal.ts'

/** Commands of which a positional is the id of something in the running gateway. */
const PORT_COMMANDS = new Set(['monitor', 'send', 'release'])

/** `words`: what stands after `baudway`, the last one being the word that is completed. */
export async function completionWords(
  words: readonly string[],
  commands: readonly CommandEntry[],
  terminal: Terminal,
): Promise<readonly string[]> {
  const [name = '', ...rest] = words
  const current = words.at(-1) ?? ''
  const fitting = (candidates: readonly string[]) => candidates.filter((word) => word.startsWith(current))
  const names = commands.map((entry) => entry.name)
  if (words.length <= 1) return fitting([...names, 'help', '--version'])
  if (name === 'help') return words.length === 2 ? fitting(names) : []
  const command = await commands.find((entry) => entry.name === name)?.load()
  if (!command) return []
  const before = rest.at(-2)
  const option = before?.startsWith('--') ? command.options[before.slice(2)] : undefined
  // The value of an option is the shell's own to complete: mostly it is a file.
  if (option?.type === 'string') return []
  if (current.startsWith('-')) {
    return fitting([...Object.keys(command.options).map((long) => `--${long}`), '--help'])
  }
  const isFirst = rest.slice(0, -1).every((word) => word.startsWith('-'))
  if (name === 'completion') return isFirst ? fitting(['bash', 'zsh', 'fish']) : []
  if (name === 'call') {
    const tools = await offered<ToolView>('tools', words, terminal)
    return fitting(isFirst ? tools.map((tool) => tool.name) : parametersOf(tools, rest))
  }
  if (!PORT_COMMANDS.has(name) || !isFirst) return []
  return fitting((await offered<{ id: string }>('ports', words, terminal)).map(({ id }) => id))
}

/** `name=` for each parameter of the tool. */
function parametersOf(tools: readonly ToolView[], rest: readonly string[]): readonly string[] {
  const tool = tools.find(({ name }) => rest.includes(name))
  return Object.keys((tool?.parameters.properties ?? {}) as object).map((parameter) => `${parameter}=`)
}

/** What the gateway lists; nothing where it cannot be asked: a completion has no place for a fault. */
async function offered<T>(
  plural: 'tools' | 'ports',
  words: readonly string[],
  terminal: Terminal,
): Promise<readonly T[]> {
  try {
    const gateway = await findGateway(gatewayOptions(words), terminal)
    return listOf<T>(await gateway.get(`/v1/${plural}`), plural, gateway.url)
  } catch {
    return []
  }
}

function gatewayOptions(words: readonly string[]): GatewayOptions {
  const given = (name: string) => {
    const at = words.indexOf(`--${name}`)
    return at === -1 ? undefined : words[at + 1]
  }
  const [url, token, stateDir] = [given('url'), given('token'), given('state-dir')]
  return {
    ...(url !== undefined && { url }),
    ...(token !== undefined && { token }),
    ...(stateDir !== undefined && { 'state-dir': stateDir }),
  }
}
