import { type Reader, orUnserved } from '../../kube/cluster.ts'
import { type Pod, Pods } from '../../kube/kinds/workload-kinds.ts'
import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { since } from '../../kube/timestamps.ts'
import { isBefore, versionOf } from '../../releases/release-versions.ts'
import { isUnfinished } from '../snapshot.ts'
import { isEnded, type LauncherTrouble, launcherTrouble, readAroundPods } from './launcher-trouble.ts'

/** A migration that does not get on by itself, and why. */
export interface StuckMigration {
  namespace: string
  /** Name of the VM. */
  vm: string
  /** Name of the VirtualMachineInstanceMigration. */
  migration: string
  phase: string
  /** RFC 3339: when the phase began. */
  since?: string
  sentence: string
  remedy: readonly string[]
}

/** A phase that lasts for less than this is not looked at, ms. */
const patience = 2 * 60_000
/** A target pod that is not to be found is missing after this, ms: a list may be older than the migration. */
const missingPatience = 5 * 60_000
/** The oldest are looked at; KubeVirt lets five run at a time. */
const atMost = 50

/**
 * Unfinished migrations whose target pod finds no node, does not start, ended or is gone. One list of pods by namespace (of five at most, else one of all), and what
 * `readAroundPods` reads. Throws ApiError where pods may not be read.
 */
export async function stuckMigrations(
  reader: Reader,
  migrations: readonly VirtualMachineInstanceMigration[],
  at: Date,
): Promise<readonly StuckMigration[]> {
  const late = migrations
    .filter((one) => hasTarget(one) && (since(phaseSince(one), at) ?? 0) >= patience)
    .toSorted((a, b) => Date.parse(phaseSince(a) ?? '') - Date.parse(phaseSince(b) ?? ''))
    .slice(0, atMost)
  if (late.length === 0) return []
  const pods = await targetPods(reader, late)
  const around = { ...(await readAroundPods(reader, [...pods.values()], at)), at }
  return late.flatMap((migration) => {
    const pod = pods.get(migration.metadata.uid ?? '')
    const trouble = pod && !isEnded(pod) ? launcherTrouble(pod, around) : undefined
    const one = stuckOf(migration)
    const found = trouble ? startProblem(trouble) : hungProblem(one, pod && { ended: endOf(pod) }, at)
    return found ? [{ ...one, ...found }] : []
  })
}

/** The unfinished migrations that a look found, and why others may be missing among them. */
export interface OpenMigrations {
  open: readonly VirtualMachineInstanceMigration[]
  unread?: string
}

/** Unfinished ones of every namespace; of a cluster that keeps too many for a look, those of the first page. Throws ApiError. */
export async function openMigrations(reader: Reader): Promise<OpenMigrations> {
  const open: VirtualMachineInstanceMigration[] = []
  let read = 0
  for await (const { items, remaining = 0 } of orUnserved(
    reader.pages(VirtualMachineInstanceMigrations, {
      pageSize: 500,
    }),
  )) {
    read += items.length
    open.push(...items.filter(isUnfinished))
    if (read + remaining > migrationsReadAtMost)
      return {
        open,
        unread: `KubeVirt keeps more than ${migrationsReadAtMost} of them (kvup workloads migrations reads all)`,
      }
  }
  return { open }
}

/** KubeVirt keeps five finished migrations of each VM: 50,000 of 10,000 VMs are 110 MB, and took 2.2 s in a hundred pages. A look reads so many at most. */
const migrationsReadAtMost = 5000

/** Whether a look reads them all; one small request. Throws ApiError. */
export async function areFewMigrations(reader: Reader): Promise<boolean> {
  for await (const { items, remaining = 0 } of orUnserved(
    reader.pages(VirtualMachineInstanceMigrations, {
      pageSize: 1,
    }),
  ))
    return items.length + remaining <= migrationsReadAtMost
  return true
}

/** One that waits for its turn has none, and one to or from another cluster has it there. */
function hasTarget(migration: VirtualMachineInstanceMigration): boolean {
  const { status, metadata } = migration
  const phase = status?.phase ?? ''
  const isOpen = phase !== '' && phase !== 'Pending' && phase !== 'Succeeded' && phase !== 'Failed'
  return isOpen && metadata.deletionTimestamp === undefined && !isDecentralized(migration)
}

/** Between two clusters: one of the two launchers is not here. */
export const isDecentralized = ({ spec }: Pick<VirtualMachineInstanceMigration, 'spec'>): boolean =>
  spec?.sendTo !== undefined || spec?.receive !== undefined

/** When the present phase began; RFC 3339. */
function phaseSince({ metadata, status }: VirtualMachineInstanceMigration): string | undefined {
  const reached = status?.phaseTransitionTimestamps?.findLast(({ phase }) => phase === status.phase)
  return (
    reached?.phaseTransitionTimestamp ?? status?.migrationState?.startTimestamp ?? metadata.creationTimestamp
  )
}

/** On a target pod: the uid of its migration. */
export const migrationUidLabel = 'kubevirt.io/migrationJobUID'

/** In more namespaces than this one list of the cluster is cheaper. */
const namespacesAtMost = 5

/** Where to list what is in these namespaces: in each of them, or everywhere (undefined). */
export function placesOf(namespaces: readonly string[]): readonly (string | undefined)[] {
  const distinct = [...new Set(namespaces)]
  return distinct.length > namespacesAtMost ? [undefined] : distinct
}

