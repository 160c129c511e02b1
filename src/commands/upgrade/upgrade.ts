import type { Context } from '../../context.ts'
import type { Access } from '../../lib/kube/cluster.ts'
import { announcement, planView } from '../../lib/output/views/upgrade/upgrade-plan.ts'
import { reportView } from '../../lib/output/views/upgrade/upgrade-report.ts'
import { ensureStepsMeant, type RunLimits, type RunOutcome } from '../../lib/engine/step.ts'
import { gateOf } from '../run-change.ts'
import { carryOut, type Change } from '../../lib/engine/change.ts'
import { lostSince } from '../../lib/vms/census/lost-vms.ts'
import { type Accepting, passGate } from '../../lib/checks/check-definition.ts'
import type { SealedPlan } from '../../lib/engine/sealed-plan.ts'
import { type ExitCode, exitCode, KvupError, usageError } from '../../lib/kube/errors.ts'
import { accessFor, roleFor } from '../../lib/upgrade/roles.ts'
import {
  degradedAfter,
  nothingToDoReport,
  type UpgradeReport,
  VmsOfRun,
} from '../../lib/upgrade/upgrade-report.ts'
import type { UpgradePlan } from '../../lib/upgrade/upgrade-plan.ts'
import { isBetweenSteps, isOutsideOfRolls } from '../../lib/upgrade/path-procedure.ts'
import { readRollout } from '../../lib/upgrade/upgrade-snapshot.ts'
import { sealedWrites } from '../../lib/upgrade/sealed-facts.ts'
import type { CensusCircumstances } from '../../lib/vms/census/vm-census.ts'
import type { Compared } from '../../lib/vms/census/run-census.ts'
import { restoreUpdatesLine, heldLines, overrideId, openOverride } from '../../lib/vms/update-methods.ts'
import { asFarAsRead, carryingOut, type Observed, observeRun, upgradeHint } from './run-report.ts'
import { asPlanned, planAgain, dryRunOf, requestOf, type UpgradeOptions } from './upgrade-options.ts'
import { asDrift, ensureFits, planDocument, readPlanFile } from './plan-document.ts'
import { type Planned, planUpgrade } from './planned-upgrade.ts'
import { whereToGo } from './upgrade-target.ts'
import { limitsBefore } from '../change-options.ts'

/** `kvup upgrade`: see → plan → findings → question → run → report. With `--plan` exactly that plan, or nothing. */
export async function upgrade(cx: Context, typed: UpgradeOptions): Promise<ExitCode> {
  const { plan: file } = typed
  if (typed.to === undefined && file === undefined) throw await whereToGo(cx, typed)
  if (file === undefined) return planAndRun(cx, typed)
  if (file === '-' && !cx.flags.yes && dryRunOf(typed) === undefined)
    throw usageError('contradiction', 'standard input cannot carry both the plan and your answer', {
      remedy: 'add --yes, or pass the plan as a file',
    })
  const sealed = await readPlanFile(cx, file)
  return asDrift(planAndRun(cx, asPlanned(typed, sealed.request, sealed.accepted), sealed), sealed)
}

async function planAndRun(cx: Context, options: UpgradeOptions, sealed?: SealedPlan): Promise<ExitCode> {
  const mode = dryRunOf(options)
  // What contradicts itself is refused before the cluster is asked for its time.
  requestOf(options, cx.flags.yes)
  const limits = await limitsBefore(cx, options)
  const { planned, madeFrom } = await planUpgrade(cx, options, {
    readNow: mode !== undefined,
    asks: mode === undefined,
  })
  if (mode === undefined) return carryOutUpgrade(planned, sealed, limits)
  const { cluster, environment, procedure } = planned
  await ensureStepsMeant(limits, procedure, {
    reader: cluster.reader,
    clock: cx.clock,
    journal: environment.journal,
  })
  if (sealed) await ensureFits(sealed, planned)
  const next = [`${carryingOut(cx.world.commandLine)}     carries it out`]
  const document = await planDocument(planned, madeFrom, { mode, next })
  cx.printer.result(document, planView)
  if (document.pending) passGate(planned.findings, planned.accepted, sealed && acceptingIn(sealed))
  return exitCode.done
}

async function carryOutUpgrade(
  planned: Planned,
  sealed: SealedPlan | undefined,
  limits: RunLimits,
): Promise<ExitCode> {
  try {
    return await carriedOut(planned, sealed, limits)
  } finally {
    planned.census.leave()
  }
}

