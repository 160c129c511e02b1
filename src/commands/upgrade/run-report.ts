import type { Cluster, Reader } from '../../lib/kube/cluster.ts'
import { kubeVirtDefinitions } from '../../lib/kubevirt/stored-versions.ts'
import { type Fired, firedOnPlatform, newAlerts } from '../../lib/openshift/firing-alerts.ts'
import type { RunEvent, RunOutcome } from '../../lib/engine/run-context.ts'
import type { JournalReader } from '../../lib/engine/step.ts'
import type { Clock } from '../../lib/kube/clock.ts'
import { KvupError } from '../../lib/kube/errors.ts'
import {
  doubtsLeft,
  leftoverWebhooks,
  reportOf,
  type StepReport,
  tryVmCreation,
  type UpgradeReport,
  type WorkloadReport,
  workloadsAfter,
} from '../../lib/upgrade/upgrade-report.ts'
import type { UpgradePlan } from '../../lib/upgrade/upgrade-plan.ts'
import type { Seen } from '../../lib/vms/census/census-changes.ts'
import type { Compared, RunCensus } from '../../lib/vms/census/run-census.ts'
import { heldLines, openLoan } from '../../lib/vms/update-methods.ts'
import { whyNoWayBack } from '../../lib/upgrade/rollback.ts'
import { isOfWindow } from '../../lib/engine/overrides.ts'
import type { Loan } from '../../lib/engine/journal.ts'
import { withoutFlags, wordsOf } from '../../lib/kube/shell-line.ts'
import { findCanary } from '../../lib/vms/outdated-vms.ts'
import type { Differences } from '../../lib/vms/census/vm-census.ts'

interface Ended {
  clock: Clock
  plan: UpgradePlan
  outcome: Exclude<RunOutcome, { is: 'nothing-to-do' }>
  cluster: Cluster
  journal: JournalReader
  backup: string | undefined
  /** As it was typed. */
  commandLine: string
  /** VMs and volumes as they were when the run began. */
  census: RunCensus
  /** Whom KubeVirt may evict, as was accepted by name. */
  evicted: Seen['evicted']
}

/** Keeps what the report needs: alerts before, and how long each step took. */
export interface Observed {
  /** Looks at alerts before the first write. */
  before(): Promise<void>
  event(event: RunEvent): void
  /** Id of the step that is at work, or was at work last. */
  readonly atWork: string
  report(ended: Ended): Promise<UpgradeReport>
}

export function observeRun(reader: Reader): Observed {
  const steps: StepReport[] = []
  const hops = new Map<string, number>()
  let atWork = ''
  // None where there is no platform to ask.
  let fired: Fired | undefined
  return {
    async before() {
      fired = await asFarAsRead(firedOnPlatform(reader), undefined)
    },
    get atWork() {
      return atWork
    },
    event(event: RunEvent) {
      if (event.kind === 'step-started') atWork = event.step.id
      if (event.kind !== 'step-done') return
      const { step, changed, tookMs, note } = event
      if (step.hop !== undefined) hops.set(step.hop, (hops.get(step.hop) ?? 0) + tookMs)
      steps.push({
        id: step.id,
        title: step.title,
        changed,
        seconds: Math.round(tookMs / 1000),
        ...(note !== undefined && { note }),
      })
    },
    report: (ended: Ended) => reportAfter(ended, { steps, hops }, fired),
  }
}

async function reportAfter(
  ended: Ended,
  { steps, hops }: { steps: readonly StepReport[]; hops: ReadonlyMap<string, number> },
  fired: Fired | undefined,
): Promise<UpgradeReport> {
  const { plan, outcome, cluster, journal, clock, backup, commandLine, census, evicted } = ended
  const reading = { reader: cluster.reader, clock, journal }
  const [workloads, compared, vmCreation, webhooks, doubts, alerts, noWayBack] = await Promise.all([
    asFarAsRead(workloadsAfter(cluster, plan, journal), undefined),
    asFarAsRead(census.compare(cluster.reader, evicted), notCompared),
    tryVmCreation(cluster, plan.owner.ref.namespace),
    leftoverWebhooks(cluster),
    outcome.is === 'finished' ? asFarAsRead(doubtsLeft(reading, plan), []) : [],
    alertsSince(cluster.reader, fired),
    closedBehind(cluster.reader, ended),
  ])
  const { since, unread = [], ...changes }: Partial<Compared> = compared ?? {}
  const next = await asFarAsRead(nextAfter(ended, { workloads, differences: changes.differences }), [])
  const stopped = outcome.is === 'stopped-before' ? outcome : undefined
  return reportOf(plan, {
    outcome: stopped ? 'stopped-before' : 'done',
    tookSeconds: Math.round(outcome.tookMs / 1000),
    ...(plan.path && {
      path: [...hops].flatMap(([to, ms]) =>
        isOnPath(plan, to) ? [{ to, seconds: Math.round(ms / 1000) }] : [],
      ),
    }),
    steps,
    ...(since && { comparedWith: since }),
    ...changes,
    ...alerts,
    ...(workloads ? { workloads, unread } : { unread: [...unread, 'outdated VMs'] }),
    vmCreation,
    findings: [...doubts, ...webhooks],
    ...(backup !== undefined && { backup }),
    ...(noWayBack !== undefined && { noWayBack }),
    ...(stopped
      ? { stoppedBefore: stopOf(stopped), next: [goesOn(commandLine), ...next] }
      : { ...clientOf(plan), next }),
  })
}

