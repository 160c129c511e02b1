import type { Context } from '../../context.ts'
import type { Finding } from '../../lib/checks/finding.ts'
import type { AcceptedRisk } from '../../lib/checks/report.ts'
import type { Cluster } from '../../lib/cluster/cluster.ts'
import { oneLook } from '../../lib/cluster/one-look.ts'
import type { Evidence } from '../../lib/facts/evidence.ts'
import type { Loan } from '../../lib/procedure/journal.ts'
import { cutShort, ends, isUnderWay } from '../../lib/procedure/under-way.ts'
import { stoppedBefore } from '../../lib/procedure/step-sequence.ts'
import { RememberedJournal } from '../../lib/procedure/remembered-journal.ts'
import type { Procedure, ReadContext } from '../../lib/procedure/step.ts'
import type { Hands } from '../../lib/run/carry-out.ts'
import { missingValueFindings, settleMissingValues } from '../../lib/run/missing-values.ts'
import type { Releases } from '../../lib/releases/releases.ts'
import { windowOpenFinding } from '../../lib/eus/run/window-open-finding.ts'
import { ownTicks } from '../../lib/system/clock.ts'
import { seconds } from '../../lib/system/units.ts'
import { credentialsFinding } from '../../lib/upgrade/credentials-finding.ts'
import { makePlan, type Seen } from '../../lib/upgrade/make-plan.ts'
import type { UpgradePlan, UpgradeRequest } from '../../lib/upgrade/plan.ts'
import { isOlmPlan, olmProcedure } from '../../lib/upgrade/olm/procedure.ts'
import { RunCensus } from '../../lib/workloads/run-census.ts'
import { isUpgradeName, olmUpgradeName, upgradeName } from '../../lib/upgrade/names.ts'
import { upgradeProcedure } from '../../lib/upgrade/procedure.ts'
import { seeForUpgrade } from '../../lib/upgrade/see.ts'
import { acceptedRisks } from '../check/accepted-risks.ts'
import { readReleases } from '../releases/read-releases.ts'
import { handsOf } from './hands.ts'
import { checked, together } from './judge.ts'
import { withOlm } from './olm-goal.ts'
import { requestOf, type UpgradeOptions } from './options.ts'
import { foreseePath } from './foresee-path.ts'
import { openLoan } from '../../lib/workloads/update-methods.ts'
import { isBetweenSteps, isOutsideOfRolls } from '../../lib/upgrade/path/path-procedure.ts'
import { isPathUnderWay } from '../../lib/upgrade/path/upgrade-path.ts'
import { alongPath, type PlannedLeg } from './plan-path.ts'
import { optionsOfLeg, type PreparedManifest, prepareManifest } from './prepare-manifest.ts'

/** All that carrying out needs. */
export interface Planned {
  cx: Context
  options: UpgradeOptions
  cluster: Cluster
  seen: Seen
  plan: UpgradePlan
  procedure: Procedure
  manifest: PreparedManifest
  findings: readonly Finding[]
  accepted: readonly AcceptedRisk[]
  hands: Omit<Hands, 'announce'>
  /** Of VMs and volumes, taken when the procedure begins. */
  census: RunCensus
  /** What was borrowed when it was planned. */
  loans: readonly Loan[]
  /** Of an upgrade path each of its steps, the first of which has `manifest`; else empty. */
  legs: readonly PlannedLeg[]
  /** What is carried out right now: of an upgrade path the step that is at work. */
  now: () => UpgradePlan
}

/** What it was made from, for whoever shows it; a run looks for itself. */
export interface MadeFrom {
  reading: ReadContext
  /** What the checks were judged by; none where none was made. */
  evidence?: Evidence
}

/**
 * See → plan → findings, all from one look. `readNow`: a manifest behind a URL is read at once, for a plan shows what is in it. `asks`: it is to be carried out, so that a person may be asked
 * about a saved value that is missing. Throws `usage` for
 * flags that cannot be meant, before the cluster is read.
 */
