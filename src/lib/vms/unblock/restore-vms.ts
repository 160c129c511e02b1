import type { Reader } from '../../kube/cluster.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachines,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { ApiError, blocked, KvupError } from '../../kube/errors.ts'
import {
  fieldName,
  formerChange,
  isOfThisVm,
  type OverrideField,
  noteOff,
  notedVms,
  overrideOf,
  readVm,
  readVms,
  refOf,
  unreadable,
  valueOf,
  withValues,
  type VmOverride,
  type VmRef,
  wasText,
} from './vm-overrides.ts'
import type { Step, StepContext, StepState } from '../../engine/step.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { ensurePlace, namespaceOf, refusesThisVm, restartLine, vmNameOf } from '../vm.ts'
import type { Meanwhile } from '../pause-updates.ts'
import { placeOf, stepOn } from './unblock-vms.ts'
import type { CommandContext } from '../../kube/world.ts'
import type { Override } from '../../engine/journal.ts'
import { type Forecast, forecastOutdated, forecastUpdates } from '../forecast/vm-forecast.ts'
import { nameOf, type SettingsOwner } from '../strategy/settings-owner.ts'
import { keptMethods, overrideId, overrideOn, restoreLine } from '../update-methods.ts'
import type { OwnerInDocument, SettingsWork } from '../strategy/set-strategy.ts'
import type { DryRunStep } from '../../engine/procedure-dry-run.ts'

export interface SavedVmOverride {
  ref: VmRef
  overrideStatus: OverrideStatus
  /** It was restarted since, and runs with what was lent: what is given back reaches it at its next restart (night W1). */
  runsWithOverrides: boolean
}

/** Every VM with an override, of one namespace or of all: the server finds them by their label. Throws ApiError. */
async function listVmOverrides(reader: Reader, namespace?: string): Promise<readonly SavedVmOverride[]> {
  const refs: VmRef[] = []
  for await (const vm of notedVms(reader, namespace)) refs.push(refOf(vm))
  return (await readVms(reader, refs)).flatMap(({ vm, vmi }) => {
    const rolloutStatus = vm && overrideStatus(vm, vmi)
    if (vm === undefined || rolloutStatus === undefined) return []
    const fields = rolloutStatus.is === 'unreadable' ? [] : rolloutStatus.override.fields
    const eviction = fields.find(({ path }) => path === '/spec/template/spec/evictionStrategy')
    const runsWithOverrides = eviction !== undefined && vmi?.spec?.evictionStrategy === eviction.set
    return [{ ref: refOf(vm), overrideStatus: rolloutStatus, runsWithOverrides }]
  })
}

/** The same as they are given back: last those that a person has to say about. Throws ApiError. */
export async function vmsInOrder(reader: Reader): Promise<readonly VmRef[]> {
  const overrides = await listVmOverrides(reader)
  const asks = overrides.filter(({ overrideStatus: rolloutStatus }) => waitsForAnswer(rolloutStatus, 'ask'))
  return [...overrides.filter((override) => !asks.includes(override)), ...asks].map(({ ref }) => ref)
}

/** Where a VM's override stands. */
type OverrideStatus =
  /** These fields still have what they were lent; none: only the note is left. */
  | { is: 'to-restore'; override: VmOverride; fields: readonly OverrideField[] }
  /** A person has to say: somebody changed it, or giving it back could start or stop the VM. */
  | {
      is: 'asks'
      override: VmOverride
      id: 'changed-meanwhile' | 'vm-not-running' | 'copied-note'
      why: string
    }
  /** There is nothing that could be set back: it can only be left as it is. */
  | { is: 'unreadable'; id: 'override-unreadable'; why: string; byHand?: string }

/**
 * Given back only to the VM that was lent it, while nobody changed it, and the runStrategy only while the VM runs (night W1); its evictionStrategy alone starts and stops
 * nothing, and is given back whether it runs or not. Pure.
 */
export function overrideStatus(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
): OverrideStatus | undefined {
  const override = overrideOf(vm)
  if (override === undefined) return undefined
  if (override === 'unreadable')
    return { is: 'unreadable', id: 'override-unreadable', why: unreadable, ...formerChange(vm) }
  if (!isOfThisVm(vm, override)) return { is: 'asks', override, id: 'copied-note', why: copiedText(override) }
  const changed = override.fields.filter((field) => !isAs(vm, field))
  if (changed.length > 0)
    return { is: 'asks', override, id: 'changed-meanwhile', why: changedText(vm, changed) }
  const fields = override.fields.filter(
    (field) => valueOf(vm, field.path) === field.set && !wasThatAlready(field),
  )
  const run = fields.find(({ path }) => path === '/spec/runStrategy')
  if (run !== undefined && !runs(vmi))
    return {
      is: 'asks',
      override,
      id: 'vm-not-running',
      why: `it is not running, and runStrategy ${wasText(run)} could start or stop it`,
    }
  return { is: 'to-restore', override, fields }
}

