import type { World } from '../../lib/kube/world.ts'
import { known } from '../../lib/kube/known.ts'
import { readClusterUid } from '../../lib/kubevirt/full-snapshot.ts'
import { readerFor } from '../../lib/kubevirt/snapshot.ts'
import { ensurePlace } from '../../lib/vms/vm.ts'
import { afterPlan, carryingOut } from '../../lib/upgrade/run-report.ts'
import { type Document, seal } from '../../lib/output/printer.ts'
import type { Context } from '../../context.ts'
import { sanitiseDeep } from '../../lib/output/terminal.ts'
import { planView } from '../../lib/output/views/upgrade/upgrade-plan.ts'
import { questionLines } from '../../lib/output/views/upgrade/before-question.ts'
import { measurementOf, measureRequest } from '../../lib/availability/measurement.ts'
import { ensureStepsMeant, type RunLimits } from '../../lib/engine/step.ts'
import { type Accepting, passGate, passGateOfPlan } from '../../lib/checks/check-definition.ts'
import type { AcceptedRisk } from '../../lib/releases/hop-findings.ts'
import type { SealedPlan } from '../../lib/engine/sealed-plan.ts'
import { type ExitCode, exitCode, usageError } from '../../lib/kube/errors.ts'
import {
  asPlanned,
  dryRunOf,
  planAgain,
  requestOf,
  typedTarget,
  type UpgradeOptions,
} from '../../lib/upgrade/plan/upgrade-options.ts'
import {
  asDrift,
  ensureFits,
  type PlanDocument,
  planDocument,
  plannedTime,
  readPlanFile,
} from '../../lib/upgrade/plan/plan-document.ts'
import { type Planned, planUpgrade } from '../../lib/upgrade/plan/planned-upgrade.ts'
import { limitsAtEnd } from '../../lib/upgrade/path-procedure.ts'
import { limitsBefore } from '../command-options.ts'
import {
  comparedRun,
  ensureOfCluster,
  readRehearsal,
  type SavedRehearsal,
} from '../../lib/rehearsal/comparison.ts'
import { upgradeRun } from '../../lib/upgrade/upgrade-run.ts'
import { brokenView, reportView } from '../../lib/output/views/upgrade/upgrade-report.ts'
import {
  acceptingLine,
  gateOf,
  isPage,
  RisksChosen,
  runChange,
  tellScreen,
  withRisks,
} from '../run-change.ts'
import { doneSteps, sayWhereItEnds } from '../../lib/engine/change.ts'
import { briefTime, defaultTimeout, type TimeRange } from '../../lib/upgrade/upgrade-duration.ts'
import { planJudge } from '../check/plan-findings.ts'
import { chosenTarget } from './without-target.ts'

/** `kvup upgrade`: see → plan → findings → question → run → report. With `--plan` exactly that plan, or nothing. */
export async function upgrade(cx: Context, typed: UpgradeOptions): Promise<ExitCode> {
  const { plan: file } = typed
  if (cx.flags?.namespace !== undefined) await ensurePlace({ cluster: await cx.cluster() }, cx.flags)
  if (typed.to === undefined && file === undefined) {
    const chosen = await chosenTarget(cx, typed)
    return chosen === undefined ? exitCode.done : planAndRun(typedAs(cx, chosen.commandLine), chosen.options)
  }
  if (file === undefined) return planAndRun(cx, typed)
  if (file === '-' && !cx.flags.yes && dryRunOf(typed) === undefined)
    throw usageError('contradiction', 'standard input cannot carry both the plan and your answer', {
      remedy: 'add --yes, or pass the plan as a file',
    })
  const sealed = await readPlanFile(cx, file)
  const options = asPlanned(typed, sealed.request, sealed.accepted, cx.world.commandLine)
  return asDrift(planAndRun(cx, options, sealed), sealed)
}

async function planAndRun(cx: Context, options: UpgradeOptions, sealed?: SealedPlan): Promise<ExitCode> {
  const mode = dryRunOf(options)
  // What contradicts itself is refused before the cluster is asked for its time.
  requestOf(options, cx.flags.yes)
  measureRequest(options)
  const rehearsal =
    options.rehearsal === undefined ? undefined : await readRehearsal(cx.world, options.rehearsal)
  const typed = await limitsBefore(cx, { ...options, timeout: options.timeout ?? '60m' })
  const { planned, madeFrom } = await planUpgrade(cx, options, {
    readNow: mode !== undefined,
    asks: mode === undefined,
    judge: planJudge(cx),
  })
  const { cluster, environment, procedure } = planned
  const reading = { reader: cluster.reader, clock: cx.clock, journal: environment.journal }
  const range = await plannedTime(planned, reading, await doneSteps(procedure, reading))
  const limits = limitsAtEnd(
    options.timeout === undefined ? { ...typed, timeoutMs: defaultTimeout(range) } : typed,
    planned.plan,
  )
  if (mode === undefined) {
    try {
      return await carryOutUpgrade(cx, planned, { sealed, limits, range, rehearsal })
    } catch (error) {
      if (!(error instanceof RisksChosen)) throw error
      return planAndRun(withAccepted(cx, planned.accepted, error.risks), {
        ...options,
        accept: [...options.accept, ...error.risks.map(({ id }) => id)],
      })
    }
  }
  await ensureStepsMeant(limits, procedure, reading)
  await sayWhereItEnds({ procedure, limits }, { reading, warn: (line) => cx.printer.warn(line) })
  if (sealed) await ensureFits(sealed, planned)
  const next = [`${carryingOut(cx.world.commandLine)}     carries it out`]
  const document = await planDocument(planned, madeFrom, { mode, next })
  cx.printer.result(document, planView)
  const accepting = sealed ? acceptingIn(sealed) : acceptingLine(cx.world.commandLine, planned.accepted)
  if (document.pending) passPlanGate(cx, planned, accepting)
  return exitCode.done
}

