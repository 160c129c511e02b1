import type { Access, Reader } from '../kube/cluster.ts'
import type { RunEvent, RunLimits, RunOutcome } from '../engine/step.ts'
import { type Change, takenRisks } from '../engine/change.ts'
import { type Compared, lostSince } from '../vms/census/run-census.ts'
import type { SealedPlan } from '../engine/sealed-plan.ts'
import { asFarAsRead, type ExitCode, exitCode, KvupError } from '../kube/errors.ts'
import { accessFor, roleFor } from './roles.ts'
import {
  type BrokenUpgrade,
  brokenReport,
  degradedAfter,
  journaledComparison,
  nothingToDoReport,
  type RehearsalComparison,
  type UpgradeReport,
  VmsOfRun,
} from './upgrade-report.ts'
import type { UpgradePlan } from './upgrade-plan.ts'
import { entriesByRun } from '../engine/journal-runs.ts'
import { isBetweenSteps, isOutsideOfRolls, withStages } from './step-traits.ts'
import { readRollout } from './upgrade-snapshot.ts'
import { sealedWrites } from './sealed-facts.ts'
import type { CensusCircumstances } from '../vms/census/vm-census.ts'
import { heldLines, openOverride, overrideId, resumingLine } from '../vms/update-methods.ts'
import { type Observed, observeRun, upgradeHint } from './run-report.ts'
import { planAgain } from './plan/upgrade-options.ts'
import { ensureFits } from './plan/plan-document.ts'
import type { Planned } from './plan/planned-upgrade.ts'

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
  const compared = await asFarAsRead(census.compare(cluster.reader, evictedBy(planned)))
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
  const clusterRead = await asFarAsRead(readRollout(reading, plan.owner))
  if (clusterRead === undefined) return false
  // The operator may still act on the pause, which rolls nothing.
  const { target, observed } = clusterRead.rolloutStatus
  return target.version === observed.version && target.id === observed.id
}

const notTold = ({ unread, counts = [] }: Compared): readonly string[] => [
  ...(unread.length > 0 ? [`not compared, because kvup could not read it: ${unread.join(', ')}`] : []),
  ...counts.map(({ namespace, before, now }) => `${namespace}: ${before} VMs ran before, ${now} run now`),
]

/** An upgrade that is about to be carried out: the change, and what is told and done at its end. */
export interface UpgradeRun {
  change: Change
  report: (outcome: RunOutcome) => Promise<UpgradeReport>
  /** Of a run that had begun and ended early: nothing is read for it. */
  broken: () => Promise<BrokenUpgrade>
  /** Once it was told: the census is closed. 4 where the deadline ended it. Throws `lost` (9), and what a degraded end throws. */
  end: (report: UpgradeReport, outcome: RunOutcome) => Promise<ExitCode>
}

/** `gate` throws `blocked` for what stands against it; `announce` shows the plan before the question. */
export function upgradeRun(planned: Planned, asked: Asked): UpgradeRun {
  const { cx, plan, cluster, environment, manifest, census } = planned
  const observed = observeRun(cluster.reader)
  const vms = new VmsOfRun(cluster.reader, environment.clock, (line) => cx.printer.note(line))
  let compared: Promise<RehearsalComparison> | undefined
  const { rehearsed } = asked
  const compare =
    rehearsed &&
    ((isFinished: boolean) =>
      (compared ??= rehearsed.compare(cluster.reader, {
        vmsAreDone: isFinished && plan.request.waitWorkloads,
      })))
  let judged: Awaited<ReturnType<VmsOfRun['after']>> | undefined
  return {
    change: changeOf(planned, asked, { observed, vms, compare }),
    async report(outcome) {
      const report =
        outcome.is === 'nothing-to-do'
          ? nothingToDoReport(plan, heldLines(await methodsOverride(planned)))
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
      judged = await vms.after(cx.signal)
      const accepted = outcome.is === 'nothing-to-do' ? [] : await takenRisks(planned.accepted, environment)
      const taken = accepted.length > 0 && { accepted }
      const where = cluster.address && { cluster: cluster.address }
      const entries =
        outcome.is === 'nothing-to-do' ? [] : await asFarAsRead(environment.journal.entries(), [])
      const last = entriesByRun(entries).at(-1)
      const rehearsal =
        outcome.is === 'nothing-to-do' ? undefined : await compare?.(outcome.is === 'finished')
      return {
        ...report,
        ...(rehearsal && { rehearsal }),
        ...where,
        ...(last && { run: last.run }),
        ...taken,
        ...judged,
        ...unreadOf(report, judged),
      }
    },
    async broken() {
      const accepted = await takenRisks(planned.accepted, environment)
      const rehearsal = asked.rehearsed?.soFar()
      return brokenReport(plan, {
        ...(cluster.address && { cluster: cluster.address }),
        steps: [...observed.steps],
        ...(accepted.length > 0 && { accepted }),
        ...(rehearsal && { rehearsal }),
      })
    },
    async end(report, outcome) {
      const isBetween = outcome.is === 'stopped-before' && (await isSettled(planned, outcome.step.id))
      await census.close(
        cluster,
        environment.lock,
        outcome.is === 'finished' ? 'over' : isBetween ? 'told' : 'open',
      )
      if (outcome.is === 'stopped-before' && outcome.because === 'deadline') return exitCode.timedOut
      const failure =
        lostSince(report, doneText(plan, outcome)) ?? (judged && degradedAfter(judged, plan.to.text))
      if (failure) throw failure
      return exitCode.done
    },
  }
}

