/** The Raspberry Pi's mini-UART takes its speed from the core clock: unless that is fixed, every byte is at risk. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HostRoots } from './host-roots.ts'
import type { Hardware } from './usb-identity.ts'

/** Settings that keep the core clock where it is. */
const FIXED_CLOCK = /^\s*(enable_uart=1|core_freq=\d+|force_turbo=1)\s*(#.*)?$/m

export function isMiniUart({ driver }: Hardware): boolean {
  return driver === 'bcm2835-aux-uart'
}

/** Whether the firmware's settings let the core clock change; false where they cannot be read. */
export async function isCoreClockLoose({ boot }: HostRoots): Promise<boolean> {
  // The first is where it is since Raspberry Pi OS 12.
  for (const name of ['firmware/config.txt', 'config.txt']) {
    const settings = await readFile(join(boot, name), 'utf8').catch(() => undefined)
    if (settings !== undefined) return !FIXED_CLOCK.test(settings)
  }
  return false
}
