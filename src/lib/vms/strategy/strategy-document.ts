import type { Cluster } from '../../kube/cluster.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Installation } from '../../kubevirt/installation.ts'
import type { RolloutStatus } from '../../kubevirt/rollout-status.ts'
import type { RunEnvironment } from '../../engine/change.ts'
import { type SettingsOwner, readOwner } from './settings-owner.ts'
import type { Procedure } from '../../engine/step.ts'
import { forecastOutdated } from '../forecast/vm-forecast.ts'
import { restoreUpdatesLine, keptMethods, overrideOn, methodsOf } from '../update-methods.ts'
import { type Choice, gateFinding, setStrategy, type Wanted } from './set-strategy.ts'
import {
  effectiveSettings,
  overridingPolicies,
  readMigrationPolicies,
  type EffectiveSetting,
  type OverridingPolicy,
} from './workload-settings.ts'
import type { DryRunStep } from '../../engine/procedure-dry-run.ts'
import type { HopFinding } from '../../releases/hop-findings.ts'

/** `kvup workloads strategy show` and `set`. */
export interface WorkloadStrategyDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'WorkloadStrategy'
  kubevirt: { name: string; namespace: string }
  /** Where the settings are written. */
  owner: OwnerInDocument
  /** Of KubeVirt, which decides what the defaults are. */
  version?: string
  /** The methods are borrowed: what they were, by whom, since when. */
  held?: { methods: readonly string[]; by: string; at: string; giveBack: string }
  /** Only of `set`. `rehearsed`: a dry run. */
  outcome?: 'set' | 'already-so' | 'rehearsed'
  /** What the choice means for these VMs; only of a dry run, for else it is said before the question. */
  said?: readonly string[]
  /** In effect now; after a `set` as they were read back. */
  items: readonly EffectiveSetting[]
  /** For the VMs that they select other values hold; absent where they may not be read. */
  policies?: readonly OverridingPolicy[]
  /** What is not known, and why. */
  remarks?: readonly string[]
  /** What keeps the methods in effect from working, where something does. */
  findings?: readonly HopFinding[]
  dryRun?: 'client' | 'server'
  steps?: readonly DryRunStep[]
}

/** Nothing is borrowed by it, and nothing has to be given back. */
export function procedureOf({ owner }: SettingsWork, wanted: Wanted): Procedure {
  const step = setStrategy(owner, wanted)
  return {
    name: 'set the workload update strategy',
    loans: [],
    reached: async (reading) => (await step.check(reading)).is === 'done',
    steps: async () => [step],
  }
}

export async function choiceOf(
  { installation: { kubevirt }, cluster: { reader } }: SettingsWork,
  wanted: Wanted,
): Promise<Choice> {
  const methods = wanted['workloadUpdateMethods']
  if (!Array.isArray(methods)) return { wanted, kubevirt }
  return { wanted, kubevirt, forecast: await forecastOutdated(reader, kubevirt, methods) }
}

/** What is in effect now, read again, with what is borrowed of it. */
export async function strategyDocument({
  cluster: { reader },
  owner,
  environment,
  installation: { name, namespace },
}: SettingsWork): Promise<WorkloadStrategyDocument> {
  const [holding, kubevirt, loans, policies] = await Promise.all([
    readOwner(reader, owner),
    readOwner(reader, owner.kubevirt),
    environment.journal.loans(),
    readMigrationPolicies(reader),
  ])
  const items = effectiveSettings(owner, holding, kubevirt)
  const findings = gateFinding(kubevirt, methodsOf(kubevirt))
  const loan = overrideOn(owner, loans)
  const version = kubevirt.status?.observedKubeVirtVersion
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'WorkloadStrategy',
    kubevirt: { name, namespace },
    owner: ownerInDocument(owner),
    ...(version !== undefined && { version }),
    ...(loan && {
      held: { methods: keptMethods(loan), by: loan.by, at: loan.at, giveBack: restoreUpdatesLine(loan) },
    }),
    items,
    ...(policies.known
      ? { policies: overridingPolicies(policies.items, items) }
      : { remarks: [`whether MigrationPolicies override them is not known: ${policies.why}`] }),
    ...(findings.length > 0 && { findings }),
  }
}

/** The object that owns the settings: the KubeVirt, or its HyperConverged. */
export interface OwnerInDocument {
  apiVersion: string
  kind: string
  name: string
  namespace: string
}

/** What the commands that change the settings of workload updates work with. */
export interface SettingsWork {
  cluster: Cluster
  installation: Installation
  rolloutStatus: RolloutStatus
  owner: SettingsOwner
  /** The owner as it was read. */
  holding: KubeObject
  environment: RunEnvironment
}

/** How a document names the owner. */
export function ownerInDocument({ kind, ref }: SettingsOwner): {
  apiVersion: string
  kind: string
  name: string
  namespace: string
} {
  return { apiVersion: kind.apiVersion, kind: kind.kind, name: ref.name, namespace: ref.namespace }
}
