import type { KubeVirt } from '../../../lib/cluster/kinds/kubevirt.ts'
import { findKubeVirts } from '../../../lib/facts/find-kubevirts.ts'
import { ticks } from '../../../lib/system/clock.ts'
import { ApiError } from '../../../lib/system/errors.ts'
import { minutes } from '../../../lib/system/units.ts'
import { countMoving } from '../../../lib/workloads/forecast.ts'
import { methodsOf } from '../../../lib/workloads/update-methods.ts'
import type { LookedAt } from '../../reader-for.ts'

/** What KubeVirt was told about migrations. */
export interface SettingsLook {
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
  { cluster: { reader }, clock }: LookedAt,
  namespace: string | undefined,
): () => Promise<SettingsLook> {
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
    const found = await findKubeVirts(reader)
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
