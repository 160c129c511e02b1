import type { CommandContext } from '../../kube/world.ts'
import type { Override } from '../../engine/journal.ts'
import { ApiError, blocked, type KvupError } from '../../kube/errors.ts'
import { type Forecast, forecastOutdated, forecastUpdates } from '../forecast/vm-forecast.ts'
import { nameOf, type SettingsOwner } from '../strategy/settings-owner.ts'
import { keptMethods, overrideId, overrideOn, restoreLine } from '../update-methods.ts'
import { namespaceOf } from '../vm-selection.ts'
import type { SettingsWork, OwnerInDocument } from '../strategy/strategy-document.ts'
import {
  listVmOverrides,
  fieldsOf,
  leaveIt,
  type SavedVmOverride,
  retryOf,
  rollbackHints,
} from './restore-vms.ts'
import type { DryRunStep } from '../../engine/procedure-dry-run.ts'
import { shellWord } from '../../kube/shell-line.ts'
import type { Meanwhile } from '../pause-updates.ts'
import { fieldName, wasText } from './vm-overrides.ts'

/** What became of what one VM was lent. */
export interface RestoredVm {
  namespace: string
  name: string
  /** `asks`: nothing was done, a person has to say; `closed`: left as it is. */
  outcome: 'given-back' | 'closed' | 'asks'
  /** In words: `evictionStrategy back to LiveMigrate`. */
  changes: readonly string[]
  why?: string
  /** Why it asks, for scripts. */
  reason?: string
  /** What runs was started with what was lent, until its next restart (night W1). */
  runsWithLent?: boolean
  next?: string
}

export function refusedOr(vm: RestoredVm, why: string | undefined): RestoredVm {
  if (why === undefined) return vm
  const { namespace, name } = vm
  return { namespace, name, outcome: 'asks', changes: [], why, reason: 'vm-refused' }
}

/** The others are given back: each of these has its reason, and its note still. */
export function someRefused(machines: readonly RestoredVm[]): KvupError {
  const left = machines.filter(({ outcome }) => outcome === 'asks')
  const refs = left.filter(({ reason }) => reason === 'vm-refused')
  return blocked(
    'vm-refused',
    `the server did not let ${countText(refs.length)} be given back (${firstNames(refs)}); all else that could be is`,
    {
      notes: left.slice(0, toldAtMost).map((vm) => `${vmNameOf(vm)}: ${vm.why}`),
      remedy: [...refs.slice(0, 3).map(retryOf), leaveIt(refs)],
    },
  )
}

const firstNames = (refs: readonly { namespace: string; name: string }[]): string =>
  `${refs.slice(0, 3).map(vmNameOf).join(', ')}${refs.length > 3 ? ', …' : ''}`

export const countText = (count: number) => (count === 1 ? '1 VM' : `${count} VMs`)

export const vmNameOf = ({ namespace, name }: { namespace: string; name: string }) => `${namespace}/${name}`

/** So many are told before the question; a dry run shows all. */
const toldAtMost = 20

export function restoredVm(
  { ref, overrideStatus, runsWithLent }: SavedVmOverride,
  meanwhile: Meanwhile,
): RestoredVm {
  const fields = fieldsOf(overrideStatus)
  const leave = meanwhile === 'keep-current'
  return {
    ...ref,
    outcome: leave ? 'closed' : 'given-back',
    changes: leave ? [] : fields.map((field) => `${fieldName(field.path)} back to ${wasText(field)}`),
    ...(runsWithLent && !leave && { runsWithLent, next: restartOf(ref) }),
  }
}

const restartOf = ({ namespace, name }: SavedVmOverride['ref']) =>
  `virtctl restart ${shellWord(name)} -n ${shellWord(namespace)}`

export function vmThatAsks({ ref, overrideStatus }: SavedVmOverride): RestoredVm {
  return {
    ...ref,
    outcome: 'asks',
    changes: [],
    ...(overrideStatus.is !== 'to-give-back' && { why: overrideStatus.why, reason: overrideStatus.id }),
  }
}

export function someAsk(asks: readonly SavedVmOverride[]): KvupError {
  const told = asks.map(vmThatAsks)
  const refs = asks.map(({ ref }) => ref)
  return blocked(
    told[0]?.reason ?? '',
    `nothing was given back to ${countText(asks.length)} (${firstNames(refs)}): a person has to say`,
    {
      notes: told.slice(0, toldAtMost).map((vm) => `${vmNameOf(vm)}: ${vm.why}`),
      remedy: asks.every(({ overrideStatus }) => overrideStatus.is === 'unreadable')
        ? leaveIt(refs)
        : rollbackHints(refs),
    },
  )
}

