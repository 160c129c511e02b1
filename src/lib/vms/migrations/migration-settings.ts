import { ApiError } from '../../kube/errors.ts'
import type { ReadCluster } from '../../kubevirt/read-cluster.ts'
import type { KubeVirt } from '../../kube/kinds/kubevirt-kinds.ts'
import { listKubeVirts } from '../../kubevirt/snapshot.ts'
import { minutes, ticks } from '../../kube/clock.ts'
import { countMoving } from '../forecast/vm-forecast.ts'
import { methodsOf } from '../update-methods.ts'

/** What KubeVirt was told about migrations. */
export interface SettingsSnapshot {
  /** Undefined: none, several, or not read; a remark says which. */
  kubevirt: KubeVirt | undefined
  /** How many outdated VMIs its workload updater is going to migrate, where it does and all namespaces are asked for. */
  toMove: number | undefined
  remarks: readonly string[]
}

/** So often, at most, the outdated VMIs are counted. */
const countEvery = 1 * minutes

/** Reads the CR at every call, and counts what is still to come once a minute. */
export function settingsFor(
  { cluster: { reader }, clock }: ReadCluster,
  namespace: string | undefined,
): () => Promise<SettingsSnapshot> {
  let counted: { at: number; toMove: number | undefined } | undefined
  const count = async (kubevirt: KubeVirt | undefined) => {
    if (namespace !== undefined || !kubevirt || !methodsOf(kubevirt).includes('LiveMigrate')) return undefined
    const now = ticks(clock)
    if (counted && now - counted.at < countEvery) return counted.toMove
    const rules = { methods: ['LiveMigrate'], clusterEviction: undefined }
    const toMove = await countMoving(reader, rules).then(
      ({ moving }) => moving.size,
      (error: unknown) => {
        if (!(error instanceof ApiError) || error.status !== 403) throw error
        return undefined
      },
    )
    counted = { at: now, toMove }
    return toMove
  }
  return async () => {
    const found = await listKubeVirts(reader)
    if (!found.known)
      return { kubevirt: undefined, toMove: undefined, remarks: [`limits are not known: ${found.why}`] }
    const [kubevirt, second] = found.items
    if (!kubevirt || second) {
      const many = second ? `there are ${found.items.length} KubeVirts` : 'there is no KubeVirt'
      return { kubevirt: undefined, toMove: undefined, remarks: [`limits are not known: ${many}`] }
    }
    return { kubevirt, toMove: await count(kubevirt), remarks: [] }
  }
}
