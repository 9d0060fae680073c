import { chmod, rm, stat } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { enumeratePorts, type FoundPort } from '../../src/port/enumeration.ts'
import { CONBEE, FTDI, Machine } from './machine.ts'

let machine: Machine

beforeEach(async () => {
  machine = await Machine.create()
})

afterEach(() => machine.remove())

type Permission = (path: string) => Promise<boolean>

const everybody: Permission = () => Promise.resolve(true)
const nobody: Permission = () => Promise.resolve(false)

async function findOne(isPermitted = everybody): Promise<FoundPort> {
  const { ports } = await enumeratePorts(machine.roots, isPermitted)
  const [port, ...others] = ports
  expect(others).toEqual([])
  if (!port) throw new Error('there is no port')
  return port
}

const kinds = ({ obstacles }: FoundPort) => obstacles.map(({ kind }) => kind)

describe('the right to a port', () => {
  it('is missed with the user, the groups and the group of the node, and never cured by chmod', async () => {
    await machine.addUsb(FTDI)
    const node = await stat(machine.node('ttyUSB0'))
    const { obstacles } = await findOne(nobody)
    expect(obstacles).toMatchObject([{ kind: 'no_permission', blocking: true }])
    const { reason = '', cure = '' } = obstacles[0] ?? {}
    expect(reason).toContain(`user ${process.getuid?.()}`)
    expect(reason).toMatch(new RegExp(`group .*\\b${node.gid}\\b`))
    expect(reason).toContain('mode 660')
    for (const group of process.getgroups?.() ?? []) expect(reason).toContain(String(group))
    expect(cure).not.toContain('chmod')
  })

  it('is asked for by path, and not by opening', async () => {
    await machine.addUsb(FTDI)
    await chmod(machine.node('ttyUSB0'), 0o000)
    const asked: string[] = []
    await findOne((path) => {
      asked.push(path)
      return everybody(path)
    })
    expect(asked).toEqual([machine.node('ttyUSB0')])
  })

  it('does not matter where the node is missing, as in a container', async () => {
    await machine.addUsb(FTDI)
    await rm(machine.node('ttyUSB0'))
    const port = await findOne(nobody)
    expect(kinds(port)).toEqual(['no_node'])
    expect(port.obstacles[0]?.cure).toContain(`--device ${machine.node('ttyUSB0')}`)
  })
})

describe('another program at the port', () => {
  it('is named where it has locked it, and not once more as its reader', async () => {
    await machine.addUsb(FTDI)
    await machine.addProcess(812, 'socat', { opens: [machine.node('ttyUSB0')] })
    await machine.lock('ttyUSB0', 812)
    const port = await findOne()
    expect(port.holder).toEqual({ pid: 812, name: 'socat' })
    expect(kinds(port)).toEqual(['locked'])
    expect(port.obstacles[0]?.reason).toContain('socat (process 812)')
  })

  it('is named where it only has it open, under whatever path', async () => {
    await machine.addUsb(FTDI)
    await machine.link('dev/meter', 'ttyUSB0')
    await machine.addProcess(40, 'bash')
    await machine.addProcess(41, 'cat', { opens: [machine.node('meter')] })
    await machine.addProcess(42, 'minicom', { opens: [machine.node('ttyUSB0')] })
    const port = await findOne()
    expect(port.holder).toMatchObject({ name: expect.stringMatching(/^(cat|minicom)$/) })
    expect(kinds(port)).toEqual(['in_use'])
    expect(port.obstacles[0]?.reason).toMatch(/cat \(process 41\)/)
    expect(port.obstacles[0]?.reason).toMatch(/minicom \(process 42\)/)
  })

  it('is a second reader beside the one that has locked it', async () => {
    await machine.addUsb(FTDI)
    await machine.addProcess(41, 'cat', { opens: [machine.node('ttyUSB0')] })
    await machine.addProcess(812, 'socat', { opens: [machine.node('ttyUSB0')] })
    await machine.lock('ttyUSB0', 812)
    const port = await findOne()
    expect(kinds(port)).toEqual(['locked', 'in_use'])
    expect(port.obstacles[1]?.reason).toContain('cat (process 41) has it open')
  })

  it('is not one that has another port', async () => {
    await machine.addUsb(FTDI)
    await machine.write('dev/ttyS7', '')
    await machine.addProcess(41, 'cat', { opens: [machine.node('ttyS7'), machine.node('gone')] })
    expect(await findOne()).toMatchObject({ holder: null, obstacles: [] })
  })
})

