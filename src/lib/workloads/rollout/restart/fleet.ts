import type { Reader } from '../../../cluster/cluster.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../../cluster/object.ts'
import { isNotFound } from '../../../system/errors.ts'
import type { Unread } from '../../migrations/ledger.ts'
import { runStrategyOf } from '../../outdated/behind.ts'
import { isMigrating } from '../../outdated/due.ts'
import { lostData } from '../../outdated/lost-data.ts'
import { pagesAllowed } from '../../outdated/pages-allowed.ts'
import type { Against } from '../../restarts/ask-restart.ts'
import { candidateOf } from '../../waves/candidate-of.ts'
import { hasAgent } from '../../restarts/asked-restarts.ts'
import type { Candidate } from '../../waves/candidate.ts'
import { vmName } from '../../vm-name.ts'
import { waitsForRestart } from '../restart-required-item.ts'
import type { WaveRunWanted } from '../../waves/wanted.ts'

/** A VM that is to be restarted. */
export interface RestartCandidate extends Candidate {
  /** ms since the epoch: since when it waits for that; 0: not known. */
  since: number
  /** The guest agent is connected. */
  agent: boolean
  /** Only the restart itself starts it again: were that lost, it would stay down (facts 3.4). */
  onlyOnce: boolean
  /** Volumes that live in its pod (night W2). */
  loses: readonly string[]
}

/** The VMs that wait for a restart and were asked for. */
export interface RestartFleet {
  candidates: ReadonlyMap<string, RestartCandidate>
  /** Those that are not restarted, and why. */
  left: ReadonlyMap<string, string>
  /** What may not be read: which VMs wait there is not known. */
  unread: readonly Unread[]
}

interface Waiting {
  runStrategy: string
  since: number
}

/**
 * Two lists, page by page: the VMs that wait, and of their VMIs what their turn depends on. `stranded`: why one would not come back
 * (night W2). Throws ApiError, a refusal where nothing of it may be read.
 */
export async function readRestartFleet(
  reader: Reader,
  wanted: WaveRunWanted,
  stranded: Against,
): Promise<RestartFleet> {
  const unread: Unread[] = []
  const waiting = await waitingVms(reader, wanted, unread)
  const candidates = new Map<string, RestartCandidate>()
  const left = new Map<string, string>()
  for await (const vmi of instancesOf(reader, waiting, { wanted, unread })) {
    const vm = vmName(vmi)
    const known = waiting.get(vm)
    if (known === undefined) continue
    waiting.delete(vm)
    const against = whyNot(vmi, known) ?? (await stranded(vmi))
    if (against === undefined) candidates.set(vm, restartCandidate(vmi, known, wanted))
    else left.set(vm, against)
  }
  for (const vm of waiting.keys()) left.set(vm, whyNone(vm, unread))
  return { candidates, left, unread }
}

/** Nothing is listed where nobody waits. */
async function* instancesOf(
  reader: Reader,
  waiting: ReadonlyMap<string, Waiting>,
  { wanted, unread }: { wanted: WaveRunWanted; unread: Unread[] },
): AsyncGenerator<VirtualMachineInstance> {
  if (waiting.size === 0) return
  const { namespace } = wanted.selection
  for await (const page of pagesAllowed(reader, VirtualMachineInstances, { namespace }))
    if ('unread' in page) unread.push(refusedIn(VirtualMachineInstances.plural, page))
    else yield* page.items
}

const refusedIn = (what: string, { unread, why }: { unread: string; why: Error }): Unread => ({
  namespace: unread,
  what,
  why: why.message,
})

function whyNone(vm: string, unread: readonly Unread[]): string {
  const refused = unread.find(({ namespace }) => vm.startsWith(`${namespace}/`))
  return refused
    ? `what runs of it may not be read: ${refused.why}`
    : 'it does not run: its next start takes everything over'
}

async function waitingVms(
  reader: Reader,
  { selection: { namespace, labels } }: WaveRunWanted,
  unread: Unread[],
): Promise<Map<string, Waiting>> {
  const waiting = new Map<string, Waiting>()
  try {
    for await (const page of pagesAllowed(reader, VirtualMachines, { namespace, labels }))
      if ('unread' in page) unread.push(refusedIn(VirtualMachines.plural, page))
      else page.items.filter(waitsForRestart).forEach((vm) => waiting.set(vmName(vm), waitingOf(vm)))
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return waiting
}

const waitingOf = (vm: VirtualMachine): Waiting => ({
  runStrategy: runStrategyOf(vm),
  since: Date.parse(condition(vm, 'RestartRequired')?.lastTransitionTime ?? '') || 0,
})

/** What virt-api refuses, or what would break off something else (facts 5, KubeVirt RestartVMRequestHandler). */
function whyNot(vmi: VirtualMachineInstance, { runStrategy }: Waiting): string | undefined {
  if (runStrategy === 'Halted' || runStrategy === 'Once')
    return `runStrategy ${runStrategy} allows no restart: it would not come back by itself`
  return whyNotNow(vmi)
}

/** What a restart would break off; it may have begun since the VMIs were listed. Pure. */
export function whyNotNow(vmi: VirtualMachineInstance): string | undefined {
  if (isMigrating(vmi)) return 'it migrates now'
  if (condition(vmi, 'VolumesChange')?.status === 'True') return 'its volumes are being moved'
  return notRunning(vmi)
}

function notRunning({ metadata, status }: VirtualMachineInstance): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'it is being stopped already'
  return status?.phase === 'Running' ? undefined : `it is ${status?.phase ?? 'not running yet'}`
}

function restartCandidate(
  vmi: VirtualMachineInstance,
  { runStrategy, since }: Waiting,
  wanted: WaveRunWanted,
): RestartCandidate {
  return {
    ...candidateOf(vmi, 'restart', wanted),
    since,
    agent: hasAgent(vmi),
    onlyOnce: runStrategy !== 'Always',
    loses: lostData(vmi),
  }
}