/** What is not carried out ends as what is carried out would. Throws what `passGate` throws; below a plan that shows each finding none is told again. */
function passPlanGate(cx: Context, { findings, accepted }: Planned, accepting: Accepting): void {
  const isShown = isPage(cx)
  if (isShown) passGateOfPlan(findings, accepted, { command: 'kvup upgrade', accepting, isShown })
  else passGate(findings, accepted, accepting)
}

/** The line that resumes it accepts what was chosen from the list. */
const withAccepted = (
  cx: Context,
  accepted: readonly AcceptedRisk[],
  chosen: readonly AcceptedRisk[],
): Context => typedAs(cx, withRisks(cx.world.commandLine, [...accepted, ...chosen]))

/** What was chosen on the terminal is part of the line that resumes. */
const typedAs = (cx: Context, commandLine: string): Context => ({
  ...cx,
  world: { ...cx.world, commandLine },
})

interface Carrying {
  sealed: SealedPlan | undefined
  limits: RunLimits
  range: TimeRange | undefined
  rehearsal: SavedRehearsal | undefined
}

async function carryOutUpgrade(
  cx: Context,
  planned: Planned,
  { sealed, limits, range, rehearsal }: Carrying,
): Promise<ExitCode> {
  const { environment, findings, accepted, census } = planned
  if (rehearsal) await ensureOfThisCluster(cx, planned, rehearsal)
  const run = upgradeRun(planned, {
    sealed,
    limits,
    rehearsed: rehearsal && comparedRun(rehearsal, planned.plan),
    ...gateOf(cx, findings, accepted, { accepting: sealed && acceptingIn(sealed), isPlanned: true }),
    announce(told) {
      const { cluster, plan } = planned
      const time = range && briefTime(range)
      const { address } = cluster
      const { timeoutMs } = limits
      const shown = sanitiseDeep({ ...told, plan, findings, accepted, address, time, timeoutMs })
      tellScreen(cx.printer, (paint) => questionLines(shown, paint))
    },
  })
  try {
    const { cluster, plan, options } = planned
    const measurement = measurementOf(cx, options, { cluster, namespace: plan.owner.ref.namespace })
    return await runChange(cx, {
      ...run,
      environment,
      measurement,
      view: reportView,
      broken: async () => ({ document: await run.broken(), view: brokenView }),
    })
  } finally {
    census.leave()
  }
}

async function ensureOfThisCluster(
  { printer }: Context,
  { cluster }: Planned,
  rehearsal: SavedRehearsal,
): Promise<void> {
  const clusterUid = await known(readClusterUid(cluster.reader))
  ensureOfCluster(rehearsal, { clusterUid, warn: (line) => printer.warn(line) })
}

const acceptingIn =
  (sealed: SealedPlan): Accepting =>
  (ids) =>
    `${planAgain(sealed, ids)}     makes a plan that takes the risk`

export interface PlanOptions extends Omit<UpgradeOptions, 'timeout' | 'pauseBefore'> {
  exitCode?: boolean
  toFile?: string
  from?: string
}

/** `kvup plan`: what an upgrade would do, as a document that `kvup upgrade --plan` carries out unchanged or not at all. */
export async function showPlan(cx: Context, options: PlanOptions): Promise<ExitCode> {
  const { document, ensureMayRun } = await makePlan(cx, options)
  if (options.toFile !== undefined) await savePlan(cx.world, options.toFile, document)
  cx.printer.result(document, planView)
  ensureMayRun()
  return document.pending && options.exitCode ? exitCode.asked : exitCode.done
}

/** The plan, and what throws where something stands against it. */
export async function makePlan(
  cx: Context,
  options: PlanOptions,
): Promise<{ document: PlanDocument; ensureMayRun: () => void }> {
  typedTarget(options)
  const { cluster, clock, saved } = await readerFor(cx, options.from)
  await ensurePlace({ cluster, saved }, { namespace: cx.flags?.namespace })
  const there: Context = { ...cx, clock, cluster: () => Promise.resolve(cluster) }
  const { planned, madeFrom } = await planUpgrade(
    there,
    { ...options, pauseBefore: [] },
    { readNow: true, asks: false, judge: planJudge(cx) },
  )
  const next = afterPlan(cx.world.commandLine, options.toFile)
  const document = await planDocument(planned, madeFrom, { mode: saved ? 'client' : 'auto', next })
  const ensureMayRun = () => {
    if (document.pending) passPlanGate(cx, planned, acceptingLine(cx.world.commandLine, planned.accepted))
  }
  return { document, ensureMayRun }
}

/** Writes what `-o yaml` prints. Throws `usage` for a file that cannot be written. */
export async function savePlan(world: World, file: string, document: Document): Promise<void> {
  const { yamlText } = await import('../../lib/output/formats/yaml-text.ts')
  await world.writeText(file, yamlText(seal(document, 'complete'), true)).catch((cause: unknown) => {
    throw usageError(
      'plan-not-saved',
      `the plan cannot be written to ${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { remedy: 'name a file that can be written: --to-file FILE', cause },
    )
  })
}
