import type { Cluster, Reader } from '../../lib/cluster/cluster.ts'
import type { RunEvent } from '../../lib/procedure/events.ts'
import type { RunOutcome } from '../../lib/procedure/run-context.ts'
import type { JournalReader } from '../../lib/procedure/step.ts'
import { leftoverWebhooks, tryVmCreation, workloadsAfter } from '../../lib/upgrade/after.ts'
import type { UpgradePlan } from '../../lib/upgrade/plan.ts'
import { reportOf, type StepReport, type UpgradeReport } from '../../lib/upgrade/report.ts'
import { type Census, takeCensus } from '../../lib/workloads/census.ts'
import { compareCensus, type Differences, newMigrations } from '../../lib/workloads/census-differences.ts'

interface Ended {
  plan: UpgradePlan
  outcome: Exclude<RunOutcome, { is: 'nothing-to-do' }>
  cluster: Cluster
  journal: JournalReader
  backup: string | undefined
}

/** Keeps what the report needs: the VMs before, and how long each step took. */
export interface Observed {
  /** Counts the VMs before the first write. */
  before(): Promise<void>
  event(event: RunEvent): void
  report(ended: Ended): Promise<UpgradeReport>
}

export function observeRun(reader: Reader): Observed {
  const steps: StepReport[] = []
  let census: Census | undefined
  return {
    async before() {
      census = await takeCensus(reader)
    },
    event(event: RunEvent) {
      if (event.kind !== 'step-done') return
      const { step, changed, tookMs, note } = event
      steps.push({
        id: step.id,
        title: step.title,
        changed,
        seconds: Math.round(tookMs / 1000),
        ...(note !== undefined && { note }),
      })
    },
    report: (ended: Ended) => reportAfter(ended, steps, census),
  }
}

async function reportAfter(
  { plan, outcome, cluster, journal, backup }: Ended,
  steps: readonly StepReport[],
  before: Census | undefined,
): Promise<UpgradeReport> {
  const [workloads, after, vmCreation, findings] = await Promise.all([
    workloadsAfter(cluster, plan.owner, journal),
    takeCensus(cluster.reader),
    tryVmCreation(cluster, plan.owner.ref.namespace),
    leftoverWebhooks(cluster),
  ])
  const differences = before && compareCensus(before, after)
  const stopped = outcome.is === 'stopped-before' ? outcome : undefined
  return reportOf(plan, {
    outcome: stopped ? 'stopped-before' : 'done',
    tookSeconds: Math.round(outcome.tookMs / 1000),
    steps,
    workloads,
    ...(before && differences && { differences, migrations: newMigrations(before, after) }),
    unread: after.unread,
    vmCreation,
    findings,
    ...(backup !== undefined && { backup }),
    ...(stopped && {
      stoppedBefore: {
        step: stopped.step.id,
        because: stopped.because,
        ...(stopped.safeToLeave !== undefined && { safeToLeave: stopped.safeToLeave }),
      },
    }),
    ...(!stopped && { virtctl: virtctlOf(plan.to.text) }),
    next: nextOf(workloads, differences),
  })
}

/** facts 7: the artifact's name. */
function virtctlOf(version: string): string {
  return `https://github.com/kubevirt/kubevirt/releases/download/${version}/virtctl-${version}-OS-ARCH`
}

function nextOf(
  { outdated, held }: { outdated: number; held: boolean },
  differences: Differences | undefined,
): readonly string[] {
  return [
    ...(differences?.failedMigrations ?? []).map((vmi) => `virtctl migrate -n ${vmi.replace('/', ' ')}`),
    ...(held ? ['kvup workloads restore'] : []),
    ...(outdated > 0 ? ['kubectl get vmi -A -l kubevirt.io/outdatedLauncherImage'] : []),
  ]
}
