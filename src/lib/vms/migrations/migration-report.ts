import { restartLine } from '../vm.ts'
import {
  backOffUntil,
  isRepeated,
  isRunning,
  type Maker,
  type Migration,
  type MigrationContext,
  type MigrationLimits,
  migrationLimits,
  vmOf,
  type Why,
  whyHung,
  whyPending,
} from './migration.ts'
import { keptByKubeVirt, type PastMigrations } from './migration-ledger.ts'
import type { Unread } from '../../kube/readable-pages.ts'
import type { MigrationSnapshot, Mover } from './migration-snapshot.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { evacuationRemedy } from '../../kubevirt/diagnosis/stuck-migrations.ts'
import { methodsOf } from '../update-methods.ts'
import { minutes, seconds, ticks } from '../../kube/clock.ts'
import { ApiError } from '../../kube/errors.ts'
import { listKubeVirts, type ReadCluster } from '../../kubevirt/snapshot.ts'
import type { KubeVirt } from '../../kube/kinds/kubevirt-kinds.ts'
import { countMoving } from '../forecast/vm-forecast.ts'

/** One row. */
export interface MigrationItem {
  namespace: string
  /** Name of the VM, which is that of its VMI. */
  vm: string
  /** `failing`: between two of its migrations; KubeVirt will make another one or not, as `failures` says. */
  state: 'running' | 'pending' | 'failing' | 'failed' | 'succeeded'
  /** Of the migration; empty until virt-controller has taken it up. */
  phase: string
  /** The VirtualMachineInstanceMigration. */
  migration: string
  by: Maker
  /** RFC 3339: when the phase began, or when it ended. */
  since?: string | undefined
  from?: string | undefined
  to?: string | undefined
  /** Why it does not run yet, the first being what has to go first. */
  why?: readonly Why[] | undefined
  failures?: Failing | undefined
  /** Of a finished one: why it failed. */
  reason?: string | undefined
}

interface MigrationTotals {
  running: number
  pending: number
  /** VMs whose last migration failed, those with another one under way included. */
  failing: number
  /** Of those, the ones that have failed as often as KubeVirt remembers. */
  endless: number
  /** Finished migrations that KubeVirt still has. */
  succeeded: number
  failed: number
}

export interface MigrationsReport {
  takenAt: string
  limits?: MigrationLimits
  totals: MigrationTotals
  pace?: Pace
  /** What is still to be migrated, without those that fail every time, and for how long that takes at this pace. */
  left?: { migrations: number; seconds?: number }
  remarks: readonly string[]
  /** Namespaces that may not be read. */
  unread?: readonly Unread[]
  items: readonly MigrationItem[]
}

/** `toMove`: how many outdated VMIs KubeVirt is going to migrate; undefined: not counted. Pure. */
export function migrationsReport(snapshot: MigrationSnapshot, toMove?: number): MigrationsReport {
  const limits = snapshot.kubevirt && migrationLimits(snapshot.kubevirt)
  const items = [...openItems(snapshot, limits), ...restingItems(snapshot)].sort(byState)
  const totals = totalsOf(snapshot, items)
  const pace = paceOf(snapshot.ledger.ends(snapshot.namespace), snapshot.at)
  const left = Math.max(totals.running + totals.pending, toMove ?? 0) - totals.endless
  return {
    takenAt: snapshot.at.toISOString(),
    ...(limits && { limits }),
    totals,
    ...(pace && { pace }),
    ...(left > 0 && { left: { migrations: left, ...(pace && { seconds: timeFor(left, pace) }) } }),
    remarks: snapshot.remarks,
    ...(snapshot.unread.length > 0 && { unread: snapshot.unread }),
    items,
  }
}

const order: readonly MigrationItem['state'][] = ['running', 'pending', 'failing', 'failed', 'succeeded']

/** A plain comparison: the first localeCompare of a process loads a language. */
function byState(a: MigrationItem, b: MigrationItem): number {
  const [first, second] = [`${a.namespace}/${a.vm}`, `${b.namespace}/${b.vm}`]
  return order.indexOf(a.state) - order.indexOf(b.state) || Number(first > second) - Number(first < second)
}

const isShown = ({ namespace }: MigrationSnapshot, of: string) => namespace === undefined || namespace === of

