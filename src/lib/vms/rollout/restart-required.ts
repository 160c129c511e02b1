import type { Reader } from '../../kube/cluster.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { ApiError, isNotFound } from '../../kube/errors.ts'
import { pagesAllowed, type Unread } from '../../kube/readable-pages.ts'
import { condition } from '../../kube/object.ts'
import type { Entry } from '../../engine/journal.ts'
import { lastWriter } from '../../kube/last-writer.ts'
import { type Hotplug, type StagedChange, stagedChanges } from './staged-changes.ts'
import type { RolloutStrategy } from './rollout-strategy.ts'
import { valueAt } from '../../kube/server-side-apply.ts'
import { ControllerRevisions } from '../../kube/kinds/workload-kinds.ts'
import { minutes } from '../../kube/clock.ts'

/** What a page of VMs became. */
interface RestartRequiredPage {
  items: readonly RestartRequiredItem[]
  unread: readonly Unread[]
}

const atATime = 10

/**
 * The VMs that wait for a restart, page by page as the server sends them: it cannot select them. Only for those is the last start read. A
 * namespace that may not be read is told and not left out. Throws ApiError.
 */
export async function* listRestartRequired(
  reader: Reader,
  where: { namespace?: string | undefined; labels?: string | undefined },
  rules: RestartRules,
): AsyncGenerator<RestartRequiredPage> {
  const told = new Set<string>()
  try {
    for await (const page of pagesAllowed(reader, VirtualMachines, where)) {
      if ('unread' in page) {
        yield { items: [], unread: [page.unread] }
        continue
      }
      const vms = page.items.filter(waitsForRestart)
      for (let from = 0; from < vms.length; from += atATime)
        yield pageOf(await starts(reader, vms.slice(from, from + atATime)), rules, told)
    }
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

type Started = readonly (readonly [VirtualMachine, LastStart])[]

function starts(reader: Reader, vms: readonly VirtualMachine[]): Promise<Started> {
  return Promise.all(
    vms.map(async (vm) => {
      const { name, namespace = '' } = vm.metadata
      return [vm, await readLastStart(reader, { name, namespace })] as const
    }),
  )
}

/** What may not be read is told once for each namespace. */
function pageOf(started: Started, rules: RestartRules, told: Set<string>): RestartRequiredPage {
  const unread = started.flatMap(([{ metadata }, start]) => {
    const { namespace = '' } = metadata
    if (start.is !== 'unread' || told.has(`${namespace}/${start.what}`)) return []
    told.add(`${namespace}/${start.what}`)
    return [{ namespace, what: start.what, why: start.why }]
  })
  return { items: started.map(([vm, start]) => restartRequiredItem(vm, start, rules)), unread }
}

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
interface RestartRules {
  strategy: RolloutStrategy
  /** Of the journal; empty where it may not be read. */
  entries: readonly Entry[]
}

/** Undefined for a VM that needs no restart. */
export function waitsForRestart(vm: VirtualMachine): boolean {
  return condition(vm, 'RestartRequired')?.status === 'True'
}

/** Pure. */
function restartRequiredItem(
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

/** What is known of the last start of a VM. */
type LastStart =
  | { is: 'known'; vmi: VirtualMachineInstance; spec: unknown }
  | { is: 'not-running' }
  /** KubeVirt keeps the revision of the last start alone; somebody deleted it, or it is not in what was saved. */
  | { is: 'gone' }
  | { is: 'unread'; what: 'virtualmachineinstances' | 'controllerrevisions'; why: string }

/** The VM's spec when its VMI was made, from the ControllerRevision that the VMI names (KubeVirt createVMRevision). Throws ApiError but 403. */
async function readLastStart(reader: Reader, ref: { name: string; namespace: string }): Promise<LastStart> {
  let what: 'virtualmachineinstances' | 'controllerrevisions' = 'virtualmachineinstances'
  try {
    const found = await reader.get(VirtualMachineInstances, ref)
    if (found.is !== 'object') return { is: 'not-running' }
    const name = found.object.status?.virtualMachineRevisionName
    if (name === undefined) return { is: 'gone' }
    what = 'controllerrevisions'
    const revision = await reader.get(ControllerRevisions, { name, namespace: ref.namespace })
    if (revision.is !== 'object') return { is: 'gone' }
    return { is: 'known', vmi: found.object, spec: valueAt(revision.object.data, ['spec']) }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    return { is: 'unread', what, why: error.message }
  }
}

/** An upgrade by kvup, and from when to when it was at work; resumed, it is one. */
interface UpgradeRun {
  procedure: string
  from: string
  to: string
}

/** How long after the end of an upgrade its new virt-controller may still find what it changed. */
const aftermath = 15 * minutes

/** The upgrade during which, or right after which, something began, by the journal; undefined where none was at work, or it is forgotten. Pure. */
export function upgradeAt(
  entries: readonly Entry[],
  since: string | undefined,
): { procedure: string; at: string } | undefined {
  const time = Date.parse(since ?? '')
  const run = runsIn(entries).findLast(
    ({ from, to }) => Date.parse(from) <= time && time <= Date.parse(to) + aftermath,
  )
  return run && { procedure: run.procedure, at: run.from }
}

function runsIn(entries: readonly Entry[]): readonly UpgradeRun[] {
  const runs: (UpgradeRun & { over: boolean })[] = []
  for (const { procedure, at, what } of entries) {
    if (!procedure.startsWith('upgrade ')) continue
    const last = runs.at(-1)
    const over = what === 'finished'
    if (last === undefined || last.over || last.procedure !== procedure)
      runs.push({ procedure, from: at, to: at, over })
    else Object.assign(last, { to: at, over })
  }
  return runs
}
