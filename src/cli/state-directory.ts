/** Where a gateway keeps its state unless it is told otherwise. */
import { resolve } from 'node:path'
import type { Terminal } from './terminal.ts'

type Place = Pick<Terminal, 'environment' | 'directory'>

/** That of systemd's StateDirectory=, else one in the working directory. */
export function usualStateDirectory({ environment, directory }: Place): string {
  return managed(environment) ?? resolve(directory, '.baudway')
}

/** The demo has one of its own, so that it never touches the state of a real gateway. */
export function demoStateDirectory({ directory }: Place): string {
  return resolve(directory, '.baudway-demo')
}

/** Where a local gateway may have its state, in the order in which they are looked at. */
export function stateDirectories(place: Place): readonly string[] {
  const own = managed(place.environment)
  const usual = [resolve(place.directory, '.baudway'), demoStateDirectory(place), '/var/lib/baudway']
  return own === undefined ? usual : [own, ...usual]
}

/** systemd separates several state directories by colons. */
function managed({ STATE_DIRECTORY = '' }: Place['environment']): string | undefined {
  const [first] = STATE_DIRECTORY.split(':', 1)
  return first === '' ? undefined : first
}
