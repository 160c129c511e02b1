import { type Reader, orUnserved } from '../../kube/cluster.ts'
import { type KubeVirt, VirtualMachineInstances } from '../../kube/kinds/kubevirt-kinds.ts'
import { outdatedOnes } from '../../kubevirt/snapshot.ts'
import type { ReadContext, Step, StepState, Waiting } from '../../engine/step.ts'
import { evictionFinding, forecastOutdated, forecastText } from '../../vms/forecast/vm-forecast.ts'
import { readOwner, type SettingsOwner } from '../../vms/strategy/settings-owner.ts'
import { keptMethods, methodsOf, overrideOn, type Owner } from '../../vms/update-methods.ts'
import { vmName } from '../../vms/vm.ts'
import { ApiError } from '../../kube/errors.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import type { EusRequest } from '../window.ts'
import { type UpdatesPause, workloadsMoved } from '../../vms/vms-updated.ts'
import { type RefusedVms, restoreVm, vmsInOrder } from '../../vms/unblock/restore-vms.ts'
import type { Meanwhile } from '../../vms/pause-updates.ts'
import { overriddenVms, type VmRef } from '../../vms/unblock/vm-overrides.ts'

/** Ids of the risks that are taken, and the line that takes one more. */
type Taken = Pick<EusRequest, 'accepted' | 'command'>

/** Says what the methods will do to VMs before they are given back (night E12); evictions are accepted by name. */
export function forecastStep(settings: SettingsOwner, { accepted, command }: Taken): Step {
  return {
    id: 'forecast',
    title: 'forecast what happens to the VMs',
    patience: { every: 15 * seconds, atMost: 5 * minutes },
    estimate: 5 * seconds,
    watches: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ reader, journal }: ReadContext): Promise<StepState> {
      const override = overrideOn(settings, await journal.overrides())
      if (override === undefined) return { is: 'done' }
      const kubevirt: KubeVirt = await readOwner(reader, settings.kubevirt)
      const methods = keptMethods(override)
      const forecast = await forecastOutdated(reader, kubevirt, methods)
      const [evictions] = evictionFinding(methods, forecast)
      if (evictions === undefined || accepted.includes(evictions.id))
        return { is: 'done', note: `KubeVirt ${forecastText(forecast)}` }
      return {
        is: 'blocked',
        reason: evictions.id,
        by: evictions.summary,
        remedy: [
          'kvup workloads forecast     lists the VMs',
          `${command} --accept ${evictions.id}     accepts that`,
        ],
      }
    },
  }
}

/** No VM on an old virt-launcher, or a person has said that those may stay. Each is named: the next minor asks for it (ocp 6.3). */
export function noneOutdated(
  { id, title, risk }: { id: string; title: string; risk: 'outdated-launchers' | 'vms-that-stay' },
  { accepted, command }: Taken,
): Step {
  return {
    id,
    title,
    patience: { every: 15 * seconds, atMost: 5 * minutes },
    estimate: 5 * seconds,
    watches: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ reader }: ReadContext): Promise<StepState> {
      const left = await outdatedVms(reader)
      if (left.length === 0) return { is: 'done' }
      const named = `${left.slice(0, 10).join(', ')}${left.length > 10 ? ', …' : ''}`
      if (accepted.includes(risk)) return { is: 'done', note: `${left.length} not moved: ${named}` }
      return {
        is: 'blocked',
        reason: risk,
        by: `${left.length} VMs still run an old virt-launcher: ${named}`,
        remedy: [
          'kvup workloads outdated     shows why each is not moved',
          'kvup workloads restart     restarts those that need a restart',
          `${command} --accept ${risk}     continues anyway`,
        ],
      }
    },
  }
}

async function outdatedVms(reader: Reader): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { items } of orUnserved(reader.pages(VirtualMachineInstances, outdatedOnes)))
    names.push(...items.filter(({ status }) => status?.phase === 'Running').map(vmName))
  return names
}

