import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { zipSync, type Zippable } from 'fflate'
import { create } from 'tar'

/** What lies in the folder to be packed, sorted: paths relative to it, with `/`, no folders. */
export interface Packed {
  folder: string
  files: readonly string[]
  /** Names of those that can be run. */
  programs: readonly string[]
  /** Seconds since 1970, said of every file. */
  made: number
}

/** Packs by the ending of `file`, `.tar.gz` or `.zip`. The same files give the same bytes: no owners, one time, one order. */
export async function pack(file: string, packed: Packed): Promise<void> {
  if (file.endsWith('.zip')) writeFileSync(file, zipped(packed))
  else await tarred(file, packed)
}

async function tarred(file: string, { folder, files, programs, made }: Packed): Promise<void> {
  await create(
    {
      file,
      cwd: folder,
      gzip: true,
      portable: true,
      noDirRecurse: true,
      mtime: new Date(made * 1000),
      // Whatever the umask of who builds.
      onWriteEntry: (entry) => {
        if (entry.stat) entry.stat.mode = programs.includes(entry.path) ? 0o100755 : 0o100644
      },
    },
    files.toSorted(),
  )
}

/** A zip has local times, so one place has to be named: Greenwich, and no time before 1980. */
function zipped({ folder, files, programs, made }: Packed): Uint8Array {
  const local = new Date(Math.max(made, 315_619_200) * 1000)
  const mtime = new Date(local.getTime() + local.getTimezoneOffset() * 60_000)
  const tree: Zippable = {}
  for (const name of files.toSorted()) {
    const mode = programs.includes(name) ? 0o100755 : 0o100644
    tree[name] = [readFileSync(path.join(folder, name)), { mtime, os: 3, attrs: mode << 16 }]
  }
  return zipSync(tree)
}
