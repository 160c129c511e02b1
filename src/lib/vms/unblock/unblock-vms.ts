import type { DeepPartial, Reader, Ref } from '../../kube/cluster.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { lastWriter } from '../../kube/last-writer.ts'
import type { ReadContext, Step, StepContext, StepState } from '../../engine/step.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import {
  type FieldPath,
  isOfThisVm,
  labelValue,
  type OverrideField,
  overriddenText,
  overrideAnnotation,
  overrideLabel,
  overrideOf,
  overrideText,
  type VmRead,
  type VmRef,
  readVm,
  refOf,
  replaced,
  unreadable,
  valueOf,
  type VmOverride,
} from './vm-overrides.ts'
import { condition } from '../../kube/object.ts'
import { isOfVm, lostData, runStrategyOf } from '../vm.ts'
import { effectiveEviction } from '../workload-updater.ts'
import { readAhead } from '../../kube/read-cache.ts'
import { isNotFound } from '../../kube/errors.ts'
import type { HopFinding } from '../../releases/hop-findings.ts'

interface Lending {
  /** user@host. */
  who: string
  clusterEviction: string | undefined
}

/**
 * Lends a VM what lets it be evicted and come back, and keeps the values that it had in an annotation on it, in one patch: there is no
 * moment at which they are changed and not kept (contract "Loans"). A VM that does not run by then is left alone (night W1).
 */
export function unblockStep(ref: VmRef, { who, clusterEviction }: Lending): Step {
  const blocking = async ({ reader }: Pick<ReadContext, 'reader'>) => {
    const { vm, vmi } = await readVm(reader, ref)
    return vm && { vm, is: blockingOf(vm, vmi, { clusterEviction }) }
  }
  return {
    ...stepOn(ref, { id: 'unblock', title: 'unblock', undo: 'kvup workloads restore' }),
    async check(cx): Promise<StepState> {
      const found = await blocking(cx)
      if (found === undefined) return { is: 'done', note: 'it is gone' }
      if (found.is.is === 'refused') return { is: 'blocked', by: found.is.why, reason: found.is.id }
      if (found.is.is === 'free') return { is: 'done', note: found.is.why }
      if (found.is.is === 'unblocked') return { is: 'done' }
      return {
        is: 'todo',
        change: `set ${found.is.overrides.map(overriddenText).join(', ')}, and keep what was there`,
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
  const loan = added(overrides, own ?? newOverride(vm, { by: who, at: clock.now().toISOString() }))
  const values = overrides.map(({ path, lent }) => [path, lent] as const)
  await writer.mergePatch(VirtualMachines, placeOf(vm), {
    metadata: {
      resourceVersion: vm.metadata.resourceVersion ?? '',
      annotations: { [overrideAnnotation]: overrideText(loan) },
      labels: { [overrideLabel]: labelValue },
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

/** The first value wins (contract "Loans"). */
function added(overrides: readonly OverrideField[], loan: VmOverride): VmOverride {
  const fresh = overrides.filter(({ path }) => !loan.fields.some((field) => field.path === path))
  return { ...loan, fields: [...loan.fields, ...fresh] }
}

export const placeOf = ({ metadata: { name, namespace } }: VirtualMachine): Ref => ({ name, namespace })

/** A merge patch of borrowed fields; null removes. */
export function withValues(values: ReadonlyMap<FieldPath, string | null>): DeepPartial<VirtualMachine> {
  const runStrategy = values.get('/spec/runStrategy')
  const evictionStrategy = values.get('/spec/template/spec/evictionStrategy')
  return {
    spec: {
      ...(runStrategy !== undefined && { runStrategy }),
      ...(evictionStrategy !== undefined && { template: { spec: { evictionStrategy } } }),
    },
  }
}

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
export type Blocking =
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
  const lent = hasOverride(vm)
  if (vmi?.status?.phase !== 'Running' || vmi.metadata.deletionTimestamp !== undefined)
    return lent ? { is: 'unblocked', waits: false } : { is: 'free', why: 'it does not run' }
  const free = whyFree(vmi, cluster)
  if (free !== undefined) return lent ? { is: 'unblocked', waits: false } : { is: 'free', why: free }
  const refused = refusalOf(vm, vmi, cluster)
  if (refused !== undefined) return refused
  const overrides = [...fieldToOverride(vm, evictionPath, 'None'), ...overrideRunStrategy(vm)]
  return overrides.length > 0 ? { is: 'blocks', overrides } : { is: 'unblocked', waits: true }
}

/** A damaged note counts: something was lent. */
function hasOverride(vm: VirtualMachine): boolean {
  const loan = overrideOf(vm)
  return loan === 'unreadable' || (loan !== undefined && isOfThisVm(vm, loan))
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
  if (overrideOf(vm) === 'unreadable') return refused('loan-unreadable', unreadable)
  if (effectiveEviction(vmi, cluster) === 'External')
    return refused('external', 'its evictionStrategy is External: somebody else has to move it')
  if (condition(vmi, 'LiveMigratable')?.status !== 'False')
    return refused('not-judged', 'KubeVirt has not judged yet whether it can be migrated')
  const owner = ownerOf(vm)
  if (owner !== undefined)
    return refused('owned', `${owner} owns it and would undo the change: change it there`)
  const runStrategy = runStrategyOf(vm)
  return restarted.has(runStrategy) || replaced.has(runStrategy)
    ? undefined
    : refused('run-strategy', `its runStrategy is ${runStrategy}: it would not come back by itself`)
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

function fieldToOverride(vm: VirtualMachine, path: FieldPath, lent: string): OverrideField[] {
  const value = valueOf(vm, path)
  if (value === lent) return []
  return [{ path, was: value === undefined ? { present: false } : { present: true, value }, lent }]
}

/** VMs whose eviction is denied because they cannot be migrated, and bare VMIs of that kind, which have no VM to change. */
interface Blockers {
  machines: readonly VmRef[]
  bare: readonly VmRef[]
}

/** Reads all VMIs, page by page, and keeps the names of those that block. Throws ApiError. */
export async function listBlockers(
  reader: Reader,
  { namespace, clusterEviction }: { namespace: string | undefined; clusterEviction: string | undefined },
): Promise<Blockers> {
  const machines: VmRef[] = []
  const bare: VmRef[] = []
  try {
    for await (const { items } of readAhead(reader.pages(VirtualMachineInstances, { namespace })))
      for (const vmi of items.filter((one) => isDenied(one, clusterEviction)))
        (isOfVm(vmi) ? machines : bare).push(refOf(vmi))
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return { machines, bare }
}

/** Whether an eviction of this VMI is denied: it runs, cannot migrate, and is to be migrated (facts 3.4). */
function isDenied(vmi: VirtualMachineInstance, clusterEviction: string | undefined): boolean {
  return (
    vmi.status?.phase === 'Running' &&
    effectiveEviction(vmi, { clusterEviction }) === 'LiveMigrate' &&
    condition(vmi, 'LiveMigratable')?.status === 'False'
  )
}

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
  return [
    {
      id: 'data-loss',
      level: 'blocker',
      summary: `once ${losing.length === 1 ? 'it is' : 'they are'} restarted or evicted, what was written to volumes in the pod is gone: ${names}`,
      remedy: ['kvup explain data-loss'],
      objects: losing,
    },
  ]
}
