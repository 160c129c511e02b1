import { randomUUID } from 'node:crypto'
import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'

/**
 * Writes a file that only this user can read. Killed, or the disk full: there is the whole file or none. A link stays one, and what is no
 * file (a pipe, a device) is written into and never replaced. Throws what the file system says.
 */
export async function writeWhole(file: string, text: string): Promise<void> {
  const there = statSync(file, { throwIfNoEntry: false })
  if (there !== undefined && !there.isFile()) return writeFileSync(file, text)
  const target = there ? realpathSync(file) : file
  const begun = `${target}.${randomUUID()}.part`
  try {
    writeFileSync(begun, text, { mode: 0o600, flag: 'wx' })
    renameSync(begun, target)
  } catch (error) {
    rmSync(begun, { force: true })
    throw error
  }
}
