import { execFile } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { PORT, READ_CO2 } from '../transport/fake-home.ts'
import { fakeTerminal } from './fake-terminal.ts'
import { makeWorkplace, SET_RELAY, type Workplace } from './workplace.ts'

let work: Workplace

beforeEach(async () => {
  work = await makeWorkplace()
})

afterEach(() => work.remove())

async function words(...typed: string[]): Promise<string[]> {
  const { terminal } = await work.serve()
  expect(await runCommandLine(['completion', 'words', '--', ...typed], terminal)).toBe(0)
  expect(terminal.complained).toEqual([])
  return terminal.printed
}

describe('completion', () => {
  it('offers the commands', async () => {
    expect(await words('')).toEqual([...COMMANDS.map(({ name }) => name), 'help', '--version'])
  })

  it.each([
    [['re'], ['release', 'replay']],
    [['help', 'ba'], ['batch']],
    [['call', 'rel'], [SET_RELAY.name]],
    [
      ['call', ''],
      [READ_CO2.name, SET_RELAY.name],
    ],
    [['call', SET_RELAY.name, 'ch'], ['channel=']],
    [['call', '--json', 'off'], [READ_CO2.name]],
    [['monitor', ''], [PORT.id]],
    [['monitor', '--j'], ['--json']],
    [['stop', '--c'], ['--clear']],
    [['completion', 'z'], ['zsh']],
    // Files, which the shell knows better.
    [['check', '--config', ''], []],
    [['batch', ''], []],
    [['nope', ''], []],
  ])('after %j offers %j', async (typed, offered) => {
    expect(await words(...typed)).toEqual(offered)
  })

  it('offers no tools, and no fault, where there is no gateway', async () => {
    const terminal = fakeTerminal({ environment: { BAUDWAY_URL: 'http://127.0.0.1:9' } })
    expect(await runCommandLine(['completion', 'words', '--', 'call', ''], terminal)).toBe(0)
    expect([terminal.printed, terminal.complained]).toEqual([[], []])
  })

  it.each(['bash', 'zsh', 'fish'])('prints a script for %s that asks this command', async (shell) => {
    const terminal = fakeTerminal()
    expect(await runCommandLine(['completion', shell], terminal)).toBe(0)
    expect(terminal.printed.join('\n')).toContain('completion words --')
  })

  it('knows no other shell', async () => {
    const terminal = fakeTerminal()
    expect(await runCommandLine(['completion', 'csh'], terminal)).toBe(2)
    expect(terminal.complained[0]).toBe('baudway completion: "csh" is none of bash, zsh and fish')
  })

  it('completes in bash', async () => {
    const terminal = fakeTerminal()
    await runCommandLine(['completion', 'bash'], terminal)
    const command = join(work.directory, 'baudway')
    await writeFile(command, '#!/bin/sh\nprintf "%s\\n" "$@"\n')
    await chmod(command, 0o755)
    const script = [
      ...terminal.printed,
      `COMP_WORDS=(${command} call "off"); COMP_CWORD=2; _baudway`,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is bash's own.
      'printf "%s\\n" "${COMPREPLY[@]}"',
    ]
    const { stdout } = await promisify(execFile)('bash', ['-c', script.join('\n')])
    expect(stdout.trim().split('\n')).toEqual(['completion', 'words', '--', 'call', 'off'])
  })
})
