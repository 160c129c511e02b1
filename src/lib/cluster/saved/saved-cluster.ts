import { usageError } from '../../system/errors.ts'
import type { Access, Cluster, Reviewer, Writer } from '../cluster.ts'
import type { Kind } from '../kind.ts'
import { HyperConvergeds } from '../kinds/hyperconverged.ts'
import { KubeVirts } from '../kinds/kubevirt.ts'
import { ClusterOperators, ClusterVersions, MachineConfigPools } from '../kinds/openshift.ts'
import type { KubeObject } from '../object.ts'
import { latestTime } from './latest-time.ts'
import { NotSavedError } from './not-saved.ts'
import type { ParsedFile } from './parse-saved.ts'
import { SavedObjects } from './saved-objects.ts'
import { type Saved, SavedReader } from './saved-reader.ts'
import { isIndex, type SnapshotIndex } from './snapshot-index.ts'

/** A cluster as it was at one moment. Its Writer refuses everything. */
export interface SavedCluster extends Cluster {
  /** When it was saved; of what kubectl printed, the latest time in it; undefined where there is none. */
  readonly takenAt: Date | undefined
}

/** What has to be in it, of what is asked there: KubeVirt, or whatever is told of OKD and OpenShift without it. */
export type Needed = 'kubevirt' | 'platform'

/**
 * A cluster made of what files hold: a snapshot of kvup, or what `kubectl get … -o yaml` printed. Throws `usage` for a snapshot that
 * lacks objects, two snapshots at once, and files without anything of what is needed.
 */
export function savedCluster(
  files: readonly ParsedFile[],
  from: string,
  needed: Needed = 'kubevirt',
): SavedCluster {
  const all = files.flatMap(({ objects }) => objects)
  const indexes = all.filter(isIndex)
  const [index, second] = indexes
  if (second) throw unfit(from, `it holds ${indexes.length} snapshots, and one is needed`)
  for (const file of files) requireWhole(file)
  const objects = all.filter((object) => !isIndex(object))
  const saved: Saved = {
    file: from,
    objects: new SavedObjects(objects),
    index,
    empty: files.flatMap(({ empty }) => empty),
  }
  requireOne(saved, needed)
  const writer = refusingWriter(from)
  return {
    reader: new SavedReader(saved),
    writer,
    reviewer: savedReviewer(saved, writer),
    takenAt: takenAt(index, objects),
  }
}

function takenAt(index: SnapshotIndex | undefined, objects: readonly KubeObject[]): Date | undefined {
  const time = index?.takenAt ?? latestTime(objects)
  return time === undefined ? undefined : new Date(time)
}

function requireWhole({ file, objects }: ParsedFile): void {
  const index = objects.find(isIndex)
  const there = objects.length - 1
  if (index && there < index.objects)
    throw unfit(file, `it is truncated: ${there} of ${index.objects} objects are there`)
}

const kinds: Record<Needed, readonly Kind[]> = {
  kubevirt: [KubeVirts],
  platform: [KubeVirts, ClusterVersions, MachineConfigPools, ClusterOperators, HyperConvergeds],
}

/** Without any of them every command would end with "cannot tell", and blame rights for it. */
function requireOne({ file, objects, index, empty }: Saved, needed: Needed): void {
  const isThere = (kind: Kind) => objects.has(kind) || empty.some((one) => one.kind === kind.kind)
  if (index || kinds[needed].some(isThere)) return
  const names = kinds[needed].map(({ apiVersion, kind }) => `${kind} (${apiVersion})`)
  throw unfit(file, `it holds no ${names.join(', ')}`, needed)
}

export function unfit(from: string, why: string, needed: Needed = 'kubevirt'): Error {
  return usageError('snapshot-unreadable', `cannot use ${from} as a saved cluster: ${why}`, {
    remedy: `kvup snapshot --to-file FILE      or ${printed[needed]}`,
  })
}

const printed: Record<Needed, string> = {
  kubevirt: 'kubectl get kubevirts,deployments,daemonsets,pods -A -o yaml >FILE',
  platform: 'oc get clusterversion,co,mcp,nodes -o yaml >FILE',
}

function savedReviewer({ index, file }: Saved, rehearsal: Writer): Reviewer {
  const answers = new Map(index?.rights.map(({ access, allowed }) => [keyOf(access), allowed]))
  return {
    can: async (access) => {
      const allowed = answers.get(keyOf(access))
      if (allowed === undefined)
        throw new NotSavedError(`whether ${access.verb} ${access.resource} is allowed`, file)
      return { allowed, reason: '' }
    },
    whoAmI: async () => undefined,
    rehearsal,
  }
}

const keyOf = ({ verb, group, resource, subresource = '', namespace = '', name = '' }: Access): string =>
  [verb, group, resource, subresource, namespace, name].join(' ')

function refusingWriter(from: string): Writer {
  const refuse = async (): Promise<never> => {
    throw usageError('saved-cluster', `${from} is a saved cluster: nothing can be changed in it`)
  }
  return {
    create: refuse,
    mergePatch: refuse,
    jsonPatch: refuse,
    apply: refuse,
    delete: refuse,
    subresource: refuse,
  }
}
