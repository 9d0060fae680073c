import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { portsCommand } from '../../src/cli/ports.ts'
import { enumeratePorts } from '../../src/port/enumeration.ts'
import { CH340, CONBEE, FTDI, Machine } from '../port/machine.ts'
import { fakeTerminal } from './fake-terminal.ts'

let machine: Machine

beforeEach(async () => {
  machine = await Machine.create()
})

afterEach(() => machine.remove())

const mayOpen = () => Promise.resolve(true)

async function run(args: string[], columns = 400, unseenProcesses?: number) {
  const terminal = fakeTerminal({ columns })
  const command = portsCommand(async () => {
    const found = await enumeratePorts(machine.roots, mayOpen)
    return { ...found, unseenProcesses: unseenProcesses ?? found.unseenProcesses }
  })
  const code = await command.execute(args, terminal)
  return { code, printed: terminal.printed, complained: terminal.complained.join('\n') }
}

describe('baudway ports', () => {
  it('says on stderr that there is none, and ends well', async () => {
    const { code, printed, complained } = await run([])
    expect([code, printed]).toEqual([0, []])
    expect(complained).toContain('No serial port was found')
  })

  it('shows a row for each port and its stable link below', async () => {
    await machine.addUsb(FTDI)
    await machine.addUsb(CH340)
    const { code, printed, complained } = await run([])
    const width = machine.node('ttyUSB0').length
    expect(printed).toEqual([
      `${'PORT'.padEnd(width)}  WHAT               STATE`,
      `${machine.node('ttyUSB0')}  FTDI FT232 bridge  free`,
      `  path: ${machine.node(`serial/by-id/${FTDI.byId}`)}`,
      `${machine.node('ttyUSB1')}  CH340 bridge       free`,
      `  path: ${machine.node(`serial/by-id/${CH340.byId}`)}`,
    ])
    expect([code, complained]).toEqual([0, ''])
  })

  it('names what stands in the way, who holds the port, and the cure', async () => {
    await machine.addUsb(CONBEE)
    await machine.addProcess(700, 'node', { opens: [machine.node('ttyACM0')] })
    const { printed } = await run([])
    expect(printed[1]).toMatch(
      / {2}Zigbee radio stick \(ConBee\) {2}radio stick, in use: node \(process 700\)$/,
    )
    expect(printed.join('\n')).toMatch(/^ {2}radio stick: .*Leave it to zigbee2mqtt/m)
    expect(printed.join('\n')).toMatch(/^ {2}in use: node \(process 700\) has it open/m)
  })

  it('says once what is the same for several ports', async () => {
    await machine.addUsb(FTDI)
    await machine.addUsb(CH340)
    await machine.addProcess(500, 'ModemManager')
    const { printed } = await run([])
    expect(printed.filter((line) => line.endsWith('  ModemManager'))).toHaveLength(2)
    expect(printed.filter((line) => line.includes('systemctl disable --now ModemManager'))).toHaveLength(1)
  })

  it('wraps advice to the width of the terminal and never cuts a link or a cure', async () => {
    await machine.addUsb(CONBEE)
    const { printed } = await run([], 60)
    const [, , link, ...advice] = printed
    expect(link).toBe(`  path: ${machine.node(`serial/by-id/${CONBEE.byId}`)}`)
    expect(advice.length).toBeGreaterThan(1)
    for (const line of advice) expect(line.length).toBeLessThanOrEqual(60)
    expect(advice.map((line) => line.trim()).join(' ')).toContain(
      'Leave it to zigbee2mqtt or ZHA; `force: true` at the port opens it all the same.',
    )
  })

  it('shows no control character that an adapter says of itself', async () => {
    await machine.addUsb({ ...FTDI, product: 'Meter\u001b[2J' })
    const { printed } = await run([])
    expect(printed.join('')).toContain('Meter (FTDI FT232 bridge)')
    expect(printed.join('')).not.toContain('\u001b')
  })

  it('says on stderr that a holder may be hidden', async () => {
    await machine.addUsb(FTDI)
    expect((await run([], 80, 3)).complained).toContain('with sudo')
    expect((await run(['--json'], 80, 3)).complained).toBe('')
  })

  it('prints everything as JSON', async () => {
    await machine.addUsb(FTDI)
    const { ports } = await enumeratePorts(machine.roots, mayOpen)
    expect(JSON.parse((await run(['--json'])).printed.join('\n'))).toEqual({ ports })
  })

  it('prints an empty list as JSON where there is none', async () => {
    const { printed, complained } = await run(['--json'])
    expect([JSON.parse(printed.join('\n')), complained]).toEqual([{ ports: [] }, ''])
  })
})
