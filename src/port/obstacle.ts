/** What stands between a port and its use, each with its cure: said before anybody tries to open it. */
import type { RadioStick } from './radio-stick.ts'
import type { PortHolder } from './status.ts'

export type ObstacleKind =
  | 'no_node'
  | 'no_permission'
  | 'radio_stick'
  | 'locked'
  | 'in_use'
  | 'serial_console'
  | 'modem_manager'
  | 'shared_link'
  | 'mini_uart'

export interface Obstacle {
  readonly kind: ObstacleKind
  /** The port cannot be used as long as it is there; else it can go wrong. */
  readonly blocking: boolean
  readonly reason: string
  /** What to do about it, one sentence. */
  readonly cure: string
}

export function holderText({ pid, name }: PortHolder): string {
  if (name === null) return pid === null ? 'another process' : `process ${pid}`
  return pid === null ? name : `${name} (process ${pid})`
}

export function noNode(path: string): Obstacle {
  return {
    kind: 'no_node',
    blocking: true,
    reason: `the kernel has this port, and ${path} does not exist`,
    cure: `In a container, pass the device in (--device ${path}); elsewhere see whether udev runs.`,
  }
}

/** `groupName`: the group that the node is for; undefined: it has no name here. */
export function noPermission(reason: string, gid: number, groupName: string | undefined): Obstacle {
  return { kind: 'no_permission', blocking: true, reason, cure: permissionCure(gid, groupName) }
}

function permissionCure(gid: number, groupName: string | undefined): string {
  if (gid === 0) {
    return 'Only root has this port: give it to the group dialout by a udev rule.'
  }
  if (groupName === undefined) {
    return `The group ${gid} has no name here, as in a container: start it with --group-add ${gid}.`
  }
  return `Run \`sudo usermod -aG ${groupName} "$USER"\` and log in again; a service has to be restarted.`
}

export function radioStickObstacle({ name, radio, owner }: RadioStick): Obstacle {
  return {
    kind: 'radio_stick',
    blocking: true,
    reason: `a ${radio} radio stick (${name}) needs its port for itself`,
    cure: `Leave it to ${owner}; \`force: true\` at the port opens it all the same.`,
  }
}

export function locked(holder: PortHolder): Obstacle {
  return {
    kind: 'locked',
    blocking: true,
    reason: `${holderText(holder)} has locked it`,
    cure: 'End that program, or leave the port to it.',
  }
}

export function inUse(holders: readonly PortHolder[]): Obstacle {
  const one = holders.length === 1
  return {
    kind: 'in_use',
    blocking: true,
    reason: `${holders.map(holderText).join(', ')} ${one ? 'has' : 'have'} it open and would take a part of the replies`,
    cure: `End ${one ? 'that program' : 'those programs'}, or leave the port to ${one ? 'it' : 'them'}.`,
  }
}

/** `login`: the program that waits for somebody to log in there. */
export function serialConsole(name: string, isPi: boolean, login: PortHolder | undefined): Obstacle {
  const reason = login
    ? `${holderText(login)} offers a login on it`
    : 'the kernel writes its messages to it (console= of the kernel command line)'
  const cure = isPi
    ? 'Run `sudo raspi-config`, Interface Options, Serial Port: no login shell, but the hardware; then restart.'
    : `Take \`console=${name}\` from the kernel command line, run \`sudo systemctl mask --now serial-getty@${name}\`, and restart.`
  return { kind: 'serial_console', blocking: true, reason, cure }
}

export function modemManagerObstacle(holder: PortHolder): Obstacle {
  return {
    kind: 'modem_manager',
    blocking: false,
    reason: `${holderText(holder)} may send modem commands to USB ports when they are plugged in`,
    cure: 'Run `sudo systemctl disable --now ModemManager`, or set ID_MM_DEVICE_IGNORE=1 by a udev rule.',
  }
}

/** `others`: the ports that have the same name; `byPath`: the link that tells them apart. */
export function sharedLink(others: readonly string[], byPath: string | undefined): Obstacle {
  return {
    kind: 'shared_link',
    blocking: false,
    reason: `its adapter says the same of itself as that of ${others.join(', ')}, so they share one by-id link`,
    cure:
      byPath === undefined
        ? 'Give each a link of its own by a udev rule on its socket (KERNELS==).'
        : `Use the by-path link and leave the adapter in its socket: ${byPath}`,
  }
}

export function miniUartObstacle(): Obstacle {
  return {
    kind: 'mini_uart',
    blocking: false,
    reason: 'the speed of the mini-UART follows the core clock, which nothing keeps fixed',
    cure: 'Add `enable_uart=1` to config.txt, or give the PL011 to the pins with `dtoverlay=disable-bt`.',
  }
}
