import { type Reader, orUnserved } from '../../kube/cluster.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { launcherImage } from '../../kubevirt/lease-holders.ts'
import { since as elapsedSince } from '../../kube/timestamps.ts'
import { parseImage } from '../../kubevirt/installation.ts'
import { outdatedOnes } from '../../kubevirt/snapshot.ts'
import type { ReadContext, Step, StepState } from '../../engine/step.ts'
import { hop } from '../../releases/release-path.ts'
import { minorOf, type Version, versionOf } from '../../releases/release-versions.ts'
import { counted } from '../../kube/text.ts'
import { hours, minutes, seconds, ticks } from '../../kube/clock.ts'
import { clusterEvictionOf, lostData, placeBehind, restartLine, vmName, Vms } from '../../vms/vm.ts'
import { readOwner } from '../../vms/strategy/settings-owner.ts'
import { delayedVms, workloadsMoved } from '../../vms/vms-updated.ts'
import { readMigrations } from '../../vms/migrations/migration-ledger.ts'
import { endOf } from '../../vms/migrations/migration.ts'
import { nodesNow } from '../../vms/forecast/cluster-room.ts'
import { outlookOf } from '../../vms/vm-outlook.ts'
import { methodsOf, type Owner } from '../../vms/update-methods.ts'
import { readRollout, snapshotWatches } from '../upgrade-snapshot.ts'

/** So many migrations in a row that failed since it is waited for: KubeVirt would go on trying without end (facts 3.3). */
const failuresTaken = 3
/** What keeps a VM for this long is told as what it is: it cannot move. */
const stuckFor = 30 * seconds
/** A quota, or a PodDisruptionBudget, may give way. */
const heldUpFor = 5 * minutes

/** A VM that cannot follow, and why. */
interface Stuck {
  /** `namespace/name` */
  vm: string
  why: string
  remedy: readonly string[]
}

interface Watching {
  /** The release to go to next. */
  next: Version
  /** user@host, for the journal: virt-launchers that run twice make it pause updates again. */
  who: string
  /** When the run began, ms since the epoch. */
  since: number
}

/**
 * Waits between two steps of an upgrade path until no VM runs a virt-launcher more than one minor below the release to come: upstream tests
 * migrations from the minor before only. VMs that KubeVirt does not move, or cannot, end the run here (`blocked`, each named), once all others have
 * moved: automatic VM updates are resumed by then, and stay so.
 */
export function vmsFollow(owner: Owner, following: Watching): Step {
  const { next, who, since } = following
  const moved = workloadsMoved(owner, { who, follow: false, since })
  const nodes = nodesNow()
  let began: number | undefined
  let stuckSince: number | undefined
  return {
    ...moved,
    id: 'vms-follow',
    title: `move VMs off virt-launchers that are too old for ${minorOf(next)}`,
    patience: { every: 5 * seconds, atMost: 24 * hours },
    watches: [
      { kind: VirtualMachineInstances, where: outdatedOnes },
      { kind: VirtualMachineInstanceMigrations, where: {} },
      ...snapshotWatches(owner).slice(0, 1),
    ],
    dependsOn: [...(moved.dependsOn ?? [])],
    risk: { undo: 'none', safeToLeave: 'always: KubeVirt continues to move VMs' },
    async check(cx): Promise<StepState> {
      const now = cx.clock.now().getTime()
      began ??= now
      const old = await tooOld(cx, owner, next)
      if (old.length === 0) return { is: 'done' }
      const guarded = await moved.check(cx)
      if (guarded.is === 'blocked' || guarded.is === 'todo') return guarded
      const stuck = await stuckOf(cx, old, { owner, began, nodes: await nodes(cx.reader, cx.clock.now()) })
      if (stuck.length < old.length) stuckSince = undefined
      else stuckSince ??= ticks(cx.clock)
      if (stuckSince !== undefined && ticks(cx.clock) - stuckSince >= stuckFor) return ended(stuck, following)
      const left = counted(old.length, 'VM')
      return {
        is: 'waiting',
        on: `${left} to move to a virt-launcher that ${minorOf(next)} can follow`,
        ...(stuck.length > 0 && {
          trouble: told(stuck),
          remedy: stuck.flatMap((one) => one.remedy).slice(0, 4),
        }),
      }
    },
  }
}