/** Between two steps nothing is half done, and people do what they are told there: what was lost is told now. */
const endsOfPath: ReadonlySet<number> = new Set([
  exitCode.blocked,
  exitCode.timedOut,
  exitCode.interrupted,
  exitCode.terminated,
])

/** The same error, with what was lost until then where it ended between two steps. */
async function toldBetween(planned: Planned, { atWork }: Observed, error: unknown): Promise<unknown> {
  const isEnd = error instanceof KvupError && endsOfPath.has(error.exitCode)
  return isEnd && isBetweenSteps(atWork) ? endedBetween(planned, error) : error
}

/** Somebody restarts VMs now, as they are told to: the next run compares with what runs then, and what was lost up to now is told here. */
async function endedBetween(planned: Planned, ended: KvupError): Promise<KvupError> {
  const { cluster, census, environment } = planned
  const compared = await asFarAsRead(census.compare(cluster.reader, evictedBy(planned)), undefined)
  // What could not be told now is told by the next run.
  if (compared === undefined) return ended
  const failure = lostSince(
    { changes: compared.changes, comparedWith: compared.since },
    'the upgrade ended between two steps',
  )
  // What was lost, or could not be read, the next run tells again: who is killed now has not told it.
  await census.close(cluster, environment.lock, 'between')
  const notes = notTold(compared)
  if (failure === undefined && notes.length === 0) return ended
  // Exit 9 is of an upgrade that is done: here what keeps it from going on comes first, and the loss stands below it.
  const { exitCode: code, reason, message, object } = ended
  return new KvupError(code, reason, message, {
    ...(object !== undefined && { object }),
    notes: [...ended.notes, ...(failure ? [failure.message, ...failure.notes] : []), ...notes],
    remedy: [...ended.remedy, ...(failure?.remedy ?? [])],
    cause: ended.cause,
  })
}

/** Stopped before this step: does nothing roll? A run that goes on in the middle of a roll stands before steps that were done long ago. */
async function isSettled({ cx, plan, cluster, environment }: Planned, step: string): Promise<boolean> {
  if (isBetweenSteps(step)) return true
  if (!isOutsideOfRolls(step)) return false
  const reading = { reader: cluster.reader, clock: cx.clock, journal: environment.journal }
  const clusterRead = await asFarAsRead(readRollout(reading, plan.owner), undefined)
  if (clusterRead === undefined) return false
  // The operator may still act on the pause, which rolls nothing.
  const { target, observed } = clusterRead.rolloutStatus
  return target.version === observed.version && target.id === observed.id
}

function notTold({ unread, counts = [] }: Compared): readonly string[] {
  return [
    ...(unread.length > 0 ? [`not compared, for it could not be read: ${unread.join(', ')}`] : []),
    ...counts.map(({ namespace, before, now }) => `${namespace}: ${before} VMs ran before, ${now} run now`),
  ]
}

async function carriedOut(
  planned: Planned,
  sealed: SealedPlan | undefined,
  limits: RunLimits,
): Promise<ExitCode> {
  const { cx, plan, cluster, environment, manifest, census } = planned
  const observed = observeRun(cluster.reader)
  const vms = new VmsOfRun(cluster.reader, environment.clock, (line) => cx.printer.note(line))
  const outcome = await carryOut({
    environment,
    change: changeOf(planned, sealed, { observed, vms, limits }),
  })
  const report =
    outcome.is === 'nothing-to-do'
      ? nothingToDoReport(
          plan,
          heldLines(
            openOverride(await environment.journal.loans(), plan.olm?.hyperconverged.uid ?? plan.owner.uid),
          ),
        )
      : await observed.report({
          clock: environment.clock,
          plan,
          outcome,
          cluster,
          journal: environment.journal,
          backup: manifest.backup,
          commandLine: cx.world.commandLine,
          census,
          evicted: evictedBy(planned),
        })
  const judged = await vms.after(cx.signal)
  cx.printer.result({ ...report, ...judged, ...unreadOf(report, judged) }, reportView)
  const isBetween = outcome.is === 'stopped-before' && (await isSettled(planned, outcome.step.id))
  await census.close(
    cluster,
    environment.lock,
    outcome.is === 'finished' ? 'over' : isBetween ? 'told' : 'open',
  )
  const late = outcome.is === 'stopped-before' && outcome.because === 'deadline'
  if (late) return exitCode.timedOut
  const failure = lostSince(report, doneText(plan, outcome))
  const degraded = failure ?? degradedAfter(judged, plan.to.text)
  if (degraded) throw degraded
  return exitCode.done
}

