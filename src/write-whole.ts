import { renameSync, rmSync, writeFileSync } from 'node:fs'

/** Writes a file that only this user can read. Killed, or the disk full: there is the whole file or none. Throws what the file system says. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const begun = `${file}.part`
  try {
    writeFileSync(begun, text, { mode: 0o600 })
    renameSync(begun, file)
  } catch (error) {
    rmSync(begun, { force: true })
    throw error
  }
}
