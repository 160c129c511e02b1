import { earliest, since } from '../kube/timestamps.ts'
import { outdatedOnes, unfinishedMigrations } from '../kubevirt/snapshot.ts'
import {
  type KubeVirt,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../kube/kinds/kubevirt-kinds.ts'
import type { ReadContext, Step, StepState } from '../engine/step.ts'
import { onKubeVirt, readOwner, type SettingsOwner } from './strategy/settings-owner.ts'
import { countMoving } from './forecast/vm-forecast.ts'
import {
  guardsOverride,
  MovesWatch,
  type PauseAgain,
  pauseAgain,
  pausedForHarm,
  resumeHints,
  stoppedBy,
  toEnd,
} from './update-guard.ts'
import { type NodesNow, nodesNow } from './forecast/cluster-room.ts'
import { keptMethods, methodsOf, overrideId, type Owner, resumeUpdatesLine } from './update-methods.ts'
import { type Clock, hours, minutes, seconds } from '../kube/clock.ts'
import { openOverrides } from '../engine/overrides.ts'
import { someOf } from '../kube/text.ts'
import { knownReleases } from '../releases/releases.ts'
import { clusterEvictionOf, vmName } from './vm.ts'
import { outlookOf } from './vm-outlook.ts'
import { readContext, rulesFrom } from './workload-updater.ts'
import type { Reader } from '../kube/cluster.ts'
import { type Event, Events } from '../kube/kinds/core-kinds.ts'
import { condition } from '../kube/object.ts'
import { itemsOf, known } from '../kube/known.ts'

const every = 15 * seconds

/** Who holds again where VMs come to harm. */
export interface UpdatesPause {
  who: string
  /** Somebody else owns the setting: nothing is written, and it has to be committed. */
  follow: boolean
  /** When the run began, ms since the epoch. */
  since: number
  /** Whose the settings are, where that is not the KubeVirt itself. */
  settings?: SettingsOwner
}

/**
 * Waits until no VM is outdated but those that the present methods leave where they are. Two launchers for one VMI, or three VMs that
 * fail for one reason: automatic VM updates are paused again (night W5), by whoever owns them.
 */
export function workloadsMoved(owner: Owner, { who, follow, since: begun, settings }: UpdatesPause): Step {
  const holder = settings ?? onKubeVirt(owner)
  const again = pauseAgain(holder, who)
  const watch = new MovesWatch(begun)
  const heldUp = delayedNow()
  const nodes = nodesNow()
  return {
    id: 'workloads',
    title: 'wait for VMs to get the new virt-launcher',
    doing: 'waiting for VMs to move to the new virt-launcher',
    patience: { every, atMost: 24 * hours },
    estimate: 600 * seconds,
    watches: [
      { kind: VirtualMachineInstances, where: outdatedOnes },
      { kind: VirtualMachineInstanceMigrations, where: {} },
    ],
    dependsOn: changesBefore,
    guards: true,
    goesOn: true,
    risk: {
      undo: follow ? 'none' : 'kvup workloads resume-updates, where kvup had to pause updates again',
      safeToLeave: 'always: KubeVirt continues by itself',
    },
    async check(cx): Promise<StepState> {
      const found = await outdatedNow(cx, owner, { again, holder, nodes })
      if ('is' in found) return found
      const { moving, note } = found
      const now = cx.clock.now()
      const { harm, ...ending } = await watch.read(cx.reader, moving, now.getTime())
      if (harm && follow)
        return stoppedBy(harm, 'nothing is paused, because kvup writes nothing here', commitPause)
      if (harm) return again.trip(harm)
      const on = toEnd({ outdated: moving.size, ...ending })
      if (on === undefined) return { is: 'done', ...note }
      return moving.size === 0
        ? { is: 'waiting', on }
        : delayedOr(await heldUp(cx.reader, now), moving.size, on)
    },
    ...(!follow && { apply: (cx) => again.apply(cx) }),
  }
}

/** A dry run cannot tell what becomes of VMs before these. */
const changesBefore = [
  'pause-workload-updates',
  'lift-image-tag',
  'apply-operator-manifest',
  'set-image-tag',
  'put-image-tag-in',
  'resume-workload-updates',
]

const commitPause = [
  'commit workloadUpdateMethods: []     pauses automatic VM updates',
  ...resumeHints.filter((line) => !line.startsWith(resumeUpdatesLine)),
]

/** Whether no VM is left that is to move: one look, without the guard. */
export async function areWorkloadsMoved(
  cx: ReadContext,
  owner: Owner,
  holder: Pick<SettingsOwner, 'uid'> = owner,
): Promise<boolean> {
  const found = await outdatedNow(cx, owner, { holder, nodes: nodesNow() })
  return !('is' in found) && found.moving.size === 0
}

/** What a guard holds is to move all the same: it is not done while such a VM is left. */
async function outdatedNow(
  cx: ReadContext,
  owner: Owner,
  { again, holder, nodes }: { again?: PauseAgain; holder: Pick<SettingsOwner, 'uid'>; nodes: NodesNow },
): Promise<{ moving: ReadonlyMap<string, string>; note: { note?: string } } | StepState> {
  const kubevirt = await readOwner(cx.reader, owner)
  const override = methodsOf(kubevirt).length === 0 ? await guardsOverride(cx.journal, holder) : undefined
  const methods = override ? keptMethods(override) : methodsOf(kubevirt)
  const rules = rulesOf(kubevirt, methods)
  const count = (more: { nodes?: number }) => countMoving(cx.reader, { ...rules, ...more })
  const first = await count({})
  // On one node nothing migrates: it is asked for only where that would keep us waiting.
  const { moving, staying } =
    first.moving.size === 0 ? first : await count(await nodes(cx.reader, cx.clock.now()))
  if (override && again?.tripped) return again.tripped
  if (override && moving.size > 0) return pausedForHarm(override, moving.size)
  return { moving, note: staying > 0 ? { note: `${staying} remain outdated` } : {} }
}

const rulesOf = (kubevirt: KubeVirt, methods: readonly string[]) => ({
  methods,
  clusterEviction: clusterEvictionOf(kubevirt),
  installs: kubevirt.status?.observedKubeVirtVersion,
})

/** Events are not followed: they are listed as often as is waited at most, not with every change of a migration. */
function delayedNow(): typeof delayedVms {
  let last: { at: number; found: readonly Delayed[] } | undefined
  return async (reader, now) => {
    if (last === undefined || now.getTime() - last.at >= every)
      last = { at: now.getTime(), found: await delayedVms(reader, now) }
    return last.found
  }
}

/** Stalled where none of those that are to move can. */
function delayedOr(found: readonly Delayed[], moving: number, on: string): StepState {
  if (found.length === 0) return { is: 'waiting', on }
  const why = found.map(({ sentence }) => sentence).join('; ')
  const remedy = found.flatMap(({ commands }) => commands)
  const held = new Set(found.flatMap(({ vms }) => vms))
  if (held.size < moving) return { is: 'waiting', on, trouble: why, remedy }
  const from = earliest(found.map((one) => one.since))
  return { is: 'stalled', on, why, remedy, ...(from !== undefined && { since: from }) }
}

/** VMs that KubeVirt tries to move again and again, and why it cannot. */
interface Delayed {
  /** `namespace/name`. */
  vms: readonly string[]
  sentence: string
  /** Commands that show it. */
  commands: readonly string[]
  /** RFC 3339; "at least". */
  since?: string
}

/** An event that is older says nothing of now: KubeVirt tries each batch again within minutes (facts 3.2). */
const fresh = 10 * minutes

/**
 * Migrations whose second pod a ResourceQuota refuses (facts 3.3, issue 14957), and evictions that a PodDisruptionBudget forbids; the
 * latter only events tell, and where these may not be read nothing is said. Throws what the Reader throws for anything but 403 and 404.
 */
export async function delayedVms(reader: Reader, at: Date): Promise<readonly Delayed[]> {
  const [migrations, events] = await Promise.all([
    known(unfinishedMigrations(reader)),
    known(reader.list(Events, { fields: 'reason=FailedEvict' })),
  ])
  return [...refusedByQuota(itemsOf(migrations)), ...protectedPods(itemsOf(events), at)]
}

function refusedByQuota(migrations: readonly VirtualMachineInstanceMigration[]): Delayed[] {
  const refused = migrations.filter(
    (one) => condition(one, 'migrationRejectedByResourceQuota')?.status === 'True',
  )
  const [first] = refused
  if (!first) return []
  return [
    delayedBy({
      vms: refused.map(({ metadata, spec }) => `${metadata.namespace}/${spec?.vmiName ?? metadata.name}`),
      why: 'cannot migrate: a ResourceQuota leaves no room for the second pod',
      commands: `kubectl -n ${first.metadata.namespace} get resourcequotas`,
      times: refused.map((one) => condition(one, 'migrationRejectedByResourceQuota')?.lastTransitionTime),
    }),
  ]
}

function protectedPods(events: readonly Event[], at: Date): Delayed[] {
  const last = new Map<string, Event>()
  for (const event of events) {
    const { namespace, name } = event.involvedObject ?? {}
    if (/disruption budget/i.test(event.message ?? '') && isFresh(event, at))
      last.set(`${namespace}/${name}`, event)
  }
  const [first] = last.values()
  if (!first) return []
  return [
    delayedBy({
      vms: [...last.keys()],
      why: 'cannot be evicted: a PodDisruptionBudget does not allow it',
      commands: `kubectl -n ${first.involvedObject?.namespace} get poddisruptionbudgets`,
      times: [...last.values()].map(({ firstTimestamp, eventTime }) => firstTimestamp ?? eventTime),
    }),
  ]
}

const isFresh = ({ lastTimestamp, eventTime, firstTimestamp }: Event, at: Date): boolean =>
  (since(lastTimestamp ?? eventTime ?? firstTimestamp, at) ?? 0) < fresh

interface Told {
  vms: readonly string[]
  why: string
  commands: string
  times: readonly (string | null | undefined)[]
}

function delayedBy({ vms, why, commands, times }: Told): Delayed {
  const names = vms.slice(0, 3).join(', ')
  const who = vms.length === 1 ? `VM ${names}` : `${vms.length} VMs (${names}${vms.length > 3 ? ', …' : ''})`
  const from = earliest(times)
  return { vms, sentence: `${who} ${why}`, commands: [commands], ...(from !== undefined && { since: from }) }
}

/** Outdated VMs that nobody moves, in a sentence for each reason; undefined where one moves, or is to be moved by KubeVirt. Throws ApiError. */
export async function unmovedVms(
  reader: Reader,
  clock: Pick<Clock, 'now'>,
): Promise<readonly string[] | undefined> {
  const context = await readContext(reader, clock, undefined)
  if (context.kubevirt === undefined || context.migrating.size > 0) return undefined
  const found = await openOverrides(reader, context.kubevirt.metadata.namespace ?? '')
  const paused = 'overrides' in found ? found.overrides.find(({ id }) => id === overrideId) : undefined
  const rules = rulesFrom(context, { paused, releases: knownReleases, at: clock.now() })
  if (rules === undefined) return undefined
  const reasons = new Map<string, string[]>()
  for await (const { items } of reader.pages(VirtualMachineInstances, outdatedOnes))
    for (const vmi of items) {
      const { outcome, why } = outlookOf(vmi, undefined, rules)
      if (outcome !== 'stays' && outcome !== 'restart') return undefined
      const text = why[0]?.text ?? 'KubeVirt does not move it'
      reasons.set(text, [...(reasons.get(text) ?? []), vmName(vmi)])
    }
  return [...reasons].map(([why, vms]) => `${why}: ${someOf(vms)}`)
}