const methodsOverride = async ({ plan: { olm, owner }, environment: { journal } }: Planned) =>
  openOverride(await journal.overrides(), olm?.hyperconverged.uid ?? owner.uid)

/** What was rehearsed of a run: it hears the run, and compares. */
interface RehearsedRun {
  hear: (event: RunEvent) => void
  compare: (reader: Reader, end: { vmsAreDone: boolean }) => Promise<RehearsalComparison>
  /** From what it has heard alone. */
  soFar: () => RehearsalComparison
}

interface Asked {
  sealed: SealedPlan | undefined
  /** Compares the run with its rehearsal. */
  rehearsed?: RehearsedRun | undefined
  limits: RunLimits
  gate: Change['gate']
  /** Shows what is about to be done; `backup` is the file into which goes what the manifest replaces. */
  announce: (told: { restore: string; backup: string | undefined; user: string | undefined }) => void
}

function unreadOf(...told: readonly Pick<UpgradeReport, 'unread'>[]): Pick<UpgradeReport, 'unread'> {
  const unread = told.flatMap((one) => one.unread ?? [])
  return unread.length > 0 ? { unread } : {}
}

function doneText({ to, olm }: UpgradePlan, { is }: RunOutcome): string {
  if (is === 'stopped-before') return 'stopped where you asked'
  return olm === undefined ? `KubeVirt ${to.text} is installed` : `HyperConverged ${olm.to} is installed`
}

/** Accepted by name, they are no loss: KubeVirt migrates whom it can, where it may do both. */
function evictedBy({ accepted, upgradeState: { methods } }: Planned): CensusCircumstances['evicted'] {
  if (!methods.includes('Evict') || !accepted.some(({ id }) => id === 'evictions')) return 'nobody'
  return methods.includes('LiveMigrate') ? 'not-migratable' : 'everybody'
}

/** The way back to what was left is from a version to the same one. */
function questionOf(plan: UpgradePlan): string {
  const { from = 'an unfinished installation', to, isRest, goesBack, olm, path } = plan
  if (olm) return olmQuestion(olm, isRest)
  if (goesBack)
    return isRest
      ? `Finish the downgrade of KubeVirt to ${to.text}?`
      : from === to.text
        ? `Go back to KubeVirt ${to.text}?`
        : `Downgrade KubeVirt from ${from} to ${to.text}?`
  if (isRest) return `Finish the upgrade of KubeVirt to ${to.text}?`
  if (path !== undefined && path.steps.length > 1)
    return `Upgrade KubeVirt from ${from} to ${to.text} in ${path.steps.length} steps?`
  return from === to.text ? `Install KubeVirt ${to.text}?` : `Upgrade KubeVirt from ${from} to ${to.text}?`
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
  return `Upgrade HyperConverged ${from} → ${to}${brings}? There is no way back.`
}

/** What a person calls the run: `KubeVirt v1.7.4 → v1.8.4`. */
function titleOf({ from, to, olm }: UpgradePlan): string {
  const [what, was, becomes] = olm ? ['HyperConverged', olm.from, olm.to] : ['KubeVirt', from, to.text]
  return `${what} ${was === undefined || was === becomes ? becomes : `${was} → ${becomes}`}`
}

interface Running {
  observed: Observed
  vms: VmsOfRun
  /** With the rehearsal, once. */
  compare: ((isFinished: boolean) => Promise<RehearsalComparison>) | undefined
}

/** So many ids of findings are kept. */
const journaledFindings = 40

function changeOf(
  planned: Planned,
  { sealed, rehearsed, limits, gate, announce }: Asked,
  { observed, vms, compare }: Running,
): Change {
  const { cx, plan, procedure, manifest, environment, census, cluster } = planned
  const restore = resumingLine(planned.overrides.find(({ id }) => id === overrideId))
  return {
    procedure,
    gate,
    accepted: planned.accepted,
    rights: rightsOf(planned),
    async announce() {
      const [backup, user] = await Promise.all([manifest.backupFile(), environment.user()])
      announce({ restore, backup, user })
    },
    foreseen: {
      findings: [...new Set(planned.findings.map(({ id }) => id))].slice(0, journaledFindings),
      ...(rehearsed &&
        compare && {
          rehearsal: {
            soFar: () => journaledComparison(rehearsed.soFar()),
            compared: async ({ isFinished }) => journaledComparison(await compare(isFinished)),
          },
        }),
    },
    question: questionOf(plan),
    title: titleOf(plan),
    limits,
    ...(sealed && {
      ensureFits: () => ensureFits(sealed, planned),
      plan: sealed.seal.uid,
      writes: sealedWrites(sealed, { reader: cluster.reader, again: planAgain(sealed) }),
    }),
    async prepare() {
      cx.printer.awaiting?.('reading VMs and volumes before the first change')
      await census.prepare(cluster.reviewer)
      await manifest.prepare()
      await Promise.all([observed.before(), vms.before()])
    },
    onEvent(event) {
      observed.event(event)
      rehearsed?.hear(event)
      return withStages(event)
    },
    failed: (error) => toldBetween(planned, observed, error),
    hint: upgradeHint({ cx, plan: () => planned.now(), journal: environment.journal }),
  }
}
