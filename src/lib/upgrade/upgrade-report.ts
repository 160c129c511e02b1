import {
  explainVms,
  seeVms,
  vmCauses,
  vmProblems,
  type VmsSnapshot,
  type VmTroubles,
} from '../kubevirt/diagnosis/vm-troubles.ts'
import type { NewAlerts } from '../openshift/firing-alerts.ts'
import type { HopFinding } from '../releases/hop-findings.ts'
import type { Change, Differences } from '../vms/census/vm-census.ts'
import type { Compared, ComparedWith } from '../vms/census/run-census.ts'
import type { OlmPart } from './methods/olm-plan.ts'
import type { UpgradePlan } from './upgrade-plan.ts'
import type { Cluster, ClusterAddress, Reader } from '../kube/cluster.ts'
import { ValidatingWebhooks } from '../kube/kinds/extension-kinds.ts'
import { VirtualMachines } from '../kube/kinds/kubevirt-kinds.ts'
import type { Doubt } from '../kubevirt/rollout-status.ts'
import { countWorkloads } from '../kubevirt/snapshot.ts'
import { ApiError, asFarAsRead, blocked, type KvupError } from '../kube/errors.ts'
import { readOwner } from '../vms/strategy/settings-owner.ts'
import type { RehearsalComparison } from '../engine/journal.ts'
import type { JournalReader, ReadContext, RunEvent, RunOutcome } from '../engine/step.ts'
import { countUnlabelled } from '../vms/outdated-vms.ts'
import { forecastOutdated, forecastText } from '../vms/forecast/vm-forecast.ts'
import { methodsOf, openOverride } from '../vms/update-methods.ts'
import { readRollout } from './upgrade-snapshot.ts'
import { controllerDoubt } from './steps/component-rollout.ts'
import { someOf } from '../kube/text.ts'
import { itemsOf, type Known, known } from '../kube/known.ts'
import { type Clock, ticks } from '../kube/clock.ts'
import type { TakenRisk } from '../engine/journal-runs.ts'

/** The end of `kvup upgrade` as a document (night U6). */
export interface UpgradeReport {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'UpgradeReport'
  outcome: 'nothing-to-do' | 'done' | 'stopped-before'
  /** Its number in the journal, for `kvup history RUN`; absent where nothing was done, or where it could not be read. */
  run?: number
  kubevirt: { name: string; namespace: string }
  /** Absent where it is no cluster of a kubeconfig. */
  cluster?: ClusterAddress
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
  /** Risks that were accepted by name for it; absent where there was none. */
  accepted?: readonly TakenRisk[]
  /** With what `--rehearsal` names; absent without it. */
  rehearsal?: RehearsalComparison
  /** File with the replaced operator objects: the way back, unless there is none. */
  backup?: string
  /** Why going back to what was installed is closed, after `there is no way back: `. */
  noWayBack?: string
  /** The step before which it stopped, and for how long that is harmless. */
  stoppedBefore?: { step: string; because: string; safeToLeave?: string; goesOn?: readonly string[] }
  /** The client that fits the new version. */
  virtctl?: string
  next: readonly string[]
}

export type { RehearsalComparison, TriedWithVm, VmComparison, ComparedStage } from '../engine/journal.ts'

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

/** A step as a report has it: what it took in whole seconds. */
export const stepReport = ({
  step,
  changed,
  tookMs,
  note,
}: Extract<RunEvent, { kind: 'step-done' }>): StepReport => ({
  id: step.id,
  title: step.title,
  changed,
  seconds: Math.round(tookMs / 1000),
  ...(note !== undefined && { note }),
})

/** Where a run stopped that was asked to. */
export const stopOf = ({
  step,
  because,
  safeToLeave,
  goesOn,
}: Extract<RunOutcome, { is: 'stopped-before' }>): NonNullable<UpgradeReport['stoppedBefore']> => ({
  step: step.id,
  because,
  ...(safeToLeave !== undefined && { safeToLeave }),
  ...(goesOn && { goesOn }),
})

export interface WorkloadReport {
  instances: number
  outdated: number
  /** Of them those on a newer virt-launcher, which only a restart takes back; absent where there is none. */
  restart?: number
  /** What the present methods do with them, in words. */
  forecast: string
  paused: boolean
}

const document = { apiVersion: 'kvup.io/v1alpha1', kind: 'UpgradeReport' } as const

/** The report of a run that found the goal reached; with --leave-paused the methods may be held still: `next` gives them back. */
export function nothingToDoReport(plan: UpgradePlan, next: readonly string[]): UpgradeReport {
  return { ...document, outcome: 'nothing-to-do', ...heading(plan), steps: [], findings: [], next }
}

/** What is known of an upgrade that ended early, without another look at the cluster. How it ended stands in its error. */
export interface BrokenUpgrade
  extends
    Pick<UpgradeReport, 'apiVersion' | 'kind' | 'cluster' | 'steps' | 'accepted' | 'rehearsal'>,
    ReturnType<typeof heading> {}

