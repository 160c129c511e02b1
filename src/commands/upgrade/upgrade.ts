import type { Context } from '../../context.ts'
import type { Finding } from '../../lib/checks/finding.ts'
import type { Cluster } from '../../lib/cluster/cluster.ts'
import { announcement } from '../../lib/output/views/announcement.ts'
import { reportView } from '../../lib/output/views/upgrade-report.ts'
import { memoryJournal } from '../../lib/procedure/memory-journal.ts'
import type { RunOutcome } from '../../lib/procedure/run-context.ts'
import type { Procedure } from '../../lib/procedure/step.ts'
import { carryOut, type Hands } from '../../lib/run/carry-out.ts'
import { parseAccepted } from '../../lib/run/gate.ts'
import { type ExitCode, exitCode } from '../../lib/system/exit-codes.ts'
import { accessFor } from '../../lib/upgrade/access.ts'
import { credentialsFinding } from '../../lib/upgrade/credentials-finding.ts'
import { makePlan } from '../../lib/upgrade/make-plan.ts'
import type { UpgradePlan } from '../../lib/upgrade/plan.ts'
import { upgradeProcedure } from '../../lib/upgrade/procedure.ts'
import { nothingToDoReport } from '../../lib/upgrade/report.ts'
import { roleFor } from '../../lib/upgrade/required-access.ts'
import { seeForUpgrade } from '../../lib/upgrade/see.ts'
import { openLoan } from '../../lib/workloads/update-methods.ts'
import { handsOf } from './hands.ts'
import { type Observed, observeRun } from './observe-run.ts'
import { limitsOf, rehearsalOf, requestOf, type UpgradeOptions } from './options.ts'
import { type PreparedManifest, prepareManifest } from './prepare-manifest.ts'
import { rehearseUpgrade } from './rehearse-upgrade.ts'
import { withWayOn } from './way-on.ts'
import { whereToGo } from './where-to-go.ts'

/** `kvup upgrade`: see → plan → findings → question → run → report. */
export async function upgrade(cx: Context, options: UpgradeOptions): Promise<ExitCode> {
  if (options.to === undefined) throw await whereToGo(cx)
  const request = requestOf(options, cx.flags.yes)
  limitsOf(options, cx.clock.now())
  const mode = rehearsalOf(options)
  const cluster = await cx.cluster()
  const { takeOver } = options
  const handsIn = (namespace: string) => handsOf(cx, cluster, { namespace, takeOver })
  const seen = await seeForUpgrade(cluster.reader, cx.clock, (namespace) =>
    handsIn(namespace).journal.loans(),
  )
  const plan = makePlan(request, seen)
  const manifest = await prepareManifest({ cx, options, plan, seen, cluster })
  const procedure = upgradeProcedure(plan, {
    who: cx.world.who,
    operatorVersion: seen.installation.operator?.version,
    manifest,
  })
  const accepted = parseAccepted(options.accept)
  const findings = [...plan.findings, ...manifest.findings, ...(await loginFindings(cx, cluster, procedure))]
  const hands = handsIn(plan.owner.ref.namespace)
  const planned = { cx, plan, procedure, findings, accepted, manifest, cluster }
  if (mode) return rehearseUpgrade({ ...planned, journal: hands.journal, mode })
  return carryOutUpgrade({ ...planned, options, hands })
}

async function loginFindings(
  cx: Context,
  { reader, reviewer }: Cluster,
  procedure: Procedure,
): Promise<readonly Finding[]> {
  const end = await reviewer.credentialsEnd?.()
  if (end === undefined) return []
  const journal = memoryJournal()
  const steps = await procedure.steps({ reader, clock: cx.clock, journal })
  const estimate = steps.reduce((sum, step) => sum + step.estimate, 0)
  return credentialsFinding(end, cx.clock.now(), estimate)
}

interface Planned {
  cx: Context
  options: UpgradeOptions
  plan: UpgradePlan
  procedure: Procedure
  findings: readonly Finding[]
  accepted: ReturnType<typeof parseAccepted>
  manifest: PreparedManifest
  cluster: Cluster
  hands: Omit<Hands, 'announce'>
}

async function carryOutUpgrade(planned: Planned): Promise<ExitCode> {
  const { cx, plan, cluster, hands, manifest } = planned
  const observed = observeRun(cluster.reader)
  const outcome = await withWayOn({ cx, plan, journal: hands.journal }, (began) =>
    run(planned, observed, began),
  )
  const report =
    outcome.is === 'nothing-to-do'
      ? nothingToDoReport(plan, openLoan(await hands.journal.loans(), plan.owner.uid) !== undefined)
      : await observed.report({ plan, outcome, cluster, journal: hands.journal, backup: manifest.backup })
  cx.printer.result(report, reportView)
  return exitCode.done
}

function run(planned: Planned, observed: Observed, began: () => void): Promise<RunOutcome> {
  const { cx, options, plan, procedure, findings, accepted, manifest, hands } = planned
  return carryOut(
    {
      procedure,
      findings,
      accepted,
      limits: limitsOf(options, cx.clock.now()),
      rights: { ...accessFor(plan), role: roleFor(plan.method) },
      question: `Upgrade KubeVirt from ${plan.from ?? 'an unfinished installation'} to ${plan.to.text}?`,
      async prepare() {
        await manifest.prepare()
        await observed.before()
      },
    },
    {
      ...hands,
      emit(event) {
        if (event.kind === 'run-started') began()
        observed.event(event)
        cx.printer.event(event)
      },
      announce: () => announcement(plan, findings).forEach((line) => cx.printer.note(line)),
    },
  )
}
