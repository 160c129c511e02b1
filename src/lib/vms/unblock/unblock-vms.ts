import { type Reader, type Ref, orUnserved } from '../../kube/cluster.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { lastWriter } from '../../kube/last-writer.ts'
import type { Procedure, ReadContext, Step, StepContext, StepState } from '../../engine/step.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import {
  fieldName,
  type FieldPath,
  isOfThisVm,
  overriddenText,
  type OverrideField,
  overrideOf,
  noteOn,
  readVm,
  readVms,
  refOf,
  replaced,
  unreadable,
  withValues,
  valueOf,
  type VmOverride,
  type VmRead,
  type VmRef,
} from './vm-overrides.ts'
import { condition } from '../../kube/object.ts'
import { isOfVm, lostData, restartLine, runStrategyOf } from '../vm.ts'
import { effectiveEviction } from '../workload-updater.ts'
import { readAhead } from '../../kube/read-cache.ts'
import { blocked } from '../../kube/errors.ts'
import { type HopFinding, blocker } from '../../releases/hop-findings.ts'
import type { DryRunStep } from '../../engine/procedure-dry-run.ts'

interface Lending {
  /** user@host. */
  who: string
  clusterEviction: string | undefined
}

/**
 * Lends a VM what lets it be evicted and come back, and keeps the values that it had in an annotation on it, in one patch: there is no
 * moment at which they are changed and not kept (contract "Temporary changes"). A VM that does not run by then is left alone (night W1).
 */
function unblockStep(ref: VmRef, { who, clusterEviction }: Lending): Step {
  const blocking = async ({ reader }: Pick<ReadContext, 'reader'>) => {
    const { vm, vmi } = await readVm(reader, ref)
    return vm && { vm, is: blockingOf(vm, vmi, { clusterEviction }) }
  }
  return {
    ...stepOn(ref, { id: 'unblock', title: 'unblock', undo: 'kvup restore-settings' }),
    async check(cx): Promise<StepState> {
      const found = await blocking(cx)
      if (found === undefined) return { is: 'done', note: 'it is gone' }
      if (found.is.is === 'refused') return { is: 'blocked', by: found.is.why, reason: found.is.id }
      if (found.is.is === 'free') return { is: 'done', note: found.is.why }
      if (found.is.is === 'unblocked') return { is: 'done' }
      return {
        is: 'todo',
        change: `set ${found.is.overrides.map(overriddenText).join(', ')}, and save the former value`,
      }
    },
    async apply(cx) {
      const found = await blocking(cx)
      if (found?.is.is === 'blocks')
        await overrideFields(cx, found.vm, { who, overrides: found.is.overrides })
    },
  }
}

async function overrideFields(
  { writer, clock }: StepContext,
  vm: VirtualMachine,
  { who, overrides }: { who: string; overrides: readonly OverrideField[] },
): Promise<void> {
  const before = overrideOf(vm)
  if (before === 'unreadable') return
  // What another VM had is not what this one had.
  const own = before && isOfThisVm(vm, before) ? before : undefined
  const override = added(overrides, own ?? newOverride(vm, { by: who, at: clock.now().toISOString() }))
  const values = overrides.map(({ path, set }) => [path, set] as const)
  await writer.mergePatch(VirtualMachines, placeOf(vm), {
    metadata: {
      resourceVersion: vm.metadata.resourceVersion ?? '',
      ...noteOn(override),
    },
    ...withValues(new Map(values)),
  })
}

const newOverride = (
  { metadata: { uid } }: VirtualMachine,
  taken: Pick<VmOverride, 'by' | 'at'>,
): VmOverride => ({
  ...taken,
  ...(uid !== undefined && { uid }),
  fields: [],
})

/** The first value wins (contract "Temporary changes"). */
function added(overrides: readonly OverrideField[], override: VmOverride): VmOverride {
  const fresh = overrides.filter(({ path }) => !override.fields.some((field) => field.path === path))
  return { ...override, fields: [...override.fields, ...fresh] }
}

export const placeOf = ({ metadata: { name, namespace } }: VirtualMachine): Ref => ({ name, namespace })

