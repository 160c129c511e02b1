import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { shellWord } from '../../system/shell-word.ts'
import { reason, type Reason } from '../outdated/reasons.ts'
import { forbiddenBy } from './budgets.ts'
import { demandOf } from './demand.ts'
import { placeFor, refusalsText } from './placement.ts'
import { refusedBy } from './quota-room.ts'
import type { Room } from './room.ts'
import { startDemandOf } from './start-demand.ts'

/** What is in the way of what the methods would do, and the command that shows it. */
export interface Obstacle {
  why: Reason
  remedy: readonly string[]
}

/** What is known of one VMI by asking for its pods and migrations. */
export interface Beside {
  /** Launcher pods that have not ended. */
  pods?: number | undefined
  /** Migrations in a row that failed, all that are kept. */
  endless?: { times: number; reason?: string } | undefined
}

/** Why its migration would never end well; undefined: nothing is known that is in the way. Throws ApiError. */
export async function obstacleToMigration(
  vmi: VirtualMachineInstance,
  room: Room,
  beside: Beside,
): Promise<Obstacle | undefined> {
  return (
    twoLaunchers(vmi, beside) ??
    failsEveryTime(vmi, beside) ??
    quotaRefuses(vmi, room) ??
    (await noNode(vmi, room, false))
  )
}

/** Why its pod would never be evicted. Pure. */
export function obstacleToEviction(vmi: VirtualMachineInstance, { budgets }: Room): Obstacle | undefined {
  const budget = budgets && forbiddenBy(budgets, vmi)
  if (budget === undefined) return undefined
  const { namespace = '' } = vmi.metadata
  return {
    why: reason('budget', `PodDisruptionBudget ${budget} allows no eviction now`),
    remedy: [`kubectl -n ${shellWord(namespace)} get poddisruptionbudget ${shellWord(budget)}`],
  }
}

/** Why it would not find a node once its pod has ended. Throws ApiError. */
export async function obstacleToReturn(
  vmi: VirtualMachineInstance,
  room: Room,
): Promise<Obstacle | undefined> {
  return noNode(vmi, room, true)
}

/** facts 3.3: KubeVirt waits while there are two pods. */
function twoLaunchers({ metadata }: VirtualMachineInstance, { pods = 0 }: Beside): Obstacle | undefined {
  if (pods < 2) return undefined
  const why = `${pods} launcher pods of it are alive without a migration: KubeVirt waits`
  const uid = metadata.uid ?? ''
  return {
    why: reason('two-launchers', why),
    remedy: [`kubectl -n ${placeOf(metadata)} get pods -l kubevirt.io/created-by=${uid}`],
  }
}

/** What fails is repeated without end (facts 3.3): true too of the one that is under way. Pure. */
export function failsEveryTime(
  { metadata }: VirtualMachineInstance,
  { endless }: Beside,
): Obstacle | undefined {
  if (endless === undefined) return undefined
  const [name, place] = [shellWord(metadata.name), placeOf(metadata)]
  const because = endless.reason === undefined ? '' : `: ${endless.reason}`
  return {
    why: reason('fails-every-time', `its last ${endless.times} migrations failed${because}`),
    remedy: [`kubectl -n ${place} describe vmi ${name}`, `virtctl restart ${name} -n ${place}`],
  }
}

const placeOf = ({ namespace = '' }: VirtualMachineInstance['metadata']): string => shellWord(namespace)

function quotaRefuses(vmi: VirtualMachineInstance, { quotas, sharing }: Room): Obstacle | undefined {
  const { namespace = '' } = vmi.metadata
  if (!quotas?.has(namespace)) return undefined
  const quota = refusedBy(quotas, namespace, demandOf(vmi, sharing, undefined).resources)
  if (quota === undefined) return undefined
  return {
    why: reason('quota', `ResourceQuota ${quota} has no room for the second pod`),
    remedy: [`kubectl -n ${shellWord(namespace)} get resourcequotas`],
  }
}

async function noNode(
  vmi: VirtualMachineInstance,
  { places, neighbours, sharing }: Room,
  again: boolean,
): Promise<Obstacle | undefined> {
  if (places === undefined) return undefined
  const from = vmi.status?.nodeName
  const demand = again ? startDemandOf(vmi, sharing, places) : demandOf(vmi, sharing, places.labelsOf(from))
  const move = { from, again, uid: vmi.metadata.uid ?? '' }
  const found = await placeFor(demand, { places, neighbours }, move)
  if ('node' in found) return undefined
  const others = again ? 'no node takes it again' : 'no other node takes it'
  return {
    why: reason(again ? 'no-node-again' : 'no-node', `${others}: ${refusalsText(found.refusals)}`),
    remedy: ['kubectl get nodes -L kubevirt.io/schedulable'],
  }
}