/** Nothing is done to it until a person has said so. */
export function waitsForAnswer(
  rolloutStatus: OverrideStatus,
  meanwhile: Meanwhile,
): rolloutStatus is Exclude<OverrideStatus, { is: 'to-restore' }> {
  if (rolloutStatus.is === 'unreadable') return meanwhile !== 'keep-current'
  return rolloutStatus.is === 'asks' && meanwhile === 'ask'
}

/** One that is being stopped would not come back with what it had before. */
const runs = (vmi: VirtualMachineInstance | undefined): boolean =>
  vmi?.status?.phase === 'Running' && vmi.metadata.deletionTimestamp === undefined

const isAs = (vm: VirtualMachine, field: OverrideField) =>
  valueOf(vm, field.path) === field.set || valueOf(vm, field.path) === formerly(field)

const formerly = ({ was }: OverrideField) => (was.present ? was.value : undefined)
const wasThatAlready = (field: OverrideField) => formerly(field) === field.set

function copiedText({ fields }: VmOverride): string {
  const kept = fields.map((field) => `${fieldName(field.path)} ${wasText(field)}`).join(', ')
  return `its annotation was copied from another VM, which had ${kept}`
}

function changedText(vm: VirtualMachine, changed: readonly OverrideField[]): string {
  const one = (field: OverrideField) =>
    `${fieldName(field.path)} was ${wasText(field)} and became ${field.set}; somebody set it to ${valueOf(vm, field.path) ?? 'nothing'} meanwhile`
  return changed.map(one).join('; ')
}

/** Why VMs were not given back, by `namespace/name`: of each it is its own line, and keeps no other VM from what is theirs. */
export type RefusedVms = Map<string, string>

/**
 * Sets what was borrowed of a VM back, reads it back, and only then takes its note off (contract "Temporary changes"). What the server or a webhook refuses for this one VM goes into
 * `refused`, its note stays, and the run goes on.
 */