/** What the steps of lending and giving back have in common. */
export function stepOn(
  ref: VmRef,
  { id, title, undo }: { id: string; title: string; undo: string },
): Omit<Step, 'check' | 'apply'> {
  const vm = `${ref.namespace}/${ref.name}`
  return {
    id: `${id}/${vm}`,
    title: `${title} ${vm}`,
    patience: { every: 5 * seconds, atMost: 2 * minutes },
    estimate: 1 * seconds,
    watches: [],
    risk: { undo, safeToLeave: 'always: it takes effect when the VM is restarted' },
    shows: `kubectl -n ${shellWord(ref.namespace)} get vm ${shellWord(ref.name)} -o yaml --show-managed-fields`,
    blame: async ({ reader }, after) => {
      const { vm: found } = await readVm(reader, ref)
      return found && lastWriter(found, '/spec/template/spec/evictionStrategy', after)
    },
  }
}

/** Whether a VM blocks drains and updates, and what would be lent to it. */
type Blocking =
  /** It does, and these fields change that once it is restarted. */
  | { is: 'blocks'; overrides: readonly OverrideField[] }
  /** The VM is as it has to be; `waits`: the running instance was started before and is still denied. */
  | { is: 'unblocked'; waits: boolean }
  | { is: 'free'; why: string }
  /** It does, and changing the VM is not the way. */
  | { is: 'refused'; id: string; why: string }

interface Cluster {
  /** `configuration.evictionStrategy`. */
  clusterEviction: string | undefined
}

/**
 * The workaround of the OKD documentation, as facts 3.4 and hco 9 correct it and night W1 bounds it: an eviction of a running VM is denied for ever where its strategy is
 * LiveMigrate and it cannot migrate, whether the VM or the cluster says so; only None on the VM itself changes that. Pure.
 */
export function blockingOf(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  cluster: Cluster,
): Blocking {
  const set = hasOverride(vm)
  if (vmi?.status?.phase !== 'Running' || vmi.metadata.deletionTimestamp !== undefined)
    return set ? { is: 'unblocked', waits: false } : { is: 'free', why: 'it does not run' }
  const free = whyFree(vmi, cluster)
  if (free !== undefined) return set ? { is: 'unblocked', waits: false } : { is: 'free', why: free }
  const refused = refusalOf(vm, vmi, cluster)
  if (refused !== undefined) return refused
  const overrides = [...fieldToOverride(vm, evictionPath, 'None'), ...overrideRunStrategy(vm)]
  return overrides.length > 0 ? { is: 'blocks', overrides } : { is: 'unblocked', waits: true }
}

/** A damaged note counts: something was lent. */
function hasOverride(vm: VirtualMachine): boolean {
  const override = overrideOf(vm)
  return override === 'unreadable' || (override !== undefined && isOfThisVm(vm, override))
}

const evictionPath = '/spec/template/spec/evictionStrategy'

function whyFree(vmi: VirtualMachineInstance, cluster: Cluster): string | undefined {
  const strategy = effectiveEviction(vmi, cluster)
  if (strategy !== 'LiveMigrate' && strategy !== 'External')
    return `its evictionStrategy is ${strategy}: it can be evicted`
  return condition(vmi, 'LiveMigratable')?.status === 'True' && strategy === 'LiveMigrate'
    ? 'it can be migrated'
    : undefined
}

const refused = (id: string, why: string) => ({ is: 'refused', id, why }) as const

function refusalOf(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance,
  cluster: Cluster,
): ReturnType<typeof refused> | undefined {
  if (overrideOf(vm) === 'unreadable') return refused('override-unreadable', unreadable)
  if (effectiveEviction(vmi, cluster) === 'External')
    return refused('external', 'its evictionStrategy is External: another tool has to move it')
  if (condition(vmi, 'LiveMigratable')?.status !== 'False')
    return refused('not-judged', 'KubeVirt does not know yet whether it can be migrated')
  const owner = ownerOf(vm)
  if (owner !== undefined)
    return refused('owned', `${owner} owns it and would revert the change: change it there`)
  const runStrategy = runStrategyOf(vm)
  return restarted.has(runStrategy) || replaced.has(runStrategy)
    ? undefined
    : refused('run-strategy', `its runStrategy is ${runStrategy}: it would not restart by itself`)
}

