/** What may be called, by name. Each tool's own declaration is the only source of what it is. */
import { assert, GatewayError } from '../errors.ts'
import { type ArgumentCheck, argumentCheck } from './arguments.ts'
import { TOOL_NAME_PATTERN } from './define-tool.ts'
import { nearest } from './nearest.ts'
import type { ToolView } from './shapes.ts'
import type { Tool } from './tool.ts'

interface Registered {
  readonly tool: Tool
  readonly arguments: ArgumentCheck
}

export class ToolRegistry {
  readonly #tools = new Map<string, Registered>()

  add(tool: Tool): void {
    assert(TOOL_NAME_PATTERN.test(tool.name), `bad tool name ${tool.name}`)
    assert(!this.#tools.has(tool.name), `two tools are called ${tool.name}`)
    this.#tools.set(tool.name, { tool, arguments: argumentCheck(tool.name, tool.parameters) })
  }

  /** The tools of a device, which is gone or will be made anew. */
  removeDevice(id: string): void {
    for (const [name, { tool }] of this.#tools) if (tool.device === id) this.#tools.delete(name)
  }

  get(name: string): Registered | undefined {
    return this.#tools.get(name)
  }

  unknown(name: string): GatewayError {
    const near = nearest(name, this.#tools.keys())
    const hint = near.length === 0 ? 'GET /v1/tools lists the tools' : `did you mean ${near.join(' or ')}?`
    return new GatewayError('unknown_tool', `there is no tool "${name.slice(0, 100)}"`, { hint })
  }

  views(): ToolView[] {
    return Array.from(this.#tools.values(), ({ tool }) => viewOf(tool))
  }
}

function viewOf(tool: Tool): ToolView {
  return {
    name: tool.name,
    device: tool.device ?? null,
    command: tool.command ?? null,
    title: tool.title,
    description: tool.description,
    parameters: tool.parameters,
    returns: tool.returns,
    effect: tool.effect,
    // A predicate is true for some arguments only: `declared` says so, and the flag fails closed.
    parallelSafe: tool.parallelSafe === true,
    serial: tool.serial,
    declared: tool.declared,
    ...(tool.because === undefined ? {} : { because: tool.because }),
    dangerous: tool.dangerous,
    claims: tool.claims,
    timeoutMs: tool.timeoutMs ?? null,
    available: tool.refusal?.() === undefined,
  }
}