export const brokenReport = (
  plan: UpgradePlan,
  rest: Pick<BrokenUpgrade, 'cluster' | 'steps' | 'accepted' | 'rehearsal'>,
): BrokenUpgrade => ({ ...document, ...heading(plan), ...rest })

const journaledStages = 20
const journaledVms = 6

/** As the journal keeps it: at most 4 kB. Stages and VMs that differ go first where there are more. */
export function journaledComparison({ stages, vms, ...rest }: RehearsalComparison): RehearsalComparison {
  const kept = new Set(
    stages
      .toSorted((one, other) => Number(one.agrees ?? false) - Number(other.agrees ?? false))
      .slice(0, journaledStages),
  )
  return {
    ...rest,
    stages: stages
      .filter((stage) => kept.has(stage))
      .map((stage) => Object.assign({}, stage, { name: stage.name.slice(0, 60) })),
    ...(vms && {
      vms: {
        ...vms,
        items: vms.items.slice(0, journaledVms).map(({ namespace, name, rehearsed, tried }) => ({
          namespace: namespace.slice(0, 63),
          name: name.slice(0, 100),
          rehearsed,
          tried,
        })),
      },
    }),
  }
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
  const versions = { ...(from !== undefined && { from }), ...(olm && { operator: operatorOf(olm) }) }
  return { kubevirt: { name, namespace }, ...versions, to: to.text, method }
}

const operatorOf = ({ package: name, subscription, approval, from, to, hops }: OlmPart): OperatorReport => ({
  package: name,
  subscription: { name: subscription.name, namespace: subscription.namespace },
  approval,
  from,
  to,
  hops: hops.map(({ version, channel }) => ({ version, ...(channel !== undefined && { channel }) })),
})

export const reportOf = (
  plan: UpgradePlan,
  rest: Omit<UpgradeReport, 'apiVersion' | 'kind' | 'kubevirt' | 'from' | 'to' | 'method' | 'operator'> &
    Partial<Pick<UpgradeReport, 'to'>>,
): UpgradeReport => ({ ...document, ...heading(plan), ...rest })

/** How many VMs are outdated now, and what will happen to them. */
export async function workloadsAfter(
  { reader }: Cluster,
  { owner, olm }: Pick<UpgradePlan, 'owner' | 'olm'>,
  journal: JournalReader,
): Promise<WorkloadReport> {
  const kubevirt = await readOwner(reader, owner)
  const [count, forecast, overrides] = await Promise.all([
    countWorkloads(reader),
    forecastOutdated(reader, kubevirt, methodsOf(kubevirt)),
    journal.overrides(),
  ])
  return {
    ...count,
    ...(forecast.counts.restart && { restart: forecast.counts.restart }),
    forecast: forecastText(forecast),
    paused: openOverride(overrides, olm?.hyperconverged.uid ?? owner.uid) !== undefined,
  }
}

/** Does the new KubeVirt take a VM? Asked of its webhooks by a server-side dry run, in KubeVirt's namespace (night U6). */
export async function tryVmCreation(
  { reviewer }: Cluster,
  namespace: string,
): Promise<NonNullable<UpgradeReport['vmCreation']>> {
  const vm = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: 'kvup-dry-run', namespace },
    spec: {
      runStrategy: 'Halted',
      template: { spec: { domain: { devices: {}, memory: { guest: '64Mi' } } } },
    },
  }
  try {
    await reviewer.dryRun.create(VirtualMachines, vm)
    return { is: 'accepted' }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return isOurs(error) ? { is: 'not-allowed' } : { is: 'refused', why: error.message }
  }
}

/** RBAC says no to us, with the role that would help; a quota's or a webhook's 403 is a refusal like any other. */
function isOurs({ status, remedy }: ApiError): boolean {
  return status === 404 || (status === 403 && remedy.length > 0)
}

/** Webhooks that block new APIs while virt-api is old; left behind, they go on blocking (night U5). */
export async function leftoverWebhooks({ reader }: Cluster): Promise<readonly HopFinding[]> {
  try {
    const left = (await reader.list(ValidatingWebhooks)).filter(({ metadata }) =>
      metadata.name.startsWith('virt-operator-tmp-webhook'),
    )
    return left.map(({ metadata }) => ({
      id: 'tmp-webhook-left',
      level: 'warning',
      summary: `${metadata.name} was left behind and still refuses new APIs`,
      remedy: [
        `kubectl get validatingwebhookconfiguration ${metadata.name} -o yaml     shows it; nothing is lost when it is deleted: virt-operator left it behind`,
      ],
    }))
  } catch (error) {
    if (error instanceof ApiError) return []
    throw error
  }
}

