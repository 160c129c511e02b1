import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../cluster/object.ts'
import type { Fate } from '../fate.ts'
import { noMethodsText } from '../../system/no-methods-text.ts'
import { controllerOf } from './behind.ts'
import { type Decision, effectiveEviction } from './decision.ts'
import type { Launcher } from './launchers.ts'
import type { OutlookRules } from './rules.ts'

/** One cause of what becomes of a VMI. `id` is stable, for scripts; `text` is for a person and may hold words of the cluster. */
export interface Reason {
  id: string
  text: string
}

export const reason = (id: string, text: string): Reason => ({ id, text })

const words: Record<Decision, (vmi: VirtualMachineInstance, rules: OutlookRules) => Reason> = {
  migrate: () => reason('migratable', 'can be migrated'),
  'migrate-volumes': () => reason('volumes-move', 'can be migrated together with its volumes'),
  evacuate: () => reason('evacuates', 'Evict is on; its evictionStrategy makes that a migration'),
  'shut-down': (vmi) => reason('evict-on', `${whyShutDown(vmi)}; Evict is on`),
  'no-methods': (vmi, { held }) => whyNoMethods(vmi, held !== undefined),
  'evict-off': (vmi) => reason('not-migratable', notMigratable(vmi)),
  denied: (vmi, rules) =>
    reason(
      'denied',
      `${notMigratable(vmi)}; evictionStrategy ${effectiveEviction(vmi, rules)} forbids eviction`,
    ),
  external: () => reason('external', 'evictionStrategy External: somebody else has to move it'),
}

/** The reason behind a decision. */
export function whyBy(decision: Decision, vmi: VirtualMachineInstance, rules: OutlookRules): Reason {
  return words[decision](vmi, rules)
}

function whyShutDown(vmi: VirtualMachineInstance): string {
  return isMigratable(vmi) ? 'LiveMigrate is off' : notMigratable(vmi)
}

function whyNoMethods(vmi: VirtualMachineInstance, held: boolean): Reason {
  const why = noMethodsText(held)
  return reason(held ? 'held' : 'no-methods', isMigratable(vmi) ? why : `${why}; ${notMigratable(vmi)}`)
}

const isMigratable = (vmi: VirtualMachineInstance) => condition(vmi, 'LiveMigratable')?.status === 'True'

/** facts 3.6; a reason that is not among them is told as it is. */
const plainly: Readonly<Record<string, string>> = {
  DisksNotLiveMigratable: 'a disk is not shared',
  InterfaceNotLiveMigratable: 'a network interface',
  HotplugNotLiveMigratable: 'a hotplugged disk',
  CPUModeLiveMigratable: 'its CPU mode',
  VirtIOFSNotLiveMigratable: 'a virtiofs share',
  HostDeviceNotLiveMigratable: 'a host device',
  SEVNotLiveMigratable: 'SEV',
  SecureExecutionNotLiveMigratable: 'Secure Execution',
  TDXNotLiveMigratable: 'TDX',
  NoTSCFrequencyNotLiveMigratable: 'no TSC frequency',
  HypervPassthroughNotLiveMigratable: 'Hyper-V passthrough',
  PersistentReservationNotLiveMigratable: 'a persistent reservation',
  DecentralizedNotLiveMigratable: 'a migration between clusters',
}

function notMigratable(vmi: VirtualMachineInstance): string {
  const { status, reason: named = '' } = condition(vmi, 'LiveMigratable') ?? {}
  if (status !== 'False') return 'not judged yet whether it can be migrated'
  const plain = Object.hasOwn(plainly, named) ? `${plainly[named]} (${named})` : named
  return plain === '' ? 'not migratable' : `not migratable: ${plain}`
}

interface End {
  /** Of the VM behind it; undefined: there is none, or it may not be read. */
  runStrategy: string | undefined
  loses: readonly string[]
}

/** What the end of its pod means: whether it comes back, and what is gone (night W2). */
export function aboutEnd(
  fate: Fate,
  vmi: VirtualMachineInstance,
  { runStrategy, loses }: End,
): readonly Reason[] {
  const gone = loses.length > 0 ? [reason('loses-data', `loses data on ${loses.join(', ')}`)] : []
  return [aboutReturn(fate, vmi, runStrategy), ...gone]
}

function aboutReturn(fate: Fate, vmi: VirtualMachineInstance, runStrategy: string | undefined): Reason {
  if (fate === 'is lost') return reason('no-vm', 'no VM behind it: it is gone for good')
  if (fate === 'shuts down')
    return runStrategy === undefined
      ? reason('vm-unread', 'its VM may not be read: whether it comes back is not known')
      : reason('stays-down', `runStrategy ${runStrategy} does not start it again`)
  const owner = controllerOf(vmi)
  return runStrategy === undefined && owner
    ? reason('replaced', `${owner.kind} ${owner.name} makes another one`)
    : reason('comes-back', 'runStrategy Always starts it again')
}

/** Night W9. */
export function aboutLauncher(launcher: Launcher | undefined): readonly Reason[] {
  if (launcher?.inUse) return [reason('no-way-back', 'it cannot be migrated back to an older virt-launcher')]
  const named = launcher?.version ?? 'its virt-launcher'
  return launcher?.old ? [reason('old-launcher', `${named} is more than a year old`)] : []
}