export async function planUpgrade(
  cx: Context,
  options: UpgradeOptions,
  { readNow, asks }: { readNow: boolean; asks: boolean },
): Promise<{ planned: Planned; madeFrom: MadeFrom }> {
  const request = requestOf(options, cx.flags.yes)
  const releases = await readReleases(cx.world, options.releases)
  const accepted = acceptedRisks(options.accept, releases)
  const cluster = await cx.cluster()
  const { handsIn, loansIn } = handsOfRun(cx, cluster, { takeOver: options.takeOver, asks, accepted })
  const look = () => lookWhole({ cx, options, request, releases, cluster, handsIn, loansIn })
  const { reader, seen, foreseen } = readNow ? await look() : await lookOnceActedOn(look, cx)
  // Where there is a path, it is the plan of its first step that is judged by all that there is now.
  const near = foreseen?.legs[0].plan ?? makePlan(request, seen, releases)
  const hands = handsIn(near.owner.ref.namespace)
  const reading = { reader, clock: cx.clock, journal: new RememberedJournal(hands.journal) }
  const preparing = { cx, cluster, readNow, accepted }
  const manifest = await prepareManifest({
    ...preparing,
    options: optionsOfLeg(options, near, foreseen !== undefined),
    plan: near,
    seen,
  })
  const loans = await reading.journal.loans()
  const { findings: found, evidence } = await checked({
    cx: { ...cx, cluster: () => Promise.resolve({ ...cluster, reader }) },
    plan: near,
    seen,
    releases,
    // What the minor behind left borrowed is no beginning of the next one.
    loans: foreseen ? [] : loans,
    manifest: manifest.loaded,
  })
  const nearFindings = together(
    missingValueFindings(await hands.journal.missing()),
    windowOpenFinding(loans, request),
    near.findings,
    manifest.findings,
    found,
  )
  const alone = () => {
    const procedure = procedureOf(near, { cx, seen, manifest, releases })
    return { plan: near, procedure, findings: nearFindings, legs: [], now: () => near }
  }
  const along = { ...preparing, options, request, releases, manifest, findings: nearFindings, hands }
  const whole = foreseen ? await alongPath(foreseen, { ...along, evidence, reader }) : alone()
  const { ref, uid } = near.owner
  const census = new RunCensus({
    namespace: ref.namespace,
    kubevirt: uid,
    who: cx.world.who,
    warn: (line) => hands.warn(line),
    takesUp: isUpgradeName,
    saved: openLoan(loans, near.olm?.hyperconverged.uid ?? uid),
    isEnd: ({ what, step, text }) =>
      cutShort.has(what) &&
      (isBetweenSteps(step) || (text.startsWith(stoppedBefore) && isOutsideOfRolls(step))),
    isBetween: ({ what, step }) => cutShort.has(what) && isBetweenSteps(step),
  })
  const findings = together(whole.findings, await loginFindings(cluster.reviewer, whole.procedure, reading))
  return {
    planned: {
      cx,
      options,
      cluster,
      seen,
      manifest,
      accepted,
      hands,
      census,
      loans,
      ...whole,
      procedure: census.around(whole.procedure),
      findings,
    },
    madeFrom: { reading, ...(evidence && { evidence }) },
  }
}

interface Looking extends Pick<Planned, 'cx' | 'options' | 'cluster'>, ReturnType<typeof handsOfRun> {
  request: UpgradeRequest
  releases: Releases
}