function unreadOf(...told: readonly Pick<UpgradeReport, 'unread'>[]): Pick<UpgradeReport, 'unread'> {
  const unread = told.flatMap((one) => one.unread ?? [])
  return unread.length > 0 ? { unread } : {}
}

function doneText({ to, olm }: UpgradePlan, { is }: RunOutcome): string {
  if (is === 'stopped-before') return 'stopped where it was told to'
  return olm === undefined ? `KubeVirt ${to.text} is installed` : `HyperConverged ${olm.to} is installed`
}

/** Accepted by name, they are no loss: KubeVirt migrates whom it can, where it may do both. */
function evictedBy({ accepted, upgradeState: { methods } }: Planned): CensusCircumstances['evicted'] {
  if (!methods.includes('Evict') || !accepted.some(({ id }) => id === 'evictions')) return 'nobody'
  return methods.includes('LiveMigrate') ? 'not-migratable' : 'everybody'
}

const acceptingIn =
  (sealed: SealedPlan): Accepting =>
  (ids) =>
    `${planAgain(sealed, ids)}     makes a plan that takes the risk`

/** The way back to what was left is from a version to the same one. */
function questionOf({ from = 'an unfinished installation', to, isRest, olm, path }: UpgradePlan): string {
  if (olm) return olmQuestion(olm, isRest)
  if (isRest) return `Finish the upgrade of KubeVirt to ${to.text}?`
  if (path !== undefined && path.steps.length > 1)
    return `Upgrade KubeVirt from ${from} to ${to.text} in ${path.steps.length} steps?`
  return from === to.text ? `Take KubeVirt to ${to.text}?` : `Upgrade KubeVirt from ${from} to ${to.text}?`
}

/** All that the steps need together; the role is that of the one that needs most. */
function rightsOf({ plan, legs }: Planned): { required: Access[]; optional: Access[]; role: string } {
  const plans = legs.length === 0 ? [plan] : legs.map((leg) => leg.plan)
  const access = plans.map((one) => accessFor(one, plan.path))
  const byManifest = plans.find(({ method }) => method === 'operator-manifest')
  return {
    required: distinct(access.flatMap(({ required }) => required)),
    optional: distinct(access.flatMap(({ optional }) => optional)),
    role: roleFor((byManifest ?? plan).method),
  }
}

const distinct = (all: readonly Access[]): Access[] => [
  ...new Map(all.map((one) => [JSON.stringify(one), one])).values(),
]

function olmQuestion({ from, to, kubevirt }: NonNullable<UpgradePlan['olm']>, isRest: boolean): string {
  const brings = kubevirt === undefined ? '' : ` (KubeVirt ${kubevirt})`
  if (isRest) return `Finish the upgrade of HyperConverged to ${to}${brings}?`
  return `Upgrade HyperConverged from ${from} to ${to}${brings}? There is no way back.`
}

interface Running {
  observed: Observed
  vms: VmsOfRun
  limits: RunLimits
}

function changeOf(
  planned: Planned,
  sealed: SealedPlan | undefined,
  { observed, vms, limits }: Running,
): Change {
  const { cx, plan, procedure, findings, accepted, manifest, environment, legs, census, cluster } = planned
  const giveBack = restoreUpdatesLine(planned.loans.find(({ id }) => id === overrideId))
  return {
    procedure,
    gate: gateOf(findings, accepted, sealed && acceptingIn(sealed)),
    rights: rightsOf(planned),
    announce: () => announcement(plan, { findings, giveBack }).forEach((line) => cx.printer.note(line)),
    question: questionOf(plan),
    limits,
    ...(sealed && {
      ensureFits: () => ensureFits(sealed, planned),
      plan: sealed.seal.uid,
      writes: sealedWrites(sealed, { reader: cluster.reader, again: planAgain(sealed) }),
    }),
    async prepare() {
      await census.prepare(cluster.reviewer)
      await manifest.prepare()
      for (const leg of legs.slice(1)) if (leg.plan.method === 'operator-manifest') await leg.manifest.load()
      await Promise.all([observed.before(), vms.before()])
    },
    onEvent(event) {
      observed.event(event)
      return event
    },
    failed: (error) => toldBetween(planned, observed, error),
    hint: upgradeHint({ cx, plan: () => planned.now(), journal: environment.journal }),
  }
}
