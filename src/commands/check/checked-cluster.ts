import type { CommandContext } from '../../lib/kube/world.ts'
import type { Question } from '../../lib/checks/check-definition.ts'
import type { Cluster, Reader } from '../../lib/kube/cluster.ts'
import { type FullSnapshot, takeFullSnapshot } from '../../lib/kubevirt/full-snapshot.ts'
import { getInstallation, type Installation, theInstallation } from '../../lib/kubevirt/installation.ts'
import { leaseWatchOf } from '../../lib/kubevirt/lease-holders.ts'
import { itemsOf, known } from '../../lib/kube/known.ts'
import { homeOf, listKubeVirts, type Snapshot, takeSnapshot } from '../../lib/kubevirt/snapshot.ts'
import { assessRollout } from '../../lib/kubevirt/rollout-status.ts'
import { openOverrides } from '../../lib/engine/journal-config-map.ts'
import type { Method } from '../../lib/releases/hop-findings.ts'
import type { Version } from '../../lib/releases/release-versions.ts'
import { chooseMethod } from '../../lib/upgrade/upgrade-plan.ts'
import { accessOf, roleFor } from '../../lib/upgrade/roles.ts'
import { type ReadCluster, readerFor } from '../../lib/kubevirt/read-cluster.ts'
import type { KubeVirt } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import { actsOnEdit } from '../../lib/kubevirt/installed-components.ts'
import { seconds } from '../../lib/kube/clock.ts'

interface Asked {
  to: Version | undefined
  method: Method | 'auto'
  /** A saved cluster instead of the live one. */
  from?: string | undefined
  /** It is opened already. */
  snapshot?: ReadCluster
  /** An edit of the KubeVirt resource that virt-operator is acting on is waited for; not over a saved cluster, which stands still. */
  waits?: boolean
  /** Not to be asked: what this user may do. */
  without?: 'rights'
}

/** Everything that the checks are judged by, read once. Throws `blocked` where there is no KubeVirt, `forbidden` where none may be read. */
export async function readCheckedCluster(
  cx: CommandContext,
  asked: Asked,
): Promise<Omit<Question, 'releases' | 'target'>> {
  const { cluster, clock, saved } = asked.snapshot ?? (await readerFor(cx, asked.from))
  const first = theInstallation(watched(await takeSnapshot(cluster.reader, [], clock)))
  if (asked.waits) await untilActedOn(cx, cluster.reader, first.kubevirt)
  const method = asked.to && chooseMethod(asked.method, first, asked.to)
  const rights = asked.without ? undefined : accessOf(method ? roleFor(method) : 'kvup-view', first.namespace)
  const [gathered, borrowed] = await Promise.all([
    takeFullSnapshot(cluster, clock, { rights }),
    overriddenIn(cluster, first, clock),
  ])
  const silentLeases = saved ? undefined : await silentIn(cx, { cluster, clock }, gathered)
  const snapshot = { ...gathered, borrowed, ...(silentLeases && { silentLeases }) }
  const one = watched(snapshot)
  const at = clock.now()
  return {
    snapshot,
    installation: theInstallation(one),
    rolloutStatus: assessRollout(one, at),
    ...(method && { method }),
    at,
    ...(clock.ahead && { ahead: clock.ahead }),
  }
}

/** A Lease that is older than its term proves nothing, for clocks of nodes differ: it is watched. */
async function silentIn(
  { signal, printer }: CommandContext,
  { cluster: { reader }, clock }: Pick<ReadCluster, 'cluster' | 'clock'>,
  { leases, kubevirts }: FullSnapshot,
): Promise<FullSnapshot['silentLeases']> {
  const namespace = homeOf(kubevirts) ?? ''
  const told = (line: string) => printer.note(line)
  const watch = leaseWatchOf(clock)
  const found = await known(watch.settle(itemsOf(leases), { namespace, reader, clock, signal, told }))
  return watch.isUndecided(clock) ? undefined : found
}

/** Of several KubeVirts the one that virt-operator follows: the others are a finding. */
function watched<S extends Snapshot>(snapshot: S): S {
  if (getInstallation(snapshot).is !== 'several') return snapshot
  const one = itemsOf(snapshot.kubevirts).filter(({ status }) => status?.operatorVersion)
  return one.length === 1 ? { ...snapshot, kubevirts: { known: true, items: one } } : snapshot
}

async function overriddenIn(
  cluster: Cluster,
  { namespace, uid }: Installation,
  clock: CommandContext['clock'],
): Promise<NonNullable<FullSnapshot['borrowed']>> {
  const found = await openOverrides(cluster, { namespace, clock })
  if ('unread' in found) return { known: false, why: found.unread }
  // Of a KubeVirt that was deleted and made anew from a copy, nothing is given back by itself.
  const loans = found.loans.filter(({ object }) => object.kind !== 'KubeVirt' || object.uid === uid)
  return { known: true, items: loans.map(({ id, by }) => ({ id, by })) }
}

/** The real operator took up to 34 s. */
const atMost = 90 * seconds

/**
 * Waits while virt-operator acts on an edit of the KubeVirt resource, so that nobody is told to come back in a few seconds; 90 s at most.
 * Whether it waited: then what was seen is to be looked at anew. Throws the reason of the signal.
 */
async function untilActedOn(
  { clock, signal, printer }: Pick<CommandContext, 'clock' | 'signal' | 'printer'>,
  reader: Reader,
  kubevirt: KubeVirt,
): Promise<boolean> {
  if (!actsOnEdit(kubevirt)) return false
  printer.note('virt-operator is acting on an edit of the KubeVirt resource: waiting for it, 90s at most')
  const { uid } = kubevirt.metadata
  for (let waited = 0; waited < atMost; waited += seconds) {
    await clock.sleep(seconds, signal)
    const now = itemsOf(await listKubeVirts(reader)).find(({ metadata }) => metadata.uid === uid)
    if (!now || !actsOnEdit(now)) break
  }
  return true
}