/** A VirtualMachinePool, or whatever else controls it. */
function ownerOf({ metadata }: VirtualMachine): string | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  return owner && `${owner.kind} ${owner.name}`
}

/** What starts a VM again after an eviction (facts 3.4). `running: true` counts as it, and takes no runStrategy beside it (night W1). */
const restarted: ReadonlySet<string> = new Set(['Always'])

function overrideRunStrategy(vm: VirtualMachine): OverrideField[] {
  return replaced.has(runStrategyOf(vm)) ? fieldToOverride(vm, '/spec/runStrategy', 'Always') : []
}

function fieldToOverride(vm: VirtualMachine, path: FieldPath, set: string): OverrideField[] {
  const value = valueOf(vm, path)
  if (value === set) return []
  return [{ path, was: value === undefined ? { present: false } : { present: true, value }, set }]
}

/** VMs whose eviction is denied because they cannot be migrated, and bare VMIs of that kind, which have no VM to change. */
interface Blockers {
  vms: readonly VmRef[]
  bare: readonly VmRef[]
}

/** Reads all VMIs, page by page, and keeps the names of those that block. Throws ApiError. */
export async function listBlockers(
  reader: Reader,
  { namespace, clusterEviction }: { namespace: string | undefined; clusterEviction: string | undefined },
): Promise<Blockers> {
  const vms: VmRef[] = []
  const bare: VmRef[] = []
  for await (const { items } of orUnserved(readAhead(reader.pages(VirtualMachineInstances, { namespace }))))
    for (const vmi of items.filter((one) => isDenied(one, clusterEviction)))
      (isOfVm(vmi) ? vms : bare).push(refOf(vmi))
  return { vms, bare }
}

/** Whether an eviction of this VMI is denied: it runs, cannot migrate, and is to be migrated (facts 3.4). */
const isDenied = (vmi: VirtualMachineInstance, clusterEviction: string | undefined): boolean =>
  vmi.status?.phase === 'Running' &&
  effectiveEviction(vmi, { clusterEviction }) === 'LiveMigrate' &&
  condition(vmi, 'LiveMigratable')?.status === 'False'

/**
 * A VM that may be evicted may lose what it keeps in its pod: that is never agreed to by --yes alone (night W2). `reads`: of those that
 * are to be unblocked.
 */
export function unblockFindings(reads: readonly VmRead[]): readonly HopFinding[] {
  const losing = reads.flatMap(({ vmi }) => {
    const lost = vmi === undefined ? [] : lostData(vmi)
    if (vmi === undefined || lost.length === 0) return []
    const { namespace, name } = refOf(vmi)
    return [`${namespace}/${name} (${lost.join(', ')})`]
  })
  const [first] = losing
  if (first === undefined) return []
  const names = `${losing.slice(0, 3).join(', ')}${losing.length > 3 ? ', …' : ''}`
  return blocker({
    id: 'data-loss',
    summary: `once ${losing.length === 1 ? 'it is' : 'they are'} restarted or evicted, data on volumes in the pod is lost: ${names}`,
    remedy: ['kvup explain data-loss'],
    objects: losing,
  })
}

/** One VM. */
export interface UnblockItem {
  namespace: string
  name: string
  outcome: 'unblocked' | 'would-unblock' | 'already-unblocked' | 'not-blocking' | 'refused'
  /** In words, `evictionStrategy None (was LiveMigrate)`. */
  changes?: readonly string[]
  overrides?: readonly { path: string; field: string; was?: string; set: string }[]
  /** Volumes whose content is gone when its pod ends. */
  loses?: readonly string[]
  why?: string
  /** Why it was refused, for scripts. */
  reason?: string
  /** What makes it take effect. */
  next?: string
}