function openItems(snapshot: MigrationSnapshot, limits: MigrationLimits | undefined): MigrationItem[] {
  const { ledger, movers, partial } = snapshot
  const away = Map.groupBy(ledger.running, (one) => movers.get(vmOf(one))?.node ?? '')
  const running = partial ? undefined : ledger.running.length
  return ledger.open
    .filter(({ namespace }) => isShown(snapshot, namespace))
    .map((migration) => {
      const mover = movers.get(vmOf(migration))
      const item = itemOf(migration, mover)
      item.failures = failingOf(ledger.pastOf(vmOf(migration)), mover, { snapshot, open: true })
      const runningFromNode = away.get(mover?.node ?? '')?.length ?? 0
      item.why = whyOf(migration, snapshot, { running, runningFromNode, limits })
      return item
    })
}

/** Undefined of one that gets on. */
function whyOf(
  migration: Migration,
  snapshot: MigrationSnapshot,
  counts: Pick<MigrationContext, 'running' | 'runningFromNode' | 'limits'>,
): readonly Why[] | undefined {
  const { ledger, movers, launchers, at, kubevirt } = snapshot
  const mover = movers.get(vmOf(migration))
  const { failures } = ledger.pastOf(vmOf(migration))
  const around = {
    at,
    home: kubevirt?.metadata.namespace ?? 'kubevirt',
    failures: failures.length,
    backOffUntil: backOffUntil(failures),
    ...counts,
    uid: mover?.uid,
    node: mover?.node,
    leftBehind: leftBehindOf(migration, mover, snapshot),
    target: launchers?.targets.get(migration.uid),
    warning: snapshot.warnings?.get(vmOf(migration)),
    livingPods: launchers?.living.get(mover?.uid ?? ''),
  }
  if (!isRunning(migration) || migration.phase === 'Scheduling') return whyPending(migration, around)
  const hung = whyHung(migration, around)
  return hung && [hung]
}

function leftBehindOf(
  { namespace, vmi }: Migration,
  mover: Mover | undefined,
  { openNodes, kubevirt }: Pick<MigrationSnapshot, 'openNodes' | 'kubevirt'>,
): MigrationContext['leftBehind'] {
  const node = mover?.evacuating
  if (node === undefined || !openNodes?.has(node)) return undefined
  const version = kubevirt?.status?.observedKubeVirtVersion
  return { node, remedy: evacuationRemedy({ namespace, name: vmi, node }, version) }
}

/** VMIs whose last migration failed and that have no other one: those that KubeVirt tries again, or that are outdated still. */
function restingItems(snapshot: MigrationSnapshot): MigrationItem[] {
  const { ledger, movers } = snapshot
  const open = new Set(ledger.open.map(vmOf))
  return ledger.failing.flatMap((vm) => {
    const mover = movers.get(vm)
    const past = ledger.pastOf(vm)
    const [last] = past.failures
    if (open.has(vm) || mover === undefined || last === undefined || !isShown(snapshot, last.namespace))
      return []
    const failures = failingOf(past, mover, { snapshot, open: false })
    if (failures === undefined || !(failures.again || mover.outdated)) return []
    const state = failures.again ? 'failing' : 'failed'
    return [{ ...itemOf(last, mover), state, failures } satisfies MigrationItem]
  })
}

function itemOf(migration: Migration, mover: Mover | undefined): MigrationItem {
  const { namespace, vmi, name, phase, by, since } = migration
  const state = isRunning(migration) ? 'running' : 'pending'
  return { namespace, vm: vmi, state, phase, migration: name, by, since, ...pathOf(migration, mover) }
}

/** KubeVirt copies it into the migration only at the end: before that the VMI has it (facts 3.7). */
function pathOf({ uid, from, to }: Migration, mover: Mover | undefined): Pick<MigrationItem, 'from' | 'to'> {
  const own = mover?.migration?.uid === uid ? mover.migration : undefined
  return { from: from ?? own?.from ?? mover?.node, to: to ?? own?.to }
}

/** One that is over. Pure. */
export function finishedItem(migration: Migration): MigrationItem {
  const state = migration.phase === 'Succeeded' ? 'succeeded' : 'failed'
  return { ...itemOf(migration, undefined), state, reason: migration.failureReason }
}

function totalsOf(
  { ledger, namespace }: MigrationSnapshot,
  items: readonly MigrationItem[],
): MigrationTotals {
  const count = (holds: (item: MigrationItem) => boolean) => items.filter(holds).length
  return {
    running: count(({ state }) => state === 'running'),
    pending: count(({ state }) => state === 'pending'),
    failing: count(({ failures }) => failures !== undefined),
    endless: count(({ failures }) => failures?.endless === true),
    ...ledger.finished(namespace),
  }
}

/** A VMI whose migrations fail. */
export interface Failing {
  inARow: number
  /** KubeVirt keeps five: more may have failed than it still knows of (facts 3.3). */
  kept: number
  /** What KubeVirt says of the last one; undefined: nothing. */
  reason?: string
  /** RFC 3339, of the last one. */
  at?: string
  /** KubeVirt will make another one; it does so without end (lab "Seen with workloads" 5). */
  again: boolean
  /** All that are kept failed: waiting does not mend it (night W8). */
  endless: boolean
  sentence: string
  remedy: readonly string[]
}

