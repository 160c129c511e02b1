import { narrowedLine } from '../output/kvup-words.ts'
import { onceCached } from '../kube/read-cache.ts'
import { homeOf, listKubeVirts } from '../kubevirt/snapshot.ts'
import { openOverrides } from '../engine/journal-config-map.ts'
import type { Override } from '../engine/journal.ts'
import { ApiError } from '../kube/errors.ts'
import {
  countApart,
  type CountApart,
  type NextStep,
  outdatedAlert,
  type OutdatedAlert,
  type Totals,
  unexplained,
} from './outdated-vms.ts'
import { readContext, type UpdaterContext } from './workload-updater.ts'
import { methodsOf, overrideId, restoreUpdatesLine } from './update-methods.ts'
import type { ReadCluster } from '../kubevirt/read-cluster.ts'
import type { SelectedVms } from './vm-selection.ts'
import type { Reader } from '../kube/cluster.ts'
import type { ShownHolder } from '../kubevirt/lease-holders.ts'

/** Besides its `items`, which are OutdatedItem. Times are RFC 3339. */
export interface OutdatedDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'OutdatedWorkloads'
  asOf: string
  /** What was asked for; empty for the whole cluster. */
  selection: { namespace?: string; labels?: string; node?: string }
  kubevirt?: { name: string; namespace: string; version?: string }
  /** Absent: they may not be read. */
  methods?: readonly string[]
  /** The virt-launcher of new pods. */
  launcher?: string
  /** kvup borrowed the methods. */
  held?: { by: string; at: string }
  /** Labels and counts are not true before the update is over. */
  updating: boolean
  totals: Totals
  /** Only of the whole cluster: beside the count in the status of the KubeVirt. */
  count?: CountApart & { unexplained: number }
  alert?: OutdatedAlert
  /** What may not be read: nothing is said of it. */
  unread: readonly { namespace?: string; what: string; why: string }[]
  remarks: readonly string[]
  /** The command for what comes next. */
  next?: string
}

export interface Around {
  context: UpdaterContext
  held: Override | undefined
  /** When the first of it was read. */
  at: Date
}

export async function readAround(
  { cluster, clock }: ReadCluster,
  namespace: string | undefined,
): Promise<Around> {
  const reader = onceCached(cluster.reader)
  const home = homeOf(await listKubeVirts(reader))
  const at = clock.now()
  const [context, found] = await Promise.all([
    readContext(reader, clock, namespace, home),
    home === undefined ? { loans: [] } : openOverrides(cluster, { namespace: home, clock }),
  ])
  if ('loans' in found) return { context, held: found.loans.find(({ id }) => id === overrideId), at }
  const remarks = [...context.remarks, `whether workload updates are held is not known: ${found.unread}`]
  return { context: { ...context, remarks }, held: undefined, at }
}

/** What is left of the rows once they are printed. */
export interface Told {
  selection: SelectedVms
  totals: Totals
  next: NextStep
  notRunning: number
  unread: { namespace: string; what: string; why: string }[]
  remarks: string[]
}

/** Who runs kvup now, and how that is told. */
interface AtWork {
  working: Promise<ShownHolder | undefined>
  /** `asOf` in RFC 3339. */
  says: (holder: ShownHolder, asOf: string) => string
}

/** Everything besides the rows. Lists the other VMIs only where KubeVirt counts another number. Throws ApiError. */
export async function outdatedDocument(
  reader: Reader,
  told: Told,
  { context, held, at }: Around,
  { working, says }: AtWork,
): Promise<OutdatedDocument> {
  const { kubevirt, launcher, launcherSince, updating, unread } = context
  const [count, holder] = await Promise.all([
    isWhole(told) ? countOf(reader, told, context) : undefined,
    working,
  ])
  const alert = outdatedAlert(
    Math.max(count?.reported ?? 0, told.totals.total),
    launcherSince,
    held !== undefined,
  )
  const next = nextOf(told, { context, held, holder })
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'OutdatedWorkloads',
    asOf: at.toISOString(),
    selection: told.selection,
    ...(kubevirt && kubevirtPart(kubevirt)),
    ...(launcher && { launcher }),
    ...(held && { held: { by: held.by, at: held.at } }),
    updating,
    totals: told.totals,
    ...(count && { count: { ...count, unexplained: unexplained(count) } }),
    ...(alert && { alert }),
    unread: [...unread, ...told.unread],
    remarks: [...context.remarks, ...told.remarks, ...(holder ? [says(holder, at.toISOString())] : [])],
    ...(next !== undefined && { next }),
  }
}

/** KubeVirt counts the whole cluster: what is only a part of it has nothing to be compared with. */
function isWhole({ selection, unread }: Told): boolean {
  return Object.keys(selection).length === 0 && unread.length === 0
}

function kubevirtPart(
  kubevirt: NonNullable<UpdaterContext['kubevirt']>,
): Pick<OutdatedDocument, 'kubevirt' | 'methods'> {
  const { name, namespace = '' } = kubevirt.metadata
  const version = kubevirt.status?.observedKubeVirtVersion
  return { kubevirt: { name, namespace, ...(version && { version }) }, methods: methodsOf(kubevirt) }
}

async function countOf(
  reader: Reader,
  { totals, notRunning }: Told,
  { kubevirt, updating, launcher }: UpdaterContext,
): Promise<CountApart | undefined> {
  if (kubevirt === undefined) return undefined
  const reported = kubevirt.status?.outdatedVirtualMachineInstanceWorkloads
  try {
    return await countApart(reader, { reported, labelled: totals.total, notRunning, updating, launcher })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    return undefined
  }
}

interface OutdatedContext extends Pick<Around, 'context' | 'held'> {
  holder: ShownHolder | undefined
}

function nextOf(
  { selection, totals, next }: Told,
  { context: { updating }, held, holder }: OutdatedContext,
): string | undefined {
  if (totals.total === 0) return undefined
  if (holder) return narrowedLine('kvup workloads migrations', selection)
  if (held) return restoreUpdatesLine(held)
  if (updating) return 'kvup status'
  return (
    next.command ??
    (totals.byFate.migrates > 0 ? narrowedLine('kvup workloads migrations', selection) : undefined)
  )
}