/** What kvup still expects and does not see once it is done: each a warning of the report. None where it is not settled, for that is said otherwise. */
export async function doubtsLeft(
  cx: ReadContext,
  { owner }: Pick<UpgradePlan, 'owner'>,
): Promise<readonly HopFinding[]> {
  const { rolloutStatus, snapshot } = await readRollout(cx, owner)
  if (rolloutStatus.verdict !== 'Healthy') return []
  const controller = await controllerDoubt(snapshot, () => countUnlabelled(cx.reader, snapshot))
  return [...rolloutStatus.doubts, ...(controller ? [controller] : [])].map(warningOf)
}

const warningOf = ({ id, sentence, commands: remedy }: Doubt): HopFinding => ({
  id,
  level: 'warning',
  summary: sentence,
  remedy,
})

/** For how long VMs that ran are waited for behind the end of a run, ms: KubeVirt may be moving them just now. */
const patience = 60_000
const readEvery = 5000

/** What the report says of VMs that should run, and the failure that it ends with; `unread`: they could not be looked at. */
type JudgedVms = Pick<UpgradeReport, 'vms' | 'degraded' | 'unread'>

/** VMs that should run, before a run and behind it. Another tenant's VM that never ran changes nothing; one that ran when the run began does. */
export class VmsOfRun {
  readonly #reader: Reader
  readonly #clock: Clock
  readonly #told: (line: string) => void
  #before: VmsSnapshot | undefined

  constructor(reader: Reader, clock: Clock, told: (line: string) => void) {
    this.#reader = reader
    this.#clock = clock
    this.#told = told
  }

  /** Throws what the Reader throws but for what may not be read. */
  async before(): Promise<void> {
    this.#before = itemsOf(await this.#read())[0]
  }

  /** Waits for those that ran and do not, for a minute at most. What was done is done: VMs that cannot be read are told as that, whatever the reason. */
  async after(signal: AbortSignal): Promise<JudgedVms> {
    let vmsSnapshot = await this.#tryRead()
    if (vmsSnapshot === undefined) return { unread: ['VMs that should run'] }
    const ran = this.#before?.running ?? new Set<string>()
    let stuck = this.#stuck(vmsSnapshot, ran)
    const began = ticks(this.#clock)
    if (stuck.length > 0) this.#told(`waiting for ${named(stuck)} to run again, for 1 m at most`)
    while (stuck.length > 0 && this.#passed(began) < patience) {
      await this.#clock.sleep(readEvery, signal)
      const next = await this.#tryRead()
      // A server that was away for one look may answer the next.
      if (next === undefined) continue
      vmsSnapshot = next
      stuck = this.#stuck(vmsSnapshot, new Set(stuck))
    }
    const { troubles } = await this.#explained(vmsSnapshot)
    const degraded = [
      ...(stuck.length > 0
        ? [`${stuck.length} of ${ran.size} VMs that ran before are not running: ${named(stuck)}`]
        : []),
      ...vmCauses(troubles, this.#clock.now()).map(({ sentence }) => sentence),
    ]
    return {
      ...(vmProblems(troubles).length > 0 && { vms: troubles }),
      ...(degraded.length > 0 && { degraded }),
    }
  }

  #read(): Promise<Known<VmsSnapshot>> {
    return known(seeVms(this.#reader, this.#clock.now()).then((vmsSnapshot) => [vmsSnapshot]))
  }

  /** With what keeps VMs that do not run, and what is wrong with migrations; as it is where the cluster does not answer. */
  #explained(vmsSnapshot: VmsSnapshot): Promise<VmsSnapshot> {
    const asked = explainVms(this.#reader, vmsSnapshot, { at: this.#clock.now(), version: undefined })
    return asFarAsRead(asked, vmsSnapshot)
  }

  /** Undefined where the cluster does not answer, or does not let us. */
  async #tryRead(): Promise<VmsSnapshot | undefined> {
    const read = await asFarAsRead(this.#read())
    return read && itemsOf(read)[0]
  }

  /** Also one that was edited meanwhile: KubeVirt itself edits VMs, and one that is down is never passed over. */
  #stuck(now: VmsSnapshot, among: ReadonlySet<string>): readonly string[] {
    return [...now.idle].filter((name) => among.has(name)).toSorted()
  }

  #passed(began: number): number {
    return ticks(this.#clock) - began
  }
}

const named = (names: readonly string[]): string => someOf(names, names.length, 10)

/** A run that did its work and leaves VMs behind that do not run is no success: exit 3. */
export function degradedAfter({ degraded, vms }: JudgedVms, to: string): KvupError | undefined {
  if (degraded === undefined) return undefined
  const [first = ''] = vms?.reasons[0]?.examples ?? []
  const [namespace, name] = first.split('/')
  return blocked('degraded', `KubeVirt is at ${to} and Degraded: ${degraded.join('; ')}`, {
    remedy: [...(name === undefined ? [] : [`kubectl -n ${namespace} describe vmi ${name}`]), 'kvup status'],
  })
}
