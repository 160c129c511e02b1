import type { Reader } from '../../cluster/cluster.ts'
import { blocked } from '../../system/errors.ts'
import { passesOn, type SettingsOwner } from './owner.ts'
import { storedHyperConverged } from './stored-hyperconverged.ts'

/** Right before a write: an upgrade of HyperConverged may have moved the stored version since we looked. Throws `blocked`. */
export async function ensureStillStored(reader: Reader, owner: SettingsOwner): Promise<void> {
  if (!passesOn(owner)) return
  const { kind } = await storedHyperConverged(reader)
  if (kind.apiVersion === owner.kind.apiVersion) return
  throw blocked(
    'hyperconverged-moved',
    `HyperConverged is stored as ${kind.apiVersion} now and no longer as ${owner.kind.apiVersion}: nothing was changed`,
    { remedy: 'run the same command again' },
  )
}
