import type { Reader } from '../../kube/cluster.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachines,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { ApiError, blocked, isNotFound, KvupError } from '../../kube/errors.ts'
import {
  fieldName,
  isOfThisVm,
  type OverrideField,
  overrideAnnotation,
  overrideLabel,
  overrideOf,
  type VmRef,
  readVm,
  readVms,
  refOf,
  unreadable,
  valueOf,
  type VmOverride,
  wasText,
} from './vm-overrides.ts'
import type { Step, StepContext, StepState } from '../../engine/step.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { refusesThisVm } from '../vm.ts'
import type { Meanwhile } from '../pause-updates.ts'
import { placeOf, stepOn, withValues } from './unblock-vms.ts'

export interface SavedVmOverride {
  ref: VmRef
  overrideStatus: OverrideStatus
  /** It was restarted since, and runs with what was lent: what is given back reaches it at its next restart (night W1). */
  runsWithLent: boolean
}

/** Every VM with a loan, of one namespace or of all: the server finds them by their label. Throws ApiError. */
export async function listVmOverrides(
  reader: Reader,
  namespace?: string,
): Promise<readonly SavedVmOverride[]> {
  const refs: VmRef[] = []
  try {
    for await (const { items } of reader.pages(VirtualMachines, { namespace, labels: overrideLabel }))
      refs.push(...items.map(refOf))
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return (await readVms(reader, refs)).flatMap(({ vm, vmi }) => {
    const rolloutStatus = vm && overrideStatus(vm, vmi)
    if (vm === undefined || rolloutStatus === undefined) return []
    const fields = rolloutStatus.is === 'unreadable' ? [] : rolloutStatus.loan.fields
    const eviction = fields.find(({ path }) => path === '/spec/template/spec/evictionStrategy')
    const runsWithLent = eviction !== undefined && vmi?.spec?.evictionStrategy === eviction.lent
    return [{ ref: refOf(vm), overrideStatus: rolloutStatus, runsWithLent }]
  })
}

/** The same as they are given back: last those that a person has to say about. Throws ApiError. */
export async function vmsInOrder(reader: Reader): Promise<readonly VmRef[]> {
  const loans = await listVmOverrides(reader)
  const asks = loans.filter(({ overrideStatus: rolloutStatus }) => waitsForAnswer(rolloutStatus, 'ask'))
  return [...loans.filter((loan) => !asks.includes(loan)), ...asks].map(({ ref }) => ref)
}

/** Where a VM's loan stands. */
type OverrideStatus =
  /** These fields still have what they were lent; none: only the note is left. */
  | { is: 'to-give-back'; loan: VmOverride; fields: readonly OverrideField[] }
  /** A person has to say: somebody changed it, or giving it back could start or stop the VM. */
  | { is: 'asks'; loan: VmOverride; id: 'changed-meanwhile' | 'vm-not-running' | 'copied-note'; why: string }
  /** There is nothing that could be set back: it can only be left as it is. */
  | { is: 'unreadable'; id: 'loan-unreadable'; why: string }

/**
 * Given back only to the VM that was lent it, while nobody changed it, and the runStrategy only while the VM runs (night W1); its evictionStrategy alone starts and stops
 * nothing, and is given back whether it runs or not. Pure.
 */
export function overrideStatus(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
): OverrideStatus | undefined {
  const loan = overrideOf(vm)
  if (loan === undefined) return undefined
  if (loan === 'unreadable') return { is: 'unreadable', id: 'loan-unreadable', why: unreadable }
  if (!isOfThisVm(vm, loan)) return { is: 'asks', loan, id: 'copied-note', why: copiedText(loan) }
  const changed = loan.fields.filter((field) => !isAs(vm, field))
  if (changed.length > 0) return { is: 'asks', loan, id: 'changed-meanwhile', why: changedText(vm, changed) }
  const fields = loan.fields.filter(
    (field) => valueOf(vm, field.path) === field.lent && !wasThatAlready(field),
  )
  const run = fields.find(({ path }) => path === '/spec/runStrategy')
  if (run !== undefined && !runs(vmi))
    return {
      is: 'asks',
      loan,
      id: 'vm-not-running',
      why: `it does not run, and runStrategy ${wasText(run)} could start it or keep it down`,
    }
  return { is: 'to-give-back', loan, fields }
}

/** Nothing is done to it until a person has said so. */
export function waitsForAnswer(
  rolloutStatus: OverrideStatus,
  meanwhile: Meanwhile,
): rolloutStatus is Exclude<OverrideStatus, { is: 'to-give-back' }> {
  if (rolloutStatus.is === 'unreadable') return meanwhile !== 'keep-current'
  return rolloutStatus.is === 'asks' && meanwhile === 'ask'
}

/** One that is being stopped would not come back with what it had before. */
const runs = (vmi: VirtualMachineInstance | undefined): boolean =>
  vmi?.status?.phase === 'Running' && vmi.metadata.deletionTimestamp === undefined

const isAs = (vm: VirtualMachine, field: OverrideField) =>
  valueOf(vm, field.path) === field.lent || valueOf(vm, field.path) === formerly(field)

const formerly = ({ was }: OverrideField) => (was.present ? was.value : undefined)
const wasThatAlready = (field: OverrideField) => formerly(field) === field.lent

function copiedText({ fields }: VmOverride): string {
  const kept = fields.map((field) => `${fieldName(field.path)} ${wasText(field)}`).join(', ')
  return `its note came along with a copy: another VM was lent, and had ${kept}`
}

function changedText(vm: VirtualMachine, changed: readonly OverrideField[]): string {
  const one = (field: OverrideField) =>
    `${fieldName(field.path)} was ${wasText(field)} and was lent ${field.lent}; somebody set it to ${valueOf(vm, field.path) ?? 'nothing'} meanwhile`
  return changed.map(one).join('; ')
}

/** Why VMs were not given back, by `namespace/name`: of each it is its own line, and keeps no other VM from what is theirs. */
export type RefusedVms = Map<string, string>

/**
 * Sets what was borrowed of a VM back, reads it back, and only then takes its note off (contract "Loans"). What the server or a webhook refuses for this one VM goes into
 * `refused`, its note stays, and the run goes on.
 */
export function restoreVm(ref: VmRef, meanwhile: Meanwhile, refused: RefusedVms): Step {
  const vmName = nameOf(ref)
  return {
    ...stepOn(ref, { id: 'give-back', title: 'give back to', undo: 'kvup workloads unblock' }),
    async check({ reader }): Promise<StepState> {
      const why = refused.get(vmName)
      if (why !== undefined) return { is: 'done', note: `not given back: ${why}` }
      const { vm, vmi } = await readVm(reader, ref)
      if (vm === undefined) return { is: 'done', note: 'it is gone' }
      const rolloutStatus = overrideStatus(vm, vmi)
      if (rolloutStatus === undefined) return { is: 'done' }
      if (waitsForAnswer(rolloutStatus, meanwhile)) return asks(ref, rolloutStatus)
      return { is: 'todo', change: changeText(rolloutStatus, meanwhile) }
    },
    async apply(cx) {
      const { vm, vmi } = await readVm(cx.reader, ref)
      const rolloutStatus = vm && overrideStatus(vm, vmi)
      if (vm === undefined || rolloutStatus === undefined) return undefined
      // It was stopped or changed right after the look.
      if (waitsForAnswer(rolloutStatus, meanwhile)) return { notApplied: rolloutStatus.why }
      try {
        if (meanwhile !== 'keep-current') await setBack(cx, vm, fieldsOf(rolloutStatus))
        return await takeNoteOff(cx, ref)
      } catch (error) {
        const why = refusalOf(error)
        if (why === undefined) throw error
        refused.set(vmName, why)
        return { notApplied: `${why}; ${retryOf(ref)}` }
      }
    },
  }
}

/** What is no answer about this VM stays an error: a login that is over, a conflict that is judged again, a server that is busy. */
function refusalOf(error: unknown): string | undefined {
  if (error instanceof KvupError && error.reason === undoneReason) return error.message
  if (!(error instanceof ApiError)) return undefined
  return error.status === 403 || error.status === 400 || refusesThisVm(error) ? error.message : undefined
}

const asks = (ref: VmRef, { id, why }: Exclude<OverrideStatus, { is: 'to-give-back' }>): StepState => ({
  is: 'blocked',
  by: why,
  reason: id,
  remedy: id === 'loan-unreadable' ? [leaveIt([ref])] : rollbackHints([ref]),
})

const nameOf = ({ namespace, name }: VmRef): string => `${namespace}/${name}`

const namedAtMost = 3

/** The VMs as `kvup workloads restore` takes them; empty where that would be all of them. */
function named(refs: readonly VmRef[]): string {
  const [first] = refs
  const isNamed = refs.length <= namedAtMost && refs.every(({ namespace }) => namespace === first?.namespace)
  if (first === undefined || !isNamed) return ''
  return ` ${refs.map(({ name }) => shellWord(name)).join(' ')} -n ${shellWord(first.namespace)}`
}

/** The answer where nothing is known that could be set back. */
export const leaveIt = (refs: readonly VmRef[]): string =>
  `kvup workloads restore --keep-current${named(refs)}     closes ${refs.length === 1 ? 'its loan' : 'the loans'} and leaves what is there`

/** The two answers to loans that ask. */
export const rollbackHints = (refs: readonly VmRef[]): readonly string[] => [
  leaveIt(refs),
  `kvup workloads restore --overwrite${named(refs)}        sets the kept values all the same`,
]

/** Where the server refused it. */
export const retryOf = (ref: VmRef): string => `kvup workloads restore${named([ref])}     tries it again`

/** What is set back: all of them where a person said so. */
export function fieldsOf(rolloutStatus: OverrideStatus): readonly OverrideField[] {
  if (rolloutStatus.is === 'unreadable') return []
  return rolloutStatus.is === 'asks' ? rolloutStatus.loan.fields : rolloutStatus.fields
}

function changeText(rolloutStatus: OverrideStatus, meanwhile: Meanwhile): string {
  const back = meanwhile === 'keep-current' ? [] : fieldsOf(rolloutStatus)
  if (back.length === 0) return 'leave what is there, and note it as borrowed no more'
  return `set ${back.map((field) => `${fieldName(field.path)} back to ${wasText(field)}`).join(', ')}`
}

/** `vm`: as it was judged; who wrote it meanwhile makes it a conflict, and it is judged again. */
async function setBack(
  { reader, writer }: StepContext,
  vm: VirtualMachine,
  back: readonly OverrideField[],
): Promise<void> {
  if (back.every((field) => isRestored(vm, field))) return
  const values = new Map(back.map((field) => [field.path, formerly(field) ?? null]))
  await writer.mergePatch(VirtualMachines, placeOf(vm), {
    metadata: { resourceVersion: vm.metadata.resourceVersion ?? '' },
    ...withValues(values),
  })
  const ref = refOf(vm)
  const after = await present(reader, ref)
  const undone = back.filter((field) => after !== undefined && !isRestored(after, field))
  if (undone.length === 0) return
  const names = undone.map(({ path }) => fieldName(path)).join(' and ')
  throw blocked(
    undoneReason,
    `${names} of VM ${ref.namespace}/${ref.name} was set back, but reads otherwise`,
    {
      remedy: ['kvup workloads restore'],
    },
  )
}

const undoneReason = 'give-back-undone'

const isRestored = (vm: VirtualMachine, field: OverrideField) => valueOf(vm, field.path) === formerly(field)

async function takeNoteOff({ reader, writer }: StepContext, ref: VmRef): Promise<void> {
  const vm = await present(reader, ref)
  if (vm === undefined) return
  await writer.mergePatch(VirtualMachines, placeOf(vm), {
    metadata: {
      resourceVersion: vm.metadata.resourceVersion ?? '',
      annotations: { [overrideAnnotation]: null },
      labels: { [overrideLabel]: null },
    },
  })
}

async function present(reader: Reader, ref: VmRef): Promise<VirtualMachine | undefined> {
  const found = await reader.get(VirtualMachines, ref)
  return found.is === 'object' ? found.object : undefined
}
