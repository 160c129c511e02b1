import type { Context } from '../../context.ts'
import { type BackupOrigin, backupOf, isBackupOf } from '../../lib/manifests/backup.ts'
import type { ObjectChange } from '../../lib/manifests/changes.ts'
import { usageError } from '../../lib/system/errors.ts'

/**
 * Saves what is going to be replaced. The file of an earlier run is kept, for on resuming half of it is replaced already; any
 * other file is neither overwritten nor taken for the way back. Throws `usage`: without a way back nothing is changed.
 */
export async function saveBackup(
  changes: readonly ObjectChange[],
  origin: BackupOrigin,
  { world, printer }: Pick<Context, 'world' | 'printer'>,
): Promise<void> {
  const { file } = origin
  const before = await readIfThere(file, world)
  if (before === undefined)
    return world.writeText(file, backupOf(changes, origin)).catch((cause: unknown) => {
      throw notSaved(file, cause)
    })
  if (!isBackupOf(before, origin)) throw taken(file)
  printer.note(`${file} is there already and is kept: it holds the objects from before the first run`)
}

async function readIfThere(file: string, world: Context['world']): Promise<string | undefined> {
  try {
    return await world.readText(file)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    throw notSaved(file, cause)
  }
}

function notSaved(file: string, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause)
  return usageError(
    'backup',
    `the objects that would be replaced cannot be saved to ${file}: ${why}. Nothing was changed`,
    { remedy: 'name a file that can be written: --backup FILE', cause },
  )
}

function taken(file: string): Error {
  return usageError(
    'backup',
    `${file} is there already and is no whole backup of this KubeVirt from before this update. Nothing was changed`,
    { remedy: 'name another file: --backup FILE' },
  )
}