export function restoreVm(ref: VmRef, meanwhile: Meanwhile, refused: RefusedVms): Step {
  const name = vmNameOf(ref)
  return {
    ...stepOn(ref, { id: 'restore', title: 'restore', undo: 'kvup workloads unblock' }),
    async check({ reader }): Promise<StepState> {
      const why = refused.get(name)
      if (why !== undefined) return { is: 'done', note: `not restored: ${why}` }
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
        refused.set(name, why)
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

const asks = (ref: VmRef, state: Exclude<OverrideStatus, { is: 'to-restore' }>): StepState => ({
  is: 'blocked',
  by: state.why,
  reason: state.id,
  remedy: state.is === 'unreadable' ? [...byHandOf(state), leaveIt([ref])] : rollbackHints([ref]),
})

const namedAtMost = 3

/** The VMs as `kvup restore-settings` takes them; empty where that would be all of them. */
const named = (refs: readonly VmRef[]): string =>
  refs.length > namedAtMost ? '' : refs.map((ref) => ` ${shellWord(`vm/${vmNameOf(ref)}`)}`).join('')

const byHandOf = (state: OverrideStatus): readonly string[] =>
  state.is === 'unreadable' && state.byHand !== undefined ? [state.byHand] : []

/** The answer where nothing is known that could be set back. */
const leaveIt = (refs: readonly VmRef[]): string =>
  `kvup restore-settings${named(refs)} --keep-current     keeps the present ${refs.length === 1 ? 'value' : 'values'}`

/** The two answers to overrides that ask. */
const rollbackHints = (refs: readonly VmRef[]): readonly string[] => [
  leaveIt(refs),
  `kvup restore-settings${named(refs)} --overwrite        sets the saved values anyway`,
]

/** Where the server refused it. */
const retryOf = (ref: VmRef): string => `kvup restore-settings${named([ref])}     tries again`

/** What is set back: all of them where a person said so. */
function fieldsOf(rolloutStatus: OverrideStatus): readonly OverrideField[] {
  if (rolloutStatus.is === 'unreadable') return []
  return rolloutStatus.is === 'asks' ? rolloutStatus.override.fields : rolloutStatus.fields
}

function changeText(rolloutStatus: OverrideStatus, meanwhile: Meanwhile): string {
  const back = meanwhile === 'keep-current' ? [] : fieldsOf(rolloutStatus)
  if (back.length === 0) return 'keep the present value, and forget the saved one'
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
      remedy: [retryOf(ref)],
    },
  )
}

const undoneReason = 'restore-undone'

const isRestored = (vm: VirtualMachine, field: OverrideField) => valueOf(vm, field.path) === formerly(field)

async function takeNoteOff({ reader, writer }: StepContext, ref: VmRef): Promise<void> {
  const vm = await present(reader, ref)
  if (vm === undefined) return
  await writer.mergePatch(VirtualMachines, placeOf(vm), {
    metadata: {
      resourceVersion: vm.metadata.resourceVersion ?? '',
      ...noteOff,
    },
  })
}

async function present(reader: Reader, ref: VmRef): Promise<VirtualMachine | undefined> {
  const found = await reader.get(VirtualMachines, ref)
  return found.is === 'object' ? found.object : undefined
}

/** What became of what one VM was lent. */
export interface RestoredVm {
  namespace: string
  name: string
  /** `asks`: nothing was done, a person has to say; `closed`: left as it is. */
  outcome: 'restored' | 'closed' | 'asks'
  /** In words: `evictionStrategy back to LiveMigrate`. */
  changes: readonly string[]
  why?: string
  /** Why it asks, for scripts. */
  reason?: string
  /** What runs was started with what was lent, until its next restart (night W1). */
  runsWithOverrides?: boolean
  next?: string
}

export function refusedOr(vm: RestoredVm, why: string | undefined): RestoredVm {
  if (why === undefined) return vm
  const { namespace, name } = vm
  return { namespace, name, outcome: 'asks', changes: [], why, reason: 'vm-refused' }
}

/** The others are given back: each of these has its reason, and its note still. */
export function someRefused(vms: readonly RestoredVm[]): KvupError {
  const left = vms.filter(({ outcome }) => outcome === 'asks')
  const refs = left.filter(({ reason }) => reason === 'vm-refused')
  return blocked(
    'vm-refused',
    `the server refused to restore ${countText(refs.length)} (${firstNames(refs)}); everything else is restored`,
    {
      notes: left.slice(0, toldAtMost).map((vm) => `${vmNameOf(vm)}: ${vm.why}`),
      remedy: [...refs.slice(0, 3).map(retryOf), leaveIt(refs)],
    },
  )
}

const firstNames = (refs: readonly { namespace: string; name: string }[]): string =>
  `${refs.slice(0, 3).map(vmNameOf).join(', ')}${refs.length > 3 ? ', …' : ''}`

export const countText = (count: number) => (count === 1 ? '1 VM' : `${count} VMs`)

/** So many are told before the question; a dry run shows all. */
const toldAtMost = 20

export function restoredVm(
  { ref, overrideStatus: state, runsWithOverrides }: SavedVmOverride,
  meanwhile: Meanwhile,
): RestoredVm {
  const fields = fieldsOf(state)
  const leave = meanwhile === 'keep-current'
  return {
    ...ref,
    outcome: leave ? 'closed' : 'restored',
    changes: leave ? [] : fields.map((field) => `${fieldName(field.path)} back to ${wasText(field)}`),
    ...(runsWithOverrides && !leave && { runsWithOverrides, next: restartLine(ref) }),
  }
}

export const vmThatAsks = ({ ref, overrideStatus: state }: SavedVmOverride): RestoredVm => ({
  ...ref,
  outcome: 'asks',
  changes: [],
  ...(state.is !== 'to-restore' && { why: state.why, reason: state.id }),
})

export function someAsk(asking: readonly SavedVmOverride[]): KvupError {
  const told = asking.map(vmThatAsks)
  const refs = asking.map(({ ref }) => ref)
  return blocked(
    told[0]?.reason ?? '',
    `nothing was restored on ${countText(asking.length)} (${firstNames(refs)}): decide first`,
    {
      notes: told.slice(0, toldAtMost).map((vm) => `${vmNameOf(vm)}: ${vm.why}`),
      remedy: [
        ...asking.flatMap(({ overrideStatus: state }) => byHandOf(state)).slice(0, toldAtMost),
        ...(asking.every(({ overrideStatus: state }) => state.is === 'unreadable')
          ? [leaveIt(refs)]
          : rollbackHints(refs)),
      ],
    },
  )
}

/** The end of `kvup workloads pause-updates`. */
export interface UpdatesPausedDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'PausedUpdates'
  kubevirt: { name: string; namespace: string }
  owner: OwnerInDocument
  /** `nothing-to-pause`: the methods were empty already, and kvup borrows nothing. `dry-run`: a dry run. */
  outcome: 'paused' | 'already-paused' | 'nothing-to-pause' | 'dry-run'
  /** The methods that are kept. */
  kept: readonly string[]
  /** Who borrowed them, and since when. */
  by?: string
  at?: string
  /** The command that gives them back. */
  restore?: string
  dryRun?: 'client' | 'server'
  steps?: readonly DryRunStep[]
}

