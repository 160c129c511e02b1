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

/** A VMI whose launchers are asked for. */
export interface VmiRef {
  uid: string
  namespace: string
}

/** Reads the launcher pods of these VMIs, of one namespace or of all. Throws ApiError. */
export async function readLaunchers(
  reader: Reader,
  vmis: readonly VmiRef[],
  { namespace, at }: { namespace?: string | undefined; at: Date },
): Promise<Launchers> {
  const targets = new Map<string, TargetPod>()
  const living = new Map<string, number>()
  for await (const { pod, vmi } of livingLaunchers(reader, vmis, namespace)) {
    living.set(vmi, (living.get(vmi) ?? 0) + 1)
    targets.set(pod.metadata.labels?.[migrationUid] ?? '', targetOf(pod, at))
  }
  return { targets, living }
}

/** How many launcher pods of each of these VMIs, by uid, have not ended. Throws ApiError. */
export async function countLivingLaunchers(
  reader: Reader,
  vmis: readonly VmiRef[],
): Promise<Launchers['living']> {
  const living = new Map<string, number>()
  for await (const { vmi } of livingLaunchers(reader, vmis, undefined))
    living.set(vmi, (living.get(vmi) ?? 0) + 1)
  return living
}

/** The label only finds them: it can be put on any pod, by anybody who may create one. */
async function* livingLaunchers(
  reader: Reader,
  vmis: readonly VmiRef[],
  namespace: string | undefined,
): AsyncGenerator<{ pod: Pod; vmi: string }> {
  for (let from = 0; from < vmis.length; from += atOnce) {
    const asked = new Map(vmis.slice(from, from + atOnce).map((vmi) => [vmi.uid, vmi.namespace]))
    const labels = `${createdBy} in (${[...asked.keys()].join(',')})`
    for await (const { items } of reader.pages(Pods, { namespace, labels }))
      for (const pod of items.filter(isLiving)) {
        const vmi = vmiOf(pod)
        if (vmi !== undefined && asked.get(vmi) === pod.metadata.namespace) yield { pod, vmi }
      }
  }
}

/** The uid of the VMI that virt-controller made this pod for: launchers are controlled by their VMI, in its namespace. */
const vmiOf = ({ metadata }: Pod): string | undefined =>
  metadata.ownerReferences?.find(
    ({ kind, controller }) => controller === true && kind === 'VirtualMachineInstance',
  )?.uid

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
