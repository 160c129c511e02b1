import type { Reader } from '../../../cluster/cluster.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../../cluster/object.ts'
import { isNotFound } from '../../../system/errors.ts'
import { runStrategyOf } from '../../outdated/behind.ts'
import { isMigrating } from '../../outdated/due.ts'
import { lostData } from '../../outdated/lost-data.ts'
import { candidateOf } from '../../update/candidate-of.ts'
import { hasAgent } from '../../update/restarts.ts'
import type { Candidate } from '../../waves/candidate.ts'
import { waitsForRestart } from '../restart-required-item.ts'
import type { RestartWanted } from './wanted.ts'

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
}

interface Waiting {
  runStrategy: string
  since: number
}

/** Two lists, page by page: the VMs that wait, and of their VMIs what their turn depends on. Throws ApiError. */
export async function readRestartFleet(reader: Reader, wanted: RestartWanted): Promise<RestartFleet> {
  const waiting = await waitingVms(reader, wanted)
  const candidates = new Map<string, RestartCandidate>()
  const left = new Map<string, string>()
  if (waiting.size === 0) return { candidates, left }
  const { namespace } = wanted.selection
  for await (const { items } of reader.pages(VirtualMachineInstances, { namespace }))
    for (const vmi of items) {
      const vm = nameOf(vmi)
      const known = waiting.get(vm)
      if (known === undefined) continue
      waiting.delete(vm)
      const against = whyNot(vmi, known)
      if (against === undefined) candidates.set(vm, restartCandidate(vmi, known, wanted))
      else left.set(vm, against)
    }
  for (const vm of waiting.keys()) left.set(vm, 'it does not run: its next start takes everything over')
  return { candidates, left }
}

const nameOf = ({ metadata }: VirtualMachine | VirtualMachineInstance) =>
  `${metadata.namespace}/${metadata.name}`

async function waitingVms(
  reader: Reader,
  { selection: { namespace, labels } }: RestartWanted,
): Promise<Map<string, Waiting>> {
  const waiting = new Map<string, Waiting>()
  try {
    for await (const { items } of reader.pages(VirtualMachines, { namespace, labels }))
      for (const vm of items.filter(waitsForRestart)) {
        const since = Date.parse(condition(vm, 'RestartRequired')?.lastTransitionTime ?? '') || 0
        waiting.set(nameOf(vm), { runStrategy: runStrategyOf(vm), since })
      }
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return waiting
}

/** What virt-api refuses, or what would break off something else (facts 5, KubeVirt RestartVMRequestHandler). */
function whyNot(vmi: VirtualMachineInstance, { runStrategy }: Waiting): string | undefined {
  if (runStrategy === 'Halted' || runStrategy === 'Once')
    return `runStrategy ${runStrategy} allows no restart: it would not come back by itself`
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
  wanted: RestartWanted,
): RestartCandidate {
  return {
    ...candidateOf(vmi, 'restart', wanted),
    since,
    agent: hasAgent(vmi),
    onlyOnce: runStrategy !== 'Always',
    loses: lostData(vmi),
  }
}