/** By the uid of the migration. The label only finds them: the owner is the VMI that moves, in its namespace. */
async function targetPods(
  reader: Reader,
  migrations: readonly VirtualMachineInstanceMigration[],
): Promise<ReadonlyMap<string, Pod>> {
  const wanted = new Map(migrations.map((one) => [one.metadata.uid ?? '', one]))
  const places = placesOf(migrations.map(({ metadata }) => metadata.namespace ?? ''))
  const found = new Map<string, Pod>()
  await Promise.all(
    places.map(async (namespace) => {
      const here = [...wanted].filter(
        ([, { metadata }]) => namespace === undefined || metadata.namespace === namespace,
      )
      const labels = `${migrationUidLabel} in (${here.map(([uid]) => uid).join(',')})`
      for await (const { items } of reader.pages(Pods, { namespace, labels }))
        for (const pod of items) {
          const uid = pod.metadata.labels?.[migrationUidLabel] ?? ''
          const migration = wanted.get(uid)
          if (migration !== undefined && isLauncherOf(pod, migration)) found.set(uid, pod)
        }
    }),
  )
  return found
}

function isLauncherOf({ metadata }: Pod, migration: VirtualMachineInstanceMigration): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  return (
    metadata.namespace === migration.metadata.namespace &&
    owner?.kind === 'VirtualMachineInstance' &&
    owner.name === migration.spec?.vmiName
  )
}

/** What is wrong with a migration, and what helps. */
export interface MigrationProblem {
  sentence: string
  remedy: readonly string[]
}

/** Of a target pod that does not start. */
export function startProblem({ kind, message, reason, remedy }: LauncherTrouble): MigrationProblem {
  const words = kind === 'unschedulable' ? 'no node accepts the target pod' : 'the target pod does not start'
  return { sentence: `${words}: ${message === '' ? reason : message}`, remedy }
}

/**
 * Of a migration that moves and whose target pod ended or is gone: it was seen to stay Running for hours (harvester issue 5756). `ended`: how, where the pod has.
 * Undefined while the target lives, and before a target is needed. Pure.
 */
export function hungProblem(
  { namespace, migration, phase, since: from }: Omit<StuckMigration, 'vm' | 'sentence' | 'remedy'>,
  target: { ended?: string | undefined } | undefined,
  at: Date,
): MigrationProblem | undefined {
  const age = since(from, at) ?? 0
  if (target !== undefined ? target.ended === undefined : !isMoving(phase) || age < missingPatience)
    return undefined
  if (age < patience) return undefined
  const what = target === undefined ? 'its target pod is gone' : `its target pod ended${target.ended}`
  return {
    sentence: `${what}, but the migration is still ${phase}: it is stuck`,
    remedy: [
      `kubectl -n ${shellWord(namespace)} delete virtualmachineinstancemigration ${shellWord(migration)}     cancels it; the guest keeps running where it is`,
    ],
  }
}

const isMoving = (phase: string): boolean => phase !== '' && phase !== 'Pending' && phase !== 'Scheduling'

/** How a launcher ended: ` (Error with code 1)`, or nothing where it does not say; undefined while it lives. */
export function endOf(pod: Pod): string | undefined {
  if (!isEnded(pod)) return undefined
  const { status } = pod
  const [ended] = (status?.containerStatuses ?? []).flatMap(({ state }) => state?.terminated ?? [])
  if (ended === undefined) return status?.reason ? ` (${status.reason})` : ''
  const code = ended.exitCode === undefined ? '' : ` with code ${ended.exitCode}`
  return ` (${ended.reason ?? 'Error'}${code})`
}

function stuckOf(migration: VirtualMachineInstanceMigration): Omit<StuckMigration, 'sentence' | 'remedy'> {
  const { namespace = '', name } = migration.metadata
  const from = phaseSince(migration)
  return {
    namespace,
    vm: migration.spec?.vmiName ?? name,
    migration: name,
    phase: migration.status?.phase ?? '',
    ...(from !== undefined && { since: from }),
  }
}

/** Of a VMI whose mark to leave a node stayed when that drain was over (kubevirt issue 9585). Who evicts pods without a drain, as a descheduler does, sets the same mark, and its migration takes it away. */
export const leftBehindSentence = (node: string): string =>
  `still marked to leave ${node}, which takes pods again: KubeVirt migrates it forever, unless a descheduler has just evicted it`

/** A VMI that was marked to leave a node. */
export interface MarkedVmi {
  namespace: string
  name: string
  node: string
}

/**
 * What takes away the mark of a drain that is over: `virtctl evacuate-cancel` where KubeVirt and virtctl are of v1.7 or newer, before that the patch that it stands
 * for (kubevirt PR 15957), which nobody ran here.
 */
export function evacuationRemedy(
  { namespace, name, node }: MarkedVmi,
  version: string | undefined,
): readonly string[] {
  const [place, vmi] = [shellWord(namespace), shellWord(name)]
  if (isBefore(versionOf(version), 7)) {
    return [
      `migrate or restart the VM, which takes the mark of ${node} away: before KubeVirt v1.7 nothing else does (status.evacuationNodeName)`,
      `kubectl -n ${place} get virtualmachineinstance ${vmi} -o jsonpath='{.status.evacuationNodeName}'     shows the mark`,
    ]
  }
  return [`virtctl -n ${place} evacuate-cancel vmi ${vmi}     removes the mark (virtctl v1.7 or newer)`]
}
