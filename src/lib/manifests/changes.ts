import type { Reader } from '../cluster/cluster.ts'
import type { KubeObject } from '../cluster/object.ts'
import type { RightsChange } from '../cluster/rights-in.ts'
import { differences } from '../cluster/apply/differences.ts'
import { pathText } from '../cluster/apply/field-path.ts'
import { kindOf } from './kinds.ts'
import { leftovers } from '../cluster/apply/leftovers.ts'
import { type Conflict, conflicts } from './ownership.ts'
import { rightsChange } from './rights.ts'

/** What applying one object of a manifest changes. */
export interface ObjectChange {
  readonly wanted: KubeObject
  readonly live: KubeObject | undefined
  readonly is: 'created' | 'changed' | 'same'
  /** Paths that change; empty unless `changed`. */
  readonly fields: readonly string[]
  /** Of roles. */
  readonly rights: RightsChange | undefined
  readonly conflicts: readonly Conflict[]
}

/** Reads every object of the manifest and compares; writes nothing, asks for no dry run. */
export async function manifestChanges(
  reader: Pick<Reader, 'find'>,
  objects: readonly KubeObject[],
): Promise<ObjectChange[]> {
  return Promise.all(objects.map(async (wanted) => changeOf(wanted, await liveOf(reader, wanted))))
}

/** Everything in the manifest is on the cluster already: applying it would change nothing. */
export function isApplied(changes: readonly ObjectChange[]): boolean {
  return changes.every((change) => change.is === 'same')
}

export async function liveOf(
  reader: Pick<Reader, 'find'>,
  wanted: KubeObject,
): Promise<KubeObject | undefined> {
  const found = await reader.find(kindOf(wanted), wanted.metadata)
  return found.is === 'object' ? found.object : undefined
}

export function changeOf(wanted: KubeObject, live: KubeObject | undefined): ObjectChange {
  const rights = rightsChange(wanted, live)
  if (live === undefined) return { wanted, live, is: 'created', fields: [], rights, conflicts: [] }
  const differing = differences(wanted, live)
  const fields = [...new Set([...differing, ...leftovers(wanted, live)].map(pathText))]
  const is = fields.length === 0 ? 'same' : 'changed'
  return { wanted, live, is, fields, rights, conflicts: conflicts(live, differing) }
}