const risk = 'vms-that-stay'

/**
 * Waits until KubeVirt has moved what it can. A VM that its methods would move, and that no node has room for, is waited for as long as nobody has taken it that
 * VMs stay; from then on it is not (ocp 6.3: none outdated, or accepted by name).
 */
export function vmsMoved(kubevirt: Owner, holds: UpdatesPause, { accepted, command }: Taken): Step {
  const step = workloadsMoved(kubevirt, holds)
  const stuck = stuckNow(kubevirt)
  return {
    ...step,
    async check(cx): Promise<StepState> {
      const state = await step.check(cx)
      if (state.is !== 'waiting' && state.is !== 'stalled') return state
      const staying = await stuck(cx)
      if (state.is === 'waiting' && staying === 0) return state
      return accepted.includes(risk)
        ? { is: 'done', note: `not waited for: ${state.is === 'stalled' ? state.why : cannotMove(staying)}` }
        : withResumeHint(state, staying, command)
    },
  }
}

const cannotMove = (count: number): string =>
  `${count} outdated ${count === 1 ? 'VM has' : 'VMs have'} no node to migrate to`

function withResumeHint(state: Waiting, staying: number, command: string): StepState {
  const remedy = [
    ...(state.remedy ?? []),
    'kvup workloads forecast     shows the reason for each',
    `${command} --accept ${risk}     continues without them`,
  ]
  return state.is === 'stalled'
    ? { ...state, remedy }
    : { ...state, trouble: state.trouble ?? cannotMove(staying), remedy }
}

/** Nodes, their room and each outdated VM are asked for once a minute, however often a migration changes. */
const every = minutes

/** How many outdated VMs stay where they are, where that is all that is left of them; 0 as long as one of them moves. */
function stuckNow(kubevirt: Owner): (cx: ReadContext) => Promise<number> {
  let last: { at: number; count: number } | undefined
  return async ({ reader, clock }) => {
    const at = clock.now().getTime()
    if (last === undefined || at - last.at >= every) last = { at, count: await stuckIn(reader, kubevirt) }
    return last.count
  }
}

async function stuckIn(reader: Reader, owner: Owner): Promise<number> {
  const kubevirt = await readOwner(reader, owner)
  const { counts } = await forecastOutdated(reader, kubevirt, methodsOf(kubevirt))
  const { stays, ...moving } = counts
  return Object.values(moving).some((count) => count > 0) ? 0 : stays
}

/**
 * Gives VMs back what `kvup workloads unblock` lent them, as `kvup restore-settings` does: behind the pools, for the drains of their nodes need it. One that the server
 * refuses is told, keeps its note, and keeps no window open.
 */
export const vmsRestored = (
  vms: readonly VmRef[],
  meanwhile: Meanwhile = 'ask',
  refused: RefusedVms = new Map(),
): readonly Step[] => vms.map((ref) => restoreVm(ref, meanwhile, refused))

/**
 * The same at the end of a window, whoever lent it meanwhile: steps are listed often, so that each VM is read only where there is one that was not seen before. Those
 * that were seen stay, whether or not they are still listed: each is asked for itself. Where VMs may not be listed (403) none comes to them. Throws any other ApiError.
 */
export function vmsRestoredNow(atFirst: readonly VmRef[]): (reader: Reader) => Promise<readonly Step[]> {
  let observed = atFirst
  const refused: RefusedVms = new Map()
  return async (reader) => {
    try {
      const { vms, unreadable } = await overriddenVms(reader)
      if (![...vms, ...unreadable].every((ref) => has(observed, ref))) {
        const now = await vmsInOrder(reader)
        observed = [...observed.filter((ref) => !has(now, ref)), ...now]
      }
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error
    }
    return vmsRestored(observed, 'ask', refused)
  }
}

const has = (refs: readonly VmRef[], { namespace, name }: VmRef): boolean =>
  refs.some((one) => one.namespace === namespace && one.name === name)