/** What is to be said of failures in a row, of which there is at least one; `open`: another one is under way already. Pure. */
function failingOf(
  { kept, failures }: PastMigrations,
  mover: Mover | undefined,
  { snapshot, open }: { snapshot: MigrationSnapshot; open: boolean },
): Failing | undefined {
  const [last] = failures
  if (last === undefined) return undefined
  const again = open || triesAgain(last, mover, snapshot)
  const endless = again && failures.length >= keptByKubeVirt
  const { failureReason: reason } = last
  return {
    inARow: failures.length,
    kept,
    ...(reason !== undefined && { reason }),
    ...(last.since !== undefined && { at: last.since }),
    again,
    endless,
    sentence: `${timesText(failures.length, { kept, again, endless })}${reason ? `: ${reason}` : ''}`,
    remedy: remedyOf(last, { endless, mover }),
  }
}

/** The updater does while the VMI is outdated and LiveMigrate is among the methods, a drain while the VMI is to leave its node. */
function triesAgain(last: Migration, mover: Mover | undefined, { kubevirt }: MigrationSnapshot): boolean {
  if (mover === undefined || !isRepeated(last)) return false
  if (last.by === 'evacuation') return mover.evacuating !== undefined
  return mover.outdated && (kubevirt === undefined || methodsOf(kubevirt).includes('LiveMigrate'))
}

function timesText(
  times: number,
  { kept, again, endless }: Pick<Failing, 'kept' | 'again' | 'endless'>,
): string {
  if (endless) return `failed ${times} of ${kept} shown; KubeVirt retries forever`
  const text = times === 1 ? 'failed once' : `failed ${times} times in a row`
  return again ? `${text}; KubeVirt retries` : `${text}; KubeVirt does not retry`
}

/** What QEMU says when the CPU or a device of the guest is not to be had on the target: no further try helps (kubevirt issue 16386, harvester issue 11615). */
const incompatible =
  /guest CPU|extra features|unsupported feature|machine type|features 0x|load of migration failed: Operation not permitted/iu
const tooSlow = /not completed after|has been stuck|stalled|timed? ?out|no progress/iu

function remedyOf(
  { namespace, vmi, failureReason = '' }: Migration,
  { endless, mover }: { endless: boolean; mover: Mover | undefined },
): readonly string[] {
  const [name, place] = [shellWord(vmi), shellWord(namespace)]
  const snapshot = `kubectl -n ${place} describe vmi ${name}`
  if (mover === undefined) return []
  if (incompatible.test(failureReason)) return [snapshot, restartLine({ namespace, name: vmi })]
  if (tooSlow.test(failureReason)) return [snapshot, 'kvup workloads strategy show']
  return endless ? [snapshot, restartLine({ namespace, name: vmi })] : [snapshot]
}

/** How fast migrations succeed. */
interface Pace {
  perMinute: number
  /** Of how long this is the average, in seconds. */
  overSeconds: number
}

/** Migrations of longer ago say little of now. */
const paceWindow = 15 * minutes
/** One migration alone is no pace. */
const least = 2

/** The average since the first end within the last 15 minutes; undefined where too few ended. Pure. */
export function paceOf(ends: readonly number[], at: Date): Pace | undefined {
  const now = at.getTime()
  const recent = ends.filter((end) => end >= now - paceWindow && end <= now)
  if (recent.length < least) return undefined
  const span = now - recent.reduce((first, end) => Math.min(first, end), now)
  if (span < seconds) return undefined
  // The first end opens the span and is not of it.
  const perMinute = Math.round(((recent.length - 1) / (span / minutes)) * 10) / 10
  return perMinute === 0 ? undefined : { perMinute, overSeconds: Math.round(span / seconds) }
}

/** In seconds, at that pace. */
export function timeFor(migrations: number, { perMinute }: Pace): number {
  return Math.round((migrations / perMinute) * 60)
}

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
      return { kubevirt: undefined, toMove: undefined, remarks: [`limits are unknown: ${found.why}`] }
    const [kubevirt, second] = found.items
    if (!kubevirt || second) {
      const many = second ? `there are ${found.items.length} KubeVirts` : 'there is no KubeVirt'
      return { kubevirt: undefined, toMove: undefined, remarks: [`limits are unknown: ${many}`] }
    }
    return { kubevirt, toMove: await count(kubevirt), remarks: [] }
  }
}