/** The end of `kvup workloads hold`. */
export interface UpdatesPausedDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'WorkloadsHeld'
  kubevirt: { name: string; namespace: string }
  owner: OwnerInDocument
  /** `nothing-to-hold`: the methods were empty already, and kvup borrows nothing. `rehearsed`: a dry run. */
  outcome: 'held' | 'already-held' | 'nothing-to-hold' | 'rehearsed'
  /** The methods that are kept. */
  kept: readonly string[]
  /** Who borrowed them, and since when. */
  by?: string
  at?: string
  /** The command that gives them back. */
  giveBack?: string
  dryRun?: 'client' | 'server'
  steps?: readonly DryRunStep[]
}

/** The end of `kvup workloads restore`. */
export interface RestoreDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'GiveBack'
  kubevirt: { name: string; namespace: string }
  owner: OwnerInDocument
  /** `rehearsed`: a dry run; `not-asked`: only VMs were named. */
  outcome: 'nothing-borrowed' | 'not-asked' | 'given-back' | 'left-as-it-is' | 'rehearsed'
  /** workloadUpdateMethods as they are now. */
  methods: readonly string[]
  dryRun?: 'client' | 'server'
  steps?: readonly DryRunStep[]
  /** VMs that `kvup workloads unblock` had changed, where there are any. */
  machines?: readonly RestoredVm[]
}

/** Of the methods and of the VMs, as one. */
export function dryRunOutput(
  { steps = [] }: End,
  both: VmsEnd,
): Pick<RestoreDocument, 'outcome' | 'dryRun' | 'steps'> {
  return {
    outcome: 'rehearsed',
    ...(both.dryRun && { dryRun: both.dryRun }),
    steps: [...steps, ...both.steps],
  }
}

export type End = Omit<RestoreDocument, 'apiVersion' | 'kind' | 'kubevirt' | 'owner'>

/** The loan of this KubeVirt, or one of a KubeVirt that was here before: its value is nobody's until a person says so. */
export function overrideToRestore(
  loans: readonly Override[],
  owner: SettingsOwner,
  meanwhile: Meanwhile,
): Override | undefined {
  const own = overrideOn(owner, loans)
  const former = loans.find(({ id }) => id === overrideId)
  if (own !== undefined || former === undefined || meanwhile !== 'ask') return own ?? former
  throw blocked(
    'kubevirt-replaced',
    `workloadUpdateMethods was ${keptMethods(former).join(', ')} on a ${former.object.kind} that was deleted since; what is here now is another one`,
    {
      object: nameOf(owner),
      remedy: [
        `${restoreLine(former)} --overwrite        sets the kept value on the present one`,
        `${restoreLine(former)} --keep-current     closes the loan and leaves the present value`,
      ],
    },
  )
}

/** What is outdated is labelled only once the update is over: before that every VMI counts. */
export async function forecastOf(
  { rolloutStatus, installation: { kubevirt }, cluster: { reader } }: SettingsWork,
  loan: Override,
): Promise<Forecast> {
  const methods = keptMethods(loan)
  if (rolloutStatus.verdict === 'Settled') return forecastOutdated(reader, kubevirt, methods)
  return forecastUpdates(reader, { kubevirt, methods })
}

/** What became of what VMs were lent. */
export interface VmsEnd {
  machines: readonly RestoredVm[]
  /** Of a dry run. */
  dryRun?: 'client' | 'server'
  steps: readonly DryRunStep[]
  /** Some were left for a person to say; the others are done. */
  error?: KvupError
}

/** VMs that were lent something, in the namespace of -n or in all, of these names alone where some are given; where they may not be read, a warning says so. */
export async function savedVmOverrides(
  cx: CommandContext,
  { cluster }: SettingsWork,
  names: readonly string[],
): Promise<readonly SavedVmOverride[]> {
  const namespace = namespaceOf(cx.flags.namespace)
  try {
    const all = await listVmOverrides(cluster.reader, namespace)
    return names.length === 0 ? all : all.filter(({ ref }) => names.includes(ref.name))
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    cx.printer.warn(`whether a VM was lent anything is not known: ${error.message}`)
    return []
  }
}

export function announceVms({ printer }: CommandContext, machines: readonly RestoredVm[]): void {
  const restoring = machines.filter(({ outcome }) => outcome !== 'asks')
  for (const vm of restoring.slice(0, toldAtMost))
    printer.note(`${vmNameOf(vm)}: ${vm.changes.join(', ') || 'only the note is taken off'}`)
  if (restoring.length > toldAtMost)
    printer.note(`and ${restoring.length - toldAtMost} more (--dry-run=client shows all)`)
}