/** The end of `kvup workloads unblock`. */
export interface UnblockDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'UnblockedWorkloads'
  dryRun?: 'client' | 'server'
  steps?: readonly DryRunStep[]
  items: readonly UnblockItem[]
  /** VMIs that block and have no VM that could be changed. */
  bare?: readonly { namespace: string; name: string }[]
  /** The command that gives back what was lent. */
  restore?: string
}

const procedureName = 'unblock VMs'

export function unblockProcedure(
  candidates: readonly Candidate[],
  lending: Parameters<typeof unblockStep>[1],
): Procedure {
  const steps = candidates.map(({ ref }) => unblockStep(ref, lending))
  return {
    name: procedureName,
    overrides: [],
    reached: async (reading) => {
      for (const step of steps) if ((await step.check(reading)).is !== 'done') return false
      return true
    },
    steps: async () => steps,
  }
}

export function unblockDocument(
  items: readonly UnblockItem[],
  bare: readonly { namespace: string; name: string }[],
): UnblockDocument {
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'UnblockedWorkloads',
    items,
    ...(bare.length > 0 && { bare }),
  }
}

/** The VMs that a person means. */
export type Asked =
  | { all: true; namespace: string | undefined }
  | { all: false; namespace: string; names: readonly string[] }

/** One of them, and what is to be done about it. */
export interface Candidate {
  ref: VmRef
  read: VmRead
  blocking: Blocking
  /** `evictionStrategy None (was LiveMigrate)`. */
  changes: readonly string[]
}

export const isToUnblock = ({ blocking }: Candidate): boolean => blocking.is === 'blocks'

/** Throws `blocked` for a name that no VM has. */
export async function candidatesOf(
  reader: Reader,
  asked: Asked,
  clusterEviction: string | undefined,
): Promise<{ candidates: readonly Candidate[]; bare: readonly VmRef[] }> {
  const { namespace } = asked
  const { vms, bare } = asked.all
    ? await listBlockers(reader, { namespace, clusterEviction })
    : { vms: asked.names.map((name) => ({ namespace: asked.namespace, name })), bare: [] }
  const reads = await readVms(reader, vms)
  const missing = vms.filter((_, index) => reads[index]?.vm === undefined)
  const [first] = missing
  if (first !== undefined && !asked.all) throw noSuchVm(first)
  const candidates = vms.flatMap((ref, index) => {
    const read = reads[index]
    if (read?.vm === undefined) return []
    const blocking = blockingOf(read.vm, read.vmi, { clusterEviction })
    return [
      {
        ref,
        read,
        blocking,
        changes: blocking.is === 'blocks' ? blocking.overrides.map(overriddenText) : [],
      },
    ]
  })
  return { candidates, bare: [...bare, ...missing] }
}

function noSuchVm({ namespace, name }: VmRef): Error {
  return blocked('no-such-vm', `there is no VM ${name} in namespace ${namespace}`, {
    object: `virtualmachines/${name} in namespace ${namespace}`,
    remedy: `kubectl -n ${shellWord(namespace)} get vms`,
  })
}

/** How it is told; `done` is the outcome of one that is to be unblocked. */
export function itemOf(
  { ref, read, blocking, changes }: Candidate,
  done: UnblockItem['outcome'],
): UnblockItem {
  const restart = restartLine(ref, read.vmi === undefined ? undefined : lostData(read.vmi))
  if (blocking.is === 'free') return { ...ref, outcome: 'not-blocking', why: blocking.why }
  if (blocking.is === 'refused') return { ...ref, outcome: 'refused', why: blocking.why, reason: blocking.id }
  if (blocking.is === 'unblocked')
    return { ...ref, outcome: 'already-unblocked', ...(blocking.waits && { next: restart }) }
  const loses = read.vmi === undefined ? [] : lostData(read.vmi)
  return {
    ...ref,
    outcome: done,
    changes,
    overrides: blocking.overrides.map(({ path, was, set }) => ({
      path,
      field: fieldName(path),
      ...(was.present && { was: was.value }),
      set,
    })),
    ...(loses.length > 0 && { loses }),
    next: restart,
  }
}
