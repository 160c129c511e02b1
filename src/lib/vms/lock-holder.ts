import type { Totals } from './outdated-vms.ts'
import type { UpdaterContext } from './workload-updater.ts'
import type { World } from '../kube/world.ts'
import { Leases } from '../kube/kinds/core-kinds.ts'
import { itemsOf, known } from '../kube/known.ts'
import { lockHolder, type ShownHolder } from '../kubevirt/lease-holders.ts'
import { isDead, leaseName, processOf } from '../engine/lease.ts'
import type { ReadCluster } from '../kubevirt/snapshot.ts'
import type { JournalRun } from '../engine/journal-runs.ts'
import { blocked, type KvupError, locked } from '../kube/errors.ts'
import { oneLine, watchLine } from '../kube/shell-line.ts'

/**
 * Who holds kvup's lock in KubeVirt's namespace, and whether its process is gone, where it ran on this very machine. Undefined
 * where nobody holds it, or Leases may not be read.
 */
export async function getLockHolder(
  { world }: { world: Pick<World, 'machine' | 'pid' | 'isAlive'> },
  { cluster, clock, saved }: ReadCluster,
  namespace: string,
): Promise<ShownHolder | undefined> {
  const leases = itemsOf(await known(cluster.reader.list(Leases, { namespace, name: leaseName })))
  const found = lockHolder(
    leases.find(({ metadata }) => metadata.name === leaseName),
    clock.now(),
  )
  if (found === undefined) return undefined
  const process = saved || !isDead(found.holder, world) ? undefined : processOf(found.holder)
  return { ...found, ...(process && { gone: process }) }
}

/** Who runs kvup now, where VMs stay that it may be about to move: read behind the rows, and only then. */
export async function whoIsAtWork(
  cx: { world: Pick<World, 'machine' | 'pid' | 'isAlive'> },
  snapshot: ReadCluster,
  { totals, context }: { totals: Totals; context: UpdaterContext },
): Promise<ShownHolder | undefined> {
  const { kubevirt, updating } = context
  if (totals.byOutcome.stays === 0 || kubevirt === undefined || updating) return undefined
  const holder = await getLockHolder(cx, snapshot, kubevirt.metadata.namespace ?? '')
  return holder?.gone ? undefined : holder
}

/** What shows that KubeVirt is being upgraded, and who does that. */
interface UpgradeSigns {
  isUpdating: boolean
  holder: ShownHolder | undefined
  /** The last run that the journal tells of: evidence. */
  last: Pick<JournalRun, 'by' | 'result' | 'to'> | undefined
  /** Who wrote the version last, as the API server tells. */
  writer: string | undefined
}

/** Why nobody can tell yet which VMs are outdated: exit 6 where another kvup upgrades KubeVirt, 3 where somebody else does. Undefined where nobody does. Pure. */
export function upgradeUnderWay({ isUpdating, holder, last, writer }: UpgradeSigns): KvupError | undefined {
  const isUpgrade = last?.to !== undefined
  const until = 'Which VMs are outdated is known after that'
  if (holder !== undefined && !holder.gone && (isUpdating || (isUpgrade && last.result === 'running'))) {
    const since = holder.since === undefined ? '' : ` since ${holder.since.replace(/\.\d+Z$/u, 'Z')}`
    return locked('locked', `KubeVirt is being upgraded by ${oneLine(holder.holder)}${since}. ${until}`, {
      remedy: watchLine(),
    })
  }
  if (!isUpdating) return undefined
  const left = isUpgrade && last.result !== 'done' ? `${last.by}, whose kvup is not running` : undefined
  return blocked(
    'kubevirt-updating',
    `KubeVirt is being upgraded by ${oneLine(left ?? writer ?? 'somebody unknown')}. ${until}`,
    // Nobody may be waiting for what was interrupted or stalls: where it stands is read first.
    {
      remedy:
        left === undefined
          ? 'kvup wait --for healthy     waits for it'
          : 'kvup status     says how far it is, and how it goes on',
    },
  )
}
