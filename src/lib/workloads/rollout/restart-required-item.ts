import type { VirtualMachine } from '../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../cluster/object.ts'
import type { Entry } from '../../procedure/journal.ts'
import { lastWriter } from '../../procedure/last-writer.ts'
import type { Hotplug } from './hotplug.ts'
import type { LastStart } from './last-start.ts'
import { type StagedChange, stagedChanges } from './staged-changes.ts'
import { upgradeAt } from './upgrade-at.ts'
import type { RolloutStrategy } from './vm-rollout.ts'

/** One VM that waits for a restart, as a row and as an item of the document. Times are RFC 3339. */
export interface RestartRequiredItem {
  namespace: string
  name: string
  /** The words of the condition, which name the first reason only. */
  message?: string
  since?: string
  /** The upgrade by kvup that was at work then. */
  upgrade?: { procedure: string; at: string }
  /** `unread`: they may not be read. `gone`: KubeVirt's record of the last start is not there. */
  lastStart: 'known' | 'not-running' | 'gone' | 'unread'
  /** Every one of them; none where the last start is not known. */
  changes: readonly (StagedChange & { by?: string })[]
  /** Hotplug that was asked for and waits with it. */
  frozen: readonly Hotplug[]
  /** Nothing that needs a restart differs any more. */
  reverted: boolean
}

/** What the VMs are judged by. */
export interface RestartRules {
  strategy: RolloutStrategy
  /** Of the journal; empty where it may not be read. */
  entries: readonly Entry[]
}

/** Undefined for a VM that needs no restart. */
export function waitsForRestart(vm: VirtualMachine): boolean {
  return condition(vm, 'RestartRequired')?.status === 'True'
}

/** Pure. */
export function restartRequiredItem(
  vm: VirtualMachine,
  start: LastStart,
  { strategy, entries }: RestartRules,
): RestartRequiredItem {
  const { message, lastTransitionTime: since } = condition(vm, 'RestartRequired') ?? {}
  const upgrade = upgradeAt(entries, since)
  const { namespace = '', name } = vm.metadata
  const staged =
    start.is === 'known' ? stagedChanges({ vm, vmi: start.vmi, started: start.spec, strategy, message }) : []
  return {
    namespace,
    name,
    ...(message && { message }),
    ...(since && { since }),
    ...(upgrade && { upgrade }),
    lastStart: start.is,
    changes: staged.map((change) => withWriter(vm, change)),
    frozen: [...new Set(staged.flatMap(({ hotplug }) => hotplug ?? []))],
    reverted: start.is === 'known' && !staged.some(({ waits }) => waits === 'restart'),
  }
}

/** Lists are owned by keys that the path does not have: what lies in one is told without its writer. */
function withWriter(vm: VirtualMachine, change: StagedChange): StagedChange & { by?: string } {
  if (change.path.includes('[')) return change
  const by = lastWriter(vm, `/spec/${change.path.replaceAll('.', '/')}`)
  return by === undefined ? change : { ...change, by }
}
