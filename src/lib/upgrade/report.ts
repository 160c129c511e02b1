import type { VmTroubles } from '../facts/health/vm-troubles.ts'
import type { NewAlerts } from '../facts/openshift/new-alerts.ts'
import type { HopFinding } from '../releases/finding.ts'
import type { Change } from '../workloads/census-changes.ts'
import type { Differences } from '../workloads/census-differences.ts'
import type { Compared, ComparedWith } from '../workloads/run-census.ts'
import type { OlmPart } from './olm/olm-part.ts'
import type { UpgradePlan } from './plan.ts'

/** The end of `kvup upgrade` as a document (night U6). */
export interface UpgradeReport {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'UpgradeReport'
  outcome: 'nothing-to-do' | 'done' | 'stopped-before'
  kubevirt: { name: string; namespace: string }
  from?: string
  to: string
  method: string
  /** By the method olm. */
  operator?: OperatorReport
  tookSeconds?: number
  /** Of an upgrade path: the minors that this run went through, and how long each took. */
  path?: readonly { to: string; seconds: number }[]
  /** In the order in which they were done. */
  steps: readonly StepReport[]
  workloads?: WorkloadReport
  /** With what the end was compared; absent where nothing was. Reboots inside a guest are not seen. */
  comparedWith?: ComparedWith
  /** What became of VMs and volumes, and whether an owner is seen to have done it: one that is `lost` is exit code 9. */
  changes?: readonly Change[]
  /** Where too many VMs ran to keep their names: the namespaces in which fewer run now. */
  counts?: NonNullable<Compared['counts']>
  /** VMs that should run and do not; absent where there is none. */
  vms?: VmTroubles
  /** What makes the end no success, though KubeVirt says that all is well. */
  degraded?: readonly string[]
  /** Differences between before and after; every list empty is good news. */
  differences?: Differences
  /** On OKD and OpenShift: those that fire and did not before. */
  alerts?: NewAlerts
  /** Those that began during the run: the virt-handler roll kills them (night U1). */
  migrations?: { began: number; failed: number }
  /** What could not be read at the end, kinds or in words: nothing is said of it. */
  unread?: readonly string[]
  /** A server-side dry-run create of a VM; `not-allowed` says nothing of KubeVirt. */
  vmCreation?: { is: 'accepted' | 'not-allowed' } | { is: 'refused'; why: string }
  /** Left behind or to be looked at. */
  findings: readonly HopFinding[]
  /** File with the replaced operator objects: the way back, unless there is none. */
  backup?: string
  /** Why going back to what was installed is closed, after `there is no way back: `. */
  noWayBack?: string
  /** The step before which it stopped, and for how long that is harmless. */
  stoppedBefore?: { step: string; because: string; safeToLeave?: string }
  /** The client that fits the new version. */
  virtctl?: string
  next: readonly string[]
}

/** The release of HyperConverged, and how OLM gets there. */
interface OperatorReport {
  package: string
  subscription: { name: string; namespace: string }
  approval: 'Automatic' | 'Manual'
  from: string
  to: string
  /** As far as they are known beforehand. */
  hops: readonly { version: string; channel?: string }[]
}

export interface StepReport {
  id: string
  title: string
  changed: boolean
  seconds: number
  note?: string
}

export interface WorkloadReport {
  instances: number
  outdated: number
  /** What the present methods do with them, in words. */
  forecast: string
  held: boolean
}

const document = { apiVersion: 'kvup.io/v1alpha1', kind: 'UpgradeReport' } as const

/** The report of a run that found the goal reached; with --leave-held the methods may be held still: `next` gives them back. */
export function nothingToDoReport(plan: UpgradePlan, next: readonly string[]): UpgradeReport {
  return { ...document, outcome: 'nothing-to-do', ...heading(plan), steps: [], findings: [], next }
}

/** What every report begins with. */
export function heading({
  owner,
  from,
  to,
  method,
  olm,
}: UpgradePlan): Pick<UpgradeReport, 'kubevirt' | 'from' | 'to' | 'method' | 'operator'> {
  const { name, namespace } = owner.ref
  const known = { ...(from !== undefined && { from }), ...(olm && { operator: operatorOf(olm) }) }
  return { kubevirt: { name, namespace }, ...known, to: to.text, method }
}

function operatorOf({ package: name, subscription, approval, from, to, hops }: OlmPart): OperatorReport {
  return {
    package: name,
    subscription: { name: subscription.name, namespace: subscription.namespace },
    approval,
    from,
    to,
    hops: hops.map(({ version, channel }) => ({ version, ...(channel !== undefined && { channel }) })),
  }
}

export function reportOf(
  plan: UpgradePlan,
  rest: Omit<UpgradeReport, 'apiVersion' | 'kind' | 'kubevirt' | 'from' | 'to' | 'method' | 'operator'>,
): UpgradeReport {
  return { ...document, ...heading(plan), ...rest }
}
