import type { Reader } from '../../cluster/cluster.ts'
import { type VirtualMachineInstance, VirtualMachineInstances } from '../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../cluster/object.ts'
import { outdatedLabel } from '../../facts/workload-count.ts'
import type { Entry } from '../../procedure/journal.ts'
import type { Candidate } from '../waves/candidate.ts'
import { placeOfVm } from '../vm-name.ts'

/** A restart that was asked for: the journal remembers the instance that it was asked of (night W3). */
export interface Restart {
  vm: string
  /** Of the VMI that is to go. */
  uid: string
  /** The guest agent was connected: it has to be so again. */
  agent: boolean
  /** ms since the epoch. */
  at: number
  /** The server has taken it; otherwise a run was cut off just then. */
  taken: boolean
}

/** Where a restarted VM stands; `wellAt` in ms since the epoch. */
export type RestartState =
  | { is: 'back'; wellAt: number }
  | { is: 'under-way' }
  | { is: 'missing' }
  | { is: 'not-begun' }

/** Behind a colon stands why it was refused. */
const form = /^restart (?<vm>\S+\/\S+), whose instance is (?<uid>[^\s:]+)(?<agent> with its agent)?(?:$|: )/u

/** The intent of a restart, for the journal and for `restartsIn`. */
export function restartText({ vm, uid }: Pick<Candidate, 'vm' | 'uid'>, agent: boolean): string {
  return `restart ${vm}, whose instance is ${uid}${agent ? ' with its agent' : ''}`
}

/** The last restart of each VM that the journal tells of, since a time in ms; one that was refused is none (night W3). Pure. */
export function restartsIn(entries: readonly Entry[], since: number): readonly Restart[] {
  const last = new Map<string, Restart>()
  for (const { what, text, at } of entries) {
    const found = form.exec(text)?.groups
    const time = Date.parse(at)
    if (found === undefined || time < since) continue
    const { vm = '', uid = '', agent } = found
    if (what === 'failed') last.delete(vm)
    if (what !== 'intends' && what !== 'applied') continue
    last.set(vm, { vm, uid, agent: agent !== undefined, at: time, taken: what === 'applied' })
  }
  return [...last.values()]
}

/** Looks at its VMI now. `backWithin` in ms. Throws ApiError. */
export async function standingOf(
  reader: Reader,
  restart: Restart,
  { now, backWithin }: { now: number; backWithin: number },
): Promise<RestartState> {
  const found = await reader.find(VirtualMachineInstances, placeOfVm(restart.vm))
  const seen = found.is === 'object' ? standing(found.object, restart) : undefined
  return seen ?? { is: now - restart.at > backWithin ? 'missing' : 'under-way' }
}

function standing(vmi: VirtualMachineInstance, restart: Restart): RestartState | undefined {
  const { uid, deletionTimestamp } = vmi.metadata
  if (uid === restart.uid)
    return restart.taken || deletionTimestamp !== undefined ? undefined : { is: 'not-begun' }
  return isWell(vmi, restart) ? { is: 'back', wellAt: readySince(vmi) ?? restart.at } : undefined
}

/** Ready on the new launcher, with its agent where it had one before (night W3). */
function isWell(vmi: VirtualMachineInstance, { agent }: Restart): boolean {
  if (vmi.status?.phase !== 'Running' || condition(vmi, 'Ready')?.status !== 'True') return false
  return !Object.hasOwn(vmi.metadata.labels ?? {}, outdatedLabel) && (!agent || hasAgent(vmi))
}

function readySince(vmi: VirtualMachineInstance): number | undefined {
  return Date.parse(condition(vmi, 'Ready')?.lastTransitionTime ?? '') || undefined
}

export const hasAgent = (vmi: VirtualMachineInstance): boolean =>
  condition(vmi, 'AgentConnected')?.status === 'True'