/** What was there before is known, and what became of it could not be read. */
const notCompared: Partial<Compared> = { unread: ['VMs and volumes'] }

/** What the run was at its end has replaced the CRDs, also where they may not be read. */
async function closedBehind(reader: Reader, { plan, outcome }: Ended): Promise<string | undefined> {
  const { wayBack } = plan
  if (wayBack.is !== 'closes') return whyNoWayBack(plan, undefined)
  const crds = await kubeVirtDefinitions(reader)
  return crds.known || outcome.is === 'stopped-before' ? whyNoWayBack(plan, crds) : wayBack.why
}

/** What was left open by the minor before the first is of none of them. */
const isOnPath = ({ path }: UpgradePlan, hop: string): boolean =>
  path?.steps.some(({ to }) => to === hop) ?? false

async function alertsSince(reader: Reader, fired: Fired | undefined): Promise<Pick<UpgradeReport, 'alerts'>> {
  if (fired === undefined) return {}
  const alerts = await asFarAsRead(newAlerts(reader, fired), undefined)
  return alerts === undefined ? {} : { alerts }
}

async function nextAfter(
  { plan, cluster, journal }: Ended,
  after: { [K in 'workloads' | 'differences']: UpgradeReport[K] | undefined },
): Promise<readonly string[]> {
  const loans = await asFarAsRead(journal.loans(), [])
  const loan = openLoan(loans, plan.olm?.hyperconverged.uid ?? plan.owner.uid)
  return nextLines(cluster.reader, { ...after, loan })
}

/** What was done is done, whatever becomes of its report. */
export async function asFarAsRead<T, E>(work: Promise<T>, otherwise: E): Promise<T | E> {
  try {
    return await work
  } catch (error) {
    if (error instanceof KvupError) return otherwise
    throw error
  }
}

function stopOf({
  step,
  because,
  safeToLeave,
}: Extract<RunOutcome, { is: 'stopped-before' }>): NonNullable<UpgradeReport['stoppedBefore']> {
  return { step: step.id, because, ...(safeToLeave !== undefined && { safeToLeave }) }
}

/** None where no table says which KubeVirt this release of HyperConverged brings. */
function clientOf({ olm, to }: UpgradePlan): Pick<UpgradeReport, 'virtctl'> {
  return olm !== undefined && olm.kubevirt === undefined ? {} : { virtctl: virtctlOf(to.text) }
}

/** facts 7: the artifact's name. */
function virtctlOf(version: string): string {
  return `https://github.com/kubevirt/kubevirt/releases/download/${version}/virtctl-${version}-OS-ARCH`
}

interface After {
  workloads?: WorkloadReport | undefined
  differences?: Differences | undefined
  /** Of the methods, where they are held still. */
  loan: Loan | undefined
}

/** What to type after an upgrade: the migrations that failed again, one VM to try first while they are held, the rest. */
async function nextLines(
  reader: Reader,
  { workloads, differences, loan }: After,
): Promise<readonly string[]> {
  const { outdated } = workloads ?? { outdated: 0 }
  const isOwn = loan !== undefined && !isOfWindow(loan)
  const canary = isOwn && outdated > 0 ? await findCanary(reader) : undefined
  return [
    ...(differences?.failedMigrations ?? []).map(migrate),
    ...(canary === undefined ? [] : [`${migrate(canary)}     moves one VM first, as a canary`]),
    ...heldLines(loan),
    ...(outdated > 0 ? ['kvup workloads outdated'] : []),
  ]
}

const migrate = (vmi: string) => `virtctl migrate -n ${vmi.replace('/', ' ')}`

/** As it was typed, but for what made it stop: it would stop there again. */
export function goesOn(commandLine: string): string {
  const line = withoutFlags(wordsOf(commandLine), {
    valued: ['--until', '--pause-before', '--deadline'],
  }).join(' ')
  return `${line}     goes on from here`
}
