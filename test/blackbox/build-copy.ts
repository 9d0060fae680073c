/** A copy of the build that nobody else rebuilds meanwhile, and in which a fault can be planted. */
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../system/gateway-process.ts'

/** A fault: one place of one built file, which must be there exactly once. */
export interface Patch {
  /** Below dist/src. */
  readonly file: string
  readonly place: string
  readonly instead: string
}

/** The path of the copy's command. */
export async function copyBuild(directory: string, patches: readonly Patch[] = []): Promise<string> {
  await mkdir(directory, { recursive: true })
  await cp(join(ROOT, 'dist'), join(directory, 'dist'), { recursive: true })
  await cp(join(ROOT, 'package.json'), join(directory, 'package.json'))
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  for (const { file, place, instead } of patches) {
    const path = join(directory, 'dist', 'src', file)
    const parts = (await readFile(path, 'utf8')).split(place)
    if (parts.length !== 2) throw new Error(`${file} has the place "${place}" ${parts.length - 1} times`)
    await writeFile(path, parts.join(instead))
  }
  return join(directory, 'dist', 'src', 'main.js')
}