/** All of one moment; whose edit the operator may be acting on goes by what kvup wrote down. */
async function lookWhole({ cx, options, request, releases, cluster, handsIn, loansIn }: Looking) {
  const reader = oneLook(cluster.reader)
  const first = await seeForUpgrade(reader, cx.clock, { loansIn, to: request.to })
  const seen = await withOlm(first, { cx, options, request, releases, reader })
  const { journal } = handsIn(seen.installation.namespace)
  const entries = await journal.entries()
  const loans = await journal.loans()
  const { uid: kubevirt = '' } = seen.installation.kubevirt.metadata
  const isResumed = isPathUnderWay(request.to, { entries, loans, kubevirt })
  // An update to the same release is joined wherever it stands: nothing is judged by what the operator makes of the edit.
  const isJoined = seen.standing.target.version === request.to.text
  const name = seen.olm ? olmUpgradeName(seen.olm.part.to) : upgradeName(request.to.text)
  const isOpen = isUnderWay(entries, name, ends) || loans.some((loan) => loan.procedure === name)
  const isOurs = isJoined || (!isResumed && isOpen)
  const asked = { cx, options, request, seen, releases, isResumed }
  return { reader, seen, isResumed, isOurs, foreseen: await foreseePath(asked) }
}

/** So long virt-operator was seen to act on an edit of the CR (34 s), with room. */
const actsFor = 90 * seconds

/**
 * Whether somebody edited the CR just now, as a check had told, or the step behind of an upgrade path gave VM updates back and was cut off: what virt-operator
 * makes of that is waited for before anything is judged. An edit of a run that was cut off is no such edit: that run is to be resumed at once.
 */
async function lookOnceActedOn<L extends { seen: Seen; isResumed: boolean; isOurs: boolean }>(
  look: () => Promise<L>,
  { clock, printer, signal }: Context,
): Promise<L> {
  const began = ownTicks(clock)
  for (let isTold = false; ; isTold = true) {
    const looked = await look()
    const late = ownTicks(clock) - began >= actsFor
    if (late || looked.isOurs || !isActing(looked.seen, looked.isResumed)) return looked
    if (!isTold) printer.note('virt-operator acts on a change of the KubeVirt resource: waiting for it')
    await clock.sleep(2 * seconds, signal)
  }
}

/** On its spec, and on no other version than the one that is installed. */
const isActing = (
  { standing: { verdict, target, observed, generation } }: Seen,
  isResumed: boolean,
): boolean =>
  verdict === 'Updating' &&
  target.version === observed.version &&
  target.id === observed.id &&
  (isResumed || generation.spec !== generation.observed)

/** One journal for all looks of a run: what a person confirmed to it stays confirmed. */
function handsOfRun(
  cx: Context,
  cluster: Cluster,
  {
    takeOver,
    asks,
    accepted,
  }: { takeOver?: string | undefined; asks: boolean; accepted: readonly AcceptedRisk[] },
) {
  const made = new Map<string, ReturnType<typeof handsOf>>()
  const handsIn = (namespace: string) => {
    const hands = made.get(namespace) ?? handsOf(cx, cluster, { namespace, takeOver })
    made.set(namespace, hands)
    return hands
  }
  const loansIn = async (namespace: string) => {
    const { journal } = handsIn(namespace)
    if (asks) await settleMissingValues(journal, { prompt: cx.prompt, accepted })
    return journal.loans()
  }
  return { handsIn, loansIn }
}

function procedureOf(
  plan: UpgradePlan,
  { cx, seen, manifest, releases }: Pick<Planned, 'cx' | 'seen' | 'manifest'> & { releases: Releases },
): Procedure {
  const { who } = cx.world
  if (isOlmPlan(plan)) return olmProcedure(plan, { who, releases })
  const operatorVersion = seen.installation.operator?.version
  return upgradeProcedure(plan, { who, operatorVersion, manifest })
}

async function loginFindings(
  reviewer: Cluster['reviewer'],
  procedure: Procedure,
  reading: ReadContext,
): Promise<readonly Finding[]> {
  const end = await reviewer.credentialsEnd?.()
  if (end === undefined) return []
  const steps = await procedure.steps(reading)
  const estimate = steps.reduce((sum, step) => sum + step.estimate, 0)
  return credentialsFinding(end, reading.clock.now(), estimate)
}
