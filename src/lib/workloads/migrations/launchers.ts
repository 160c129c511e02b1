import type { Reader } from '../../cluster/cluster.ts'
import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import { podTrouble } from '../../facts/pod-trouble.ts'
import type { TargetPod } from './pending.ts'

/** Launcher pods of VMIs whose migration does not run yet. */
export interface Launchers {
  /** By the uid of the migration. */
  targets: ReadonlyMap<string, TargetPod>
  /** How many have not ended, by the uid of the VMI: KubeVirt waits while there are two (facts 3.3). */
  living: ReadonlyMap<string, number>
}

const createdBy = 'kubevirt.io/created-by'
const migrationUid = 'kubevirt.io/migrationJobUID'
/** A selector of uids has to fit into an address. */
const atOnce = 50

/** Reads the launcher pods of these VMIs, by uid, of one namespace or of all. Throws ApiError. */
export async function readLaunchers(
  reader: Reader,
  uids: readonly string[],
  { namespace, at }: { namespace?: string | undefined; at: Date },
): Promise<Launchers> {
  const targets = new Map<string, TargetPod>()
  const living = new Map<string, number>()
  for await (const pod of livingLaunchers(reader, uids, namespace)) {
    const { [createdBy]: vmi = '', [migrationUid]: migration = '' } = pod.metadata.labels ?? {}
    living.set(vmi, (living.get(vmi) ?? 0) + 1)
    targets.set(migration, targetOf(pod, at))
  }
  return { targets, living }
}

/** How many launcher pods of each of these VMIs, by uid, have not ended. Throws ApiError. */
export async function countLivingLaunchers(
  reader: Reader,
  uids: readonly string[],
): Promise<Launchers['living']> {
  const living = new Map<string, number>()
  for await (const { metadata } of livingLaunchers(reader, uids, undefined)) {
    const vmi = metadata.labels?.[createdBy] ?? ''
    living.set(vmi, (living.get(vmi) ?? 0) + 1)
  }
  return living
}

async function* livingLaunchers(
  reader: Reader,
  uids: readonly string[],
  namespace: string | undefined,
): AsyncGenerator<Pod> {
  for (let from = 0; from < uids.length; from += atOnce) {
    const labels = `${createdBy} in (${uids.slice(from, from + atOnce).join(',')})`
    for await (const { items } of reader.pages(Pods, { namespace, labels })) yield* items.filter(isLiving)
  }
}

const isLiving = ({ status }: Pod) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed'

function targetOf(pod: Pod, at: Date): TargetPod {
  const { name, creationTimestamp } = pod.metadata
  const trouble = podTrouble(pod, { node: undefined, events: [], at })
  return {
    name,
    ...(creationTimestamp && { createdAt: creationTimestamp }),
    ...(trouble && { trouble }),
  }
}