/** VMs that run a virt-launcher more than one minor below `next`, or one that does not tell its version and is not the one in use. */
async function tooOld(
  cx: ReadContext,
  owner: Owner,
  next: Version,
): Promise<readonly VirtualMachineInstance[]> {
  const { snapshot, rolloutStatus } = await readRollout(cx, owner)
  const inUse = launcherImage(snapshot)
  const isOld = ({ status }: VirtualMachineInstance): boolean => {
    const image = status?.launcherContainerImageVersion
    if (status?.phase !== 'Running' || !image) return false
    const version = versionOf(image === inUse ? rolloutStatus.observed.version : parseImage(image).tag)
    return version === undefined ? image !== inUse : hop(version, next).kind === 'skips-minors'
  }
  const found: VirtualMachineInstance[] = []
  for await (const { items } of orUnserved(cx.reader.pages(VirtualMachineInstances, outdatedOnes)))
    found.push(...items.filter((vmi) => vmi.metadata.deletionTimestamp === undefined && isOld(vmi)))
  return found
}

interface Around {
  owner: Owner
  /** Of the wait, ms since the epoch: failures before it say nothing, for the roll of virt-handler kills migrations. */
  began: number
  nodes: { nodes?: number }
}

async function stuckOf(
  { reader, clock }: ReadContext,
  old: readonly VirtualMachineInstance[],
  { owner, began, nodes }: Around,
): Promise<readonly Stuck[]> {
  const [kubevirt, { ledger }, heldUp, vms] = await Promise.all([
    readOwner(reader, owner),
    readMigrations(reader),
    delayedVms(reader, clock.now()),
    vmsBehind(reader, old),
  ])
  const rules = { methods: methodsOf(kubevirt), clusterEviction: clusterEvictionOf(kubevirt), ...nodes }
  const kept = heldUp.filter(
    ({ since }) => since !== undefined && (elapsedSince(since, clock.now()) ?? 0) >= heldUpFor,
  )
  return old.flatMap((vmi): Stuck[] => {
    const vm = vmName(vmi)
    const { namespace = '', name } = vmi.metadata
    const { outcome, why, remedy } = outlookOf(vmi, vms.get(vm), rules)
    if (outcome === 'stays') return [{ vm, why: why[0]?.text ?? 'KubeVirt does not move it', remedy }]
    const failures = ledger.pastOf(vm).failures.filter((failure) => endOf(failure) >= began)
    if (failures.length >= failuresTaken) {
      const reason = failures[0]?.failureReason
      return [
        {
          vm,
          why: `its migration failed ${failures.length} times in a row${reason ? `: ${reason}` : ''}`,
          remedy: [
            `kubectl -n ${namespace} describe vmi ${name}`,
            restartLine({ namespace, name }, lostData(vmi)),
          ],
        },
      ]
    }
    const held = kept.find(({ vms: those }) => those.includes(vm))
    return held === undefined ? [] : [{ vm, why: held.sentence, remedy: held.commands }]
  })
}

async function vmsBehind(reader: Reader, old: readonly VirtualMachineInstance[]) {
  return new Vms(reader).behind(old.map(placeBehind))
}

const namedAtMost = 20

function told(stuck: readonly Stuck[]): string {
  const rest = stuck.length - namedAtMost
  const named = stuck.slice(0, namedAtMost).map(({ vm, why }) => `${vm} (${why})`)
  return [...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ')
}

function ended(stuck: readonly Stuck[], { next }: Watching): StepState {
  const who = counted(stuck.length, 'VM', ['does not move', 'do not move'])
  return {
    is: 'blocked',
    reason: 'vms-do-not-follow',
    by: `${who}, and would run a virt-launcher more than one minor below ${next.text}: ${told(stuck)}; automatic VM updates are resumed, kvup waits for nothing`,
    remedy: [
      ...new Set(stuck.flatMap(({ remedy }) => remedy)),
      'kvup workloads outdated     lists them, with a remedy for each',
    ].slice(0, 12),
  }
}