describe('a serial console', () => {
  it('is found on the kernel command line', async () => {
    await machine.write('proc/cmdline', 'console=tty1 console=ttyS0,115200n8 root=/dev/sda1\n')
    await machine.addOnBoard('ttyS0', 'serial8250', 4)
    const port = await findOne()
    expect(kinds(port)).toEqual(['serial_console'])
    expect(port.obstacles[0]?.cure).toContain('serial-getty@ttyS0')
  })

  it('is found by the alias of a Raspberry Pi, whose own tool ends it', async () => {
    await machine.write('sys/firmware/devicetree/base/model', 'Raspberry Pi 3 Model B\0')
    await machine.write('proc/cmdline', 'console=serial0,115200 console=tty1\n')
    await machine.addOnBoard('ttyAMA0', 'uart-pl011', 32)
    await machine.link('dev/serial0', 'ttyAMA0')
    const port = await findOne()
    expect(kinds(port)).toEqual(['serial_console'])
    expect(port.obstacles[0]?.cure).toContain('raspi-config')
  })

  it('is found where the machine chose it without a word on the command line', async () => {
    await machine.addVirtual('console')
    await machine.write('sys/class/tty/console/active', 'tty0 ttyAMA0\n')
    await machine.addOnBoard('ttyAMA0', 'uart-pl011', 32)
    expect(kinds(await findOne())).toEqual(['serial_console'])
  })

  it('is a login prompt, by its open file or by its command line alone', async () => {
    await machine.addOnBoard('ttyS0', 'serial8250', 4)
    await machine.addProcess(600, 'agetty', { opens: [machine.node('ttyS0')], words: ['/sbin/agetty', '-'] })
    expect(kinds(await findOne())).toEqual(['serial_console'])
    await rm(`${machine.roots.proc}/600`, { recursive: true })
    await machine.addProcess(601, 'agetty', { words: ['/sbin/agetty', '115200', 'ttyS0', 'vt220'] })
    const port = await findOne()
    expect(kinds(port)).toEqual(['serial_console'])
    expect(port.obstacles[0]?.reason).toContain('agetty (process 601)')
  })

  it('is not one on another port, nor a port whose name only begins the same', async () => {
    await machine.write('proc/cmdline', 'console=ttyS10 noconsole=ttyS1\n')
    await machine.addOnBoard('ttyS1', 'serial8250', 4)
    await machine.addProcess(601, 'agetty', { words: ['/sbin/agetty', 'tty1', 'linux'] })
    await machine.addProcess(602, 'nano', { words: ['nano', 'ttyS1'] })
    expect(kinds(await findOne())).toEqual([])
  })
})

describe('what can go wrong later', () => {
  it('is ModemManager, on USB ports only', async () => {
    await machine.addUsb(FTDI)
    await machine.addOnBoard('ttyS0', 'serial8250', 4)
    await machine.addProcess(500, 'ModemManager')
    const { ports } = await enumeratePorts(machine.roots, everybody)
    expect(ports.map(kinds)).toEqual([[], ['modem_manager']])
    expect(ports[1]?.obstacles[0]).toMatchObject({ blocking: false })
  })

  it.each([
    ['boot/firmware/config.txt', 'enable_uart=0\n# core_freq=250\n', ['mini_uart']],
    ['boot/config.txt', 'dtparam=audio=on\n', ['mini_uart']],
    ['boot/firmware/config.txt', 'dtparam=audio=on\nenable_uart=1\n', []],
    ['boot/config.txt', 'core_freq=250 # for the meter\n', []],
    ['boot/other.txt', '', []],
  ])('is a mini-UART with %s saying %j', async (file, text, expected) => {
    await machine.write(file, text)
    await machine.addOnBoard('ttyS0', 'bcm2835-aux-uart', 4)
    expect(kinds(await findOne())).toEqual(expected)
  })

  it('is said beside what stands in the way now', async () => {
    await machine.addUsb(CONBEE)
    await machine.addProcess(500, 'ModemManager')
    await machine.addProcess(700, 'node', { opens: [machine.node('ttyACM0')] })
    expect(kinds(await findOne(nobody))).toEqual(['radio_stick', 'no_permission', 'in_use', 'modem_manager'])
  })
})
