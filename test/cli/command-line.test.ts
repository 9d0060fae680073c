import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { fakeTerminal } from './fake-terminal.ts'

async function say(...words: string[]) {
  const terminal = fakeTerminal()
  const code = await runCommandLine(words, terminal)
  return { code, printed: terminal.printed.join('\n'), complained: terminal.complained.join('\n') }
}

describe('the command line', () => {
  it('has the commands of the contract that are there now', () => {
    expect(COMMANDS.map(({ name }) => name)).toEqual([
      'start',
      'check',
      'ports',
      'types',
      'probe',
      'tools',
      'devices',
      'call',
      'batch',
      'plan',
      'monitor',
      'send',
      'release',
      'stop',
      'replay',
      'new-device',
      'completion',
    ])
  })

  it.each([['help'], ['--help'], ['-h']])('prints every command with %s', async (word) => {
    const { code, printed } = await say(word)
    expect(code).toBe(0)
    for (const { name, summary } of COMMANDS)
      expect(printed).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'))
  })

  it('says how it is used where there is no command, on stderr and with 2', async () => {
    const { code, printed, complained } = await say()
    expect([code, printed]).toEqual([2, ''])
    expect(complained).toContain('usage: baudway <command>')
  })

  it.each(COMMANDS.map(({ name }) => name))('explains %s and each of its options', async (name) => {
    const command = await COMMANDS.find((entry) => entry.name === name)?.load()
    const { code, printed } = await say(name, '--help')
    expect(code).toBe(0)
    expect(printed).toMatch(new RegExp(`^usage: baudway ${name}\\b`))
    for (const [option, { help }] of Object.entries(command?.options ?? {})) {
      expect(printed).toMatch(new RegExp(`^  --${option}\\b.*  `, 'm'))
      expect(printed).toContain(help)
    }
    expect((await say('help', name)).printed).toBe(printed)
    for (const line of printed.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })

  it('prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(await say('--version')).toEqual({ code: 0, printed: version, complained: '' })
  })

  it.each([
    [['tols'], 'there is no command "tols". Did you mean tools? See "baudway help".'],
    [['help', 'nope\u001b[2J'], 'there is no command "nope".'],
    [['tools', 'extra'], 'baudway tools: takes no arguments: extra'],
    [['batch', 'a', 'b'], 'baudway batch: too many arguments: b'],
    [['call'], 'baudway call: TOOL is missing'],
    [['tools', '--jsn'], 'baudway tools: there is no option --jsn (did you mean --json?)'],
    [['devices', '--verbose'], 'baudway devices: there is no option --verbose (it has --'],
    [['devices', '-v'], 'baudway devices: there is no option -v (it has --'],
    [
      ['check', 'home.yaml'],
      'takes no arguments: home.yaml (a configuration is named with --config home.yaml)',
    ],
    [['tools', '--url'], "--url <value>' argument missing"],
    [['tools', '--json=yes'], '--json'],
    [['tools', '--token', 'a', '--token', 'b'], 'baudway tools: --token is given twice'],
  ])('%j is wrong usage', async (words, message) => {
    const { code, printed, complained } = await say(...words)
    expect([code, printed]).toEqual([2, ''])
    expect(complained).toContain(message)
  })

  it('shows the usage where the words were wrong', async () => {
    expect((await say('call')).complained).toContain('usage: baudway call TOOL [name=value …] [options]')
  })
})
