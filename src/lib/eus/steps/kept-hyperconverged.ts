import { isFields } from '../../cluster/apply/field-path.ts'
import type { Reader } from '../../cluster/cluster.ts'
import { atVersion } from '../../cluster/kind.ts'
import { HyperConvergeds } from '../../cluster/kinds/hyperconverged.ts'
import { fieldChanges, type Leaf, type Leaves, leavesOf } from '../../cluster/leaves.ts'
import type { Journal, JournalReader } from '../../procedure/journal.ts'
import { storedHyperConverged } from '../../workloads/strategy/stored-hyperconverged.ts'

/** The spec of the HyperConverged in one of its versions; the API server converts it to that one later as well. */
export interface KeptSpec {
  version: string
  leaves: Leaves
}

const key = (name: string): string => `${name}/hyperconverged`

/** Throws what `storedHyperConverged` throws. */
async function specNow(reader: Reader, version?: string): Promise<KeptSpec> {
  const kind =
    version === undefined ? (await storedHyperConverged(reader)).kind : atVersion(HyperConvergeds, version)
  const [hyperconverged] = await reader.list(kind)
  return { version: kind.apiVersion.split('/').at(-1) ?? '', leaves: leavesOf(hyperconverged?.spec ?? {}) }
}

export async function keepHyperConverged(journal: Journal, name: string, reader: Reader): Promise<void> {
  await journal.keep(key(name), await specNow(reader))
}

/** As it was when the window was opened, or as it is now where nothing was kept yet. Throws what `storedHyperConverged` throws. */
export async function hyperConvergedBefore(
  { reader, journal }: { reader: Reader; journal: JournalReader },
  name: string,
): Promise<KeptSpec> {
  const found = await journal.kept(key(name))
  if (!isFields(found) || typeof found['version'] !== 'string' || !isFields(found['leaves']))
    return specNow(reader)
  return { version: found['version'], leaves: found['leaves'] as Leaves }
}

/** What kvup borrows and gives back. */
const borrowed = /workloadUpdateMethods$/u

/**
 * Fields of its spec that read otherwise now: its operator rewrites some in each upgrade, which is listed and not reverted (night E13). A line
 * for each. Throws ApiError, 404 where that version is served no more.
 */
export async function rewrittenFields(reader: Reader, before: KeptSpec): Promise<readonly string[]> {
  const { leaves } = await specNow(reader, before.version)
  return fieldChanges(before.leaves, leaves)
    .filter(({ path }) => !borrowed.test(path))
    .map(({ path, from, to }) => `${path} was ${textOf(from)}, is ${textOf(to)}`)
}

const textOf = (leaf: Leaf | undefined): string => (leaf === undefined ? 'absent' : JSON.stringify(leaf))