/** The end of `kvup restore-settings`. */
export interface RestoreDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'RestoreReport'
  kubevirt: { name: string; namespace: string }
  owner: OwnerInDocument
  /** `dry-run`: a dry run; `not-asked`: only VMs were named. */
  outcome: 'nothing-to-restore' | 'not-asked' | 'restored' | 'left-as-it-is' | 'dry-run'
  /** workloadUpdateMethods as they are now. */
  methods: readonly string[]
  dryRun?: 'client' | 'server'
  steps?: readonly DryRunStep[]
  /** VMs that `kvup workloads unblock` had changed, where there are any. */
  vms?: readonly RestoredVm[]
}

/** Of the methods and of the VMs, as one. */
export const dryRunOutput = (
  { steps = [] }: End,
  both: VmsEnd,
): Pick<RestoreDocument, 'outcome' | 'dryRun' | 'steps'> => ({
  outcome: 'dry-run',
  ...(both.dryRun && { dryRun: both.dryRun }),
  steps: [...steps, ...both.steps],
})

export type End = Omit<RestoreDocument, 'apiVersion' | 'kind' | 'kubevirt' | 'owner'>

/** The override of this KubeVirt, or one of a KubeVirt that was here before: its value is nobody's until a person says so. */
export function overrideToRestore(
  overrides: readonly Override[],
  owner: SettingsOwner,
  meanwhile: Meanwhile,
): Override | undefined {
  const own = overrideOn(owner, overrides)
  const former = overrides.find(({ id }) => id === overrideId)
  if (own !== undefined || former === undefined || meanwhile !== 'ask') return own ?? former
  throw blocked(
    'kubevirt-replaced',
    `workloadUpdateMethods was ${keptMethods(former).join(', ')} on a ${former.object.kind} that was deleted; the present one is new`,
    {
      object: nameOf(owner),
      remedy: [
        `${restoreLine(former)} --overwrite        sets the saved value on the present one`,
        `${restoreLine(former)} --keep-current     keeps the present value and forgets the saved one`,
      ],
    },
  )
}

/** What is outdated is labelled only once the update is over: before that every VMI counts. */
export async function forecastOf(
  { rolloutStatus, installation: { kubevirt }, cluster: { reader } }: SettingsWork,
  override: Override,
): Promise<Forecast> {
  const methods = keptMethods(override)
  if (rolloutStatus.verdict === 'Healthy') return forecastOutdated(reader, kubevirt, methods)
  return forecastUpdates(reader, { kubevirt, methods })
}

/** What became of what VMs were lent. */
export interface VmsEnd {
  vms: readonly RestoredVm[]
  /** Of a dry run. */
  dryRun?: 'client' | 'server'
  steps: readonly DryRunStep[]
  /** Some were left for a person to say; the others are done. */
  error?: KvupError
}

/** VMs that were lent something: these alone where some are given, else those in the namespace of -n or in all; where they may not be read, a warning says so. */
export async function savedVmOverrides(
  cx: CommandContext,
  { cluster }: SettingsWork,
  refs: readonly VmRef[],
): Promise<readonly SavedVmOverride[]> {
  const isNamed = refs.length > 0
  const namespaces = isNamed ? new Set(refs.map((ref) => ref.namespace)) : [namespaceOf(cx.flags.namespace)]
  const wanted = new Set(refs.map(vmNameOf))
  try {
    const all: SavedVmOverride[] = []
    for (const namespace of namespaces) {
      const found = await listVmOverrides(cluster.reader, namespace)
      if (found.length === 0) await ensurePlace({ cluster }, { namespace })
      all.push(...found)
    }
    return isNamed ? all.filter(({ ref }) => wanted.has(vmNameOf(ref))) : all
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    cx.printer.warn(`kvup does not know whether VMs have temporary changes: ${error.message}`)
    return []
  }
}

export function announceVms({ printer }: CommandContext, vms: readonly RestoredVm[]): void {
  const restoring = vms.filter(({ outcome }) => outcome !== 'asks')
  for (const vm of restoring.slice(0, toldAtMost))
    printer.note(`${vmNameOf(vm)}: ${vm.changes.join(', ') || 'only the annotation is removed'}`)
  if (restoring.length > toldAtMost)
    printer.note(`and ${restoring.length - toldAtMost} more (--dry-run=client shows all)`)
}
