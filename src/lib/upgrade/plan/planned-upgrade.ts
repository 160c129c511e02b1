import type { Accepting, Finding, Question } from '../../checks/check-definition.ts'
import type { AcceptedRisk } from '../../releases/hop-findings.ts'
import type { Cluster, Reader } from '../../kube/cluster.ts'
import { onceCached } from '../../kube/read-cache.ts'
import { type FullSnapshot, type SnapshotPart, takeFullSnapshot } from '../../kubevirt/full-snapshot.ts'
import { type Journal, type Override, rememberedJournal } from '../../engine/journal.ts'
import { cutShort, ends, isUnderWay, stoppedBefore } from '../../engine/journal-runs.ts'
import type { Procedure, ReadContext } from '../../engine/step.ts'
import {
  type ChangingCommand,
  missingValueFindings,
  type RunEnvironment,
  runEnvironment,
} from '../../engine/change.ts'
import { readReleases, type Releases } from '../../releases/releases.ts'
import { ownTicks, seconds } from '../../kube/clock.ts'
import { credentialsFinding } from '../upgrade-findings.ts'
import {
  hasBegun,
  isUpgradeName,
  makePlan,
  olmUpgradeName,
  upgradeName,
  type UpgradePlan,
  type UpgradeRequest,
  type UpgradeState,
} from '../upgrade-plan.ts'
import type { LoadedManifest } from '../methods/operator-manifest.ts'
import { isOlmPlan, olmProcedure } from '../methods/olm-procedure.ts'
import { RunCensus } from '../../vms/census/run-census.ts'
import { upgradeProcedure } from '../upgrade-procedure.ts'
import { seeForUpgrade } from '../upgrade-snapshot.ts'
import { dedupeById, type Foreseen, type ForeseenLeg, foreseePath, judgePath } from './path-forecast.ts'
import { optionsOfLeg, type PreparedManifest, prepareManifest } from '../methods/prepared-manifest.ts'
import {
  fileOf,
  planAgain,
  requestOf,
  sealedRequest,
  type UpgradeOptions,
  withOlm,
} from './upgrade-options.ts'
import { keptMethods, openOverride, sameMethods } from '../../vms/update-methods.ts'
import { KubeVirts } from '../../kube/kinds/kubevirt-kinds.ts'
import { isPathUnderWay, type PathLeg, pathProcedure, type PathStep } from '../path-procedure.ts'
import { isBetweenSteps, isOutsideOfRolls } from '../step-traits.ts'
import { manifestSource, originOf } from '../../manifests/manifest-source.ts'
import { sealedParts } from '../sealed-facts.ts'
import { blocked, KvupError } from '../../kube/errors.ts'
import { shellWord, withoutFlags, withPurpose, wordsOf } from '../../kube/shell-line.ts'
import { carryingOut } from '../run-report.ts'
import { deploymentFailure } from '../../kubevirt/installed-components.ts'

/** What all checks say against a plan, and what they were judged by; none where none was made. */
export interface Checked {
  findings: readonly Finding[]
  snapshot?: FullSnapshot
}

/** A plan that the checks judge. */
export interface ToCheck {
  cx: ChangingCommand
  plan: UpgradePlan
  upgradeState: UpgradeState
  releases: Releases
  /** Open ones: an earlier run has begun. */
  overrides: readonly Override[]
  /** Where it was read already. */
  manifest: LoadedManifest | undefined
  /** A flag names where it is. */
  isManifestNamed: boolean
  accepted: readonly AcceptedRisk[]
  /** The line that was typed, with `--leave-paused`; absent where VM updates resume between steps whatever is asked for the end. */
  leavingPaused?: string
}

/** What a plan is judged by that lies above this room: the checks, their gate, the window of an EUS upgrade. */
export interface PlanJudge {
  /** Throws `usage` for a name that no finding has. */
  accepted: (words: readonly string[], releases: Releases) => readonly AcceptedRisk[]
  checked: (plan: ToCheck) => Promise<Checked>
  /** What can be told of a step whose beginning is not reached yet. */
  foretold: (question: Question) => readonly Finding[]
  /** What has to be read of the cluster for that. */
  foretoldParts: readonly SnapshotPart[]
  /** That VMs are not waited for between these steps. */
  notWaitedFor: (steps: readonly PathStep[]) => Finding
  /** Throws `blocked` for what nobody accepted. */
  gate: (findings: readonly Finding[], accepted: readonly AcceptedRisk[], accepting?: Accepting) => void
  /** `leavingPaused`: the line that was typed, with `--leave-paused`. */
  windowOpen: (
    overrides: readonly Override[],
    request: UpgradeRequest,
    leavingPaused: string,
  ) => readonly Finding[]
  /** Asks a person about saved values that are missing. Throws `blocked`. */
  askAboutMissing: (journal: Journal, accepted: readonly AcceptedRisk[]) => Promise<void>
}

/** All that carrying out needs. */
export interface Planned {
  cx: ChangingCommand
  options: UpgradeOptions
  cluster: Cluster
  upgradeState: UpgradeState
  plan: UpgradePlan
  procedure: Procedure
  manifest: PreparedManifest
  findings: readonly Finding[]
  accepted: readonly AcceptedRisk[]
  environment: RunEnvironment
  /** Of VMs and volumes, taken when the procedure begins. */
  census: RunCensus
  /** What was borrowed when it was planned. */
  overrides: readonly Override[]
  /** Of an upgrade path each of its steps, the first of which has `manifest`; else empty. */
  legs: readonly PlannedLeg[]
  /** What is carried out right now: of an upgrade path the step that is at work. */
  now: () => UpgradePlan
}

/** What it was made from, for whoever shows it; a run looks for itself. */
export interface MadeFrom {
  reading: ReadContext
  /** What the checks were judged by; none where none was made. */
  snapshot?: FullSnapshot
}

/**
 * See → plan → findings, all from one look. `readNow`: a manifest behind a URL is read at once, for a plan shows what is in it. `asks`: it is to be carried out, so that a person may be asked
 * about a saved value that is missing. Throws `usage` for
 * flags that cannot be meant, before the cluster is read.
 */
export async function planUpgrade(
  cx: ChangingCommand,
  options: UpgradeOptions,
  { readNow, asks, judge }: { readNow: boolean; asks: boolean; judge: PlanJudge },
): Promise<{ planned: Planned; madeFrom: MadeFrom }> {
  const request = requestOf(options, cx.flags.yes)
  const releases = await readReleases(cx.world, options.releases)
  const accepted = judge.accepted(options.accept, releases)
  const cluster = await cx.cluster()
  cx.printer.awaiting?.('reading the cluster')
  const { environmentIn, overridesIn } = environmentOfRun(cx, cluster, {
    takeOver: options.takeOver,
    asks,
    accepted,
    judge,
  })
  const read = () => readWhole({ cx, options, request, releases, cluster, environmentIn, overridesIn })
  const { reader, upgradeState, foreseen } = readNow ? await read() : await readOnceActedOn(read, cx)
  // Where there is a path, it is the plan of its first step that is judged by all that there is now.
  const near = foreseen?.legs[0].plan ?? makePlan(request, upgradeState, releases)
  const environment = environmentIn(near.owner.ref.namespace)
  const reading = { reader, clock: cx.clock, journal: rememberedJournal(environment.journal) }
  const preparing = { cx, cluster, releases, readNow, accepted, gate: judge.gate }
  const manifest = await prepareManifest({
    ...preparing,
    options: optionsOfLeg(options, near, foreseen !== undefined),
    plan: near,
    upgradeState,
  })
  const overrides = await reading.journal.overrides()
  const leavingPaused = leavingPausedLine(cx.world.commandLine, options, accepted)
  const { findings: found, snapshot } = await judge.checked({
    cx: { ...cx, cluster: () => Promise.resolve({ ...cluster, reader }) },
    plan: near,
    upgradeState,
    releases,
    // What the minor behind left borrowed is no beginning of the next one.
    overrides: foreseen ? [] : overrides,
    manifest: manifest.loaded,
    isManifestNamed: isNamed(options),
    accepted,
    ...(!isLong(foreseen) && { leavingPaused: withPurpose(leavingPaused, endsBefore) }),
  })
  const nearFindings = dedupeById(
    missingValueFindings(await environment.journal.missing()),
    judge.windowOpen(overrides, request, leavingPaused),
    withoutEvictions(near.findings, foreseen, leavingPaused),
    manifest.findings,
    found,
  )
  const alone = () => asOneStep(near, nearFindings, { cx, upgradeState, manifest, releases })
  const along = {
    ...preparing,
    judge,
    options,
    request,
    manifest,
    findings: nearFindings,
    environment,
  }
  const whole = foreseen ? await alongPath(foreseen, { ...along, snapshot, reader }) : alone()
  const census = censusOf(cx, near, { environment, overrides, upgradeState })
  const findings = dedupeById(whole.findings, await loginFindings(cluster.reviewer, whole.procedure, reading))
  return {
    planned: {
      cx,
      options,
      cluster,
      upgradeState,
      manifest,
      accepted,
      environment,
      census,
      overrides,
      ...whole,
      procedure: census.around(whole.procedure),
      findings,
    },
    madeFrom: { reading, ...(snapshot && { snapshot }) },
  }
}

const asOneStep = (
  plan: UpgradePlan,
  findings: readonly Finding[],
  made: Parameters<typeof procedureOf>[1],
) => ({
  plan,
  procedure: procedureOf(plan, made),
  findings,
  legs: [],
  now: () => plan,
})

function censusOf(
  { world }: ChangingCommand,
  { owner: { ref, uid }, olm }: UpgradePlan,
  { environment, overrides, upgradeState }: Pick<Planned, 'environment' | 'overrides' | 'upgradeState'>,
): RunCensus {
  const saved = openOverride(overrides, olm?.hyperconverged.uid ?? uid)
  // A run that was killed between giving the value back and giving the field back has given VM updates back.
  const { workloadUpdateMethods } = upgradeState.installation
  const isBack =
    saved?.object.kind === KubeVirts.kind && sameMethods(workloadUpdateMethods, keptMethods(saved))
  return new RunCensus({
    namespace: ref.namespace,
    kubevirt: uid,
    who: world.who,
    warn: (line) => environment.warn(line),
    takesUp: isUpgradeName,
    saved: isBack ? undefined : saved,
    isEnd: ({ what, step, text }) =>
      cutShort.has(what) &&
      (isBetweenSteps(step) || (text.startsWith(stoppedBefore) && isOutsideOfRolls(step))),
    isBetween: ({ what, step }) => cutShort.has(what) && isBetweenSteps(step),
  })
}

interface SnapshotOptions
  extends Pick<Planned, 'cx' | 'options' | 'cluster'>, ReturnType<typeof environmentOfRun> {
  request: UpgradeRequest
  releases: Releases
}

/** All of one moment; whose edit the operator may be acting on goes by what kvup wrote down. */
async function readWhole({
  cx,
  options,
  request,
  releases,
  cluster,
  environmentIn,
  overridesIn,
}: SnapshotOptions) {
  const reader = onceCached(cluster.reader)
  const first = await seeForUpgrade(reader, cx.clock, { overridesIn, to: request.to })
  const upgradeState = await withOlm(first, { cx, options, request, releases, reader })
  const { journal } = environmentIn(upgradeState.installation.namespace)
  const entries = await journal.entries()
  const overrides = await journal.overrides()
  const { uid: kubevirt = '' } = upgradeState.installation.kubevirt.metadata
  const isResumed = isPathUnderWay(request.to, { entries, overrides, kubevirt })
  // An update to the same release is joined wherever it stands: nothing is judged by what the operator makes of the edit.
  const isJoined = upgradeState.rolloutStatus.target.version === request.to.text
  const name = upgradeState.olm ? olmUpgradeName(upgradeState.olm.part.to) : upgradeName(request.to.text)
  const isOpen = isUnderWay(entries, name, ends) || overrides.some((override) => override.procedure === name)
  const isOurs = isJoined || (!isResumed && isOpen)
  const asked = { cx, options, request, upgradeState, releases, isResumed }
  return { reader, upgradeState, isResumed, isOurs, foreseen: await foreseePath(asked) }
}

/** So long virt-operator was seen to act on an edit of the CR (34 s), with room. */
const actsFor = 90 * seconds

/**
 * Whether somebody edited the CR just now, as a check had told, virt-operator failed right after it was done and tries again, or the step behind of an upgrade path gave VM updates
 * back and was cut off: what virt-operator makes of that is waited for before anything is judged. An edit of a run that was cut off is no such edit: that run is to be resumed at once.
 */
async function readOnceActedOn<L extends { upgradeState: UpgradeState; isResumed: boolean; isOurs: boolean }>(
  read: () => Promise<L>,
  { clock, printer, signal }: ChangingCommand,
): Promise<L> {
  const began = ownTicks(clock)
  for (let isTold = false; ; isTold = true) {
    const snapshot = await read()
    const late = ownTicks(clock) - began >= actsFor
    if (late || snapshot.isOurs || !isActing(snapshot.upgradeState, snapshot.isResumed)) return snapshot
    if (!isTold)
      printer.note('virt-operator is processing a change of the KubeVirt resource: kvup waits for it')
    await clock.sleep(2 * seconds, signal)
  }
}

/** On its spec or on a failure of its own that does not last yet, and on no other version than the one that is installed. */
const isActing = (
  { rolloutStatus: { verdict, target, observed, generation }, installation }: UpgradeState,
  isResumed: boolean,
): boolean =>
  verdict === 'Updating' &&
  target.version === observed.version &&
  target.id === observed.id &&
  (isResumed ||
    generation.spec !== generation.observed ||
    deploymentFailure(installation.kubevirt) !== undefined)

/** One journal for all looks of a run: what a person confirmed to it stays confirmed. */
function environmentOfRun(
  cx: ChangingCommand,
  cluster: Cluster,
  {
    takeOver,
    asks,
    accepted,
    judge,
  }: { takeOver?: string | undefined; asks: boolean; accepted: readonly AcceptedRisk[]; judge: PlanJudge },
) {
  const made = new Map<string, RunEnvironment>()
  const environmentIn = (namespace: string) => {
    const environment = made.get(namespace) ?? runEnvironment(cx, cluster, { namespace, takeOver })
    made.set(namespace, environment)
    return environment
  }
  const overridesIn = async (namespace: string) => {
    const { journal } = environmentIn(namespace)
    if (asks) await judge.askAboutMissing(journal, accepted)
    return journal.overrides()
  }
  return { environmentIn, overridesIn }
}

function procedureOf(
  plan: UpgradePlan,
  {
    cx,
    upgradeState,
    manifest,
    releases,
  }: Pick<Planned, 'cx' | 'upgradeState' | 'manifest'> & { releases: Releases },
): Procedure {
  const { who } = cx.world
  if (isOlmPlan(plan)) return olmProcedure(plan, { who, releases })
  const operatorVersion = upgradeState.installation.operator?.version
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

/** A step of an upgrade path with the manifest of its release. */
interface PlannedLeg extends ForeseenLeg {
  manifest: PreparedManifest
}

interface Along {
  cx: ChangingCommand
  cluster: Cluster
  options: UpgradeOptions
  request: UpgradeRequest
  releases: Releases
  accepted: readonly AcceptedRisk[]
  readNow: boolean
  judge: PlanJudge
  gate: PlanJudge['gate']
  /** Of the first step. */
  manifest: PreparedManifest
  /** Of the first step. */
  findings: readonly Finding[]
  /** What its checks were judged by; none where it has begun. */
  snapshot: FullSnapshot | undefined
  /** Of one look. */
  reader: Reader
  environment: Pick<RunEnvironment, 'journal' | 'emit'>
}

interface PlannedPath {
  plan: UpgradePlan
  legs: readonly PlannedLeg[]
  procedure: Procedure
  findings: readonly Finding[]
  now: () => UpgradePlan
}

/** The whole path as one plan with one procedure: what is known now of each of its steps, and how each is looked at again when its turn comes. */
async function alongPath(foreseen: Foreseen, along: Along): Promise<PlannedPath> {
  const { cx, request, releases, accepted, findings: first } = along
  const {
    snapshot = await takeFullSnapshot({ reader: along.reader }, cx.clock, {
      only: [...sealedParts, ...along.judge.foretoldParts],
    }),
  } = along
  const [near] = foreseen.legs
  const { legs, missing = foreseen.missing } = await withManifests(foreseen, along)
  const begun = hasBegun(near.plan, near.upgradeState, [])
  const { path, findings, said, end } = judgePath({
    snapshot,
    releases,
    at: cx.clock.now(),
    accepted,
    nearer: (to, through) => nearerLine(along, to, through),
    hasBegun: begun,
    foreseen: { legs, ...(missing && { missing }) },
    manifests: legs.map(({ plan, manifest: { loaded, findings: found } }) => ({
      ...(plan.method === 'operator-manifest' && {
        origin: originOf(manifestSource(along.options, plan.to.text)),
      }),
      ...(loaded && { sha256: loaded.sha256, objects: loaded.manifest.objects }),
      findings: found,
    })),
    first,
    foretold: along.judge.foretold,
    notWaitedFor: along.judge.notWaitedFor,
    between: request.between ?? 'wait',
    via: (request.via ?? []).map(({ text }) => text),
  })
  const plan = { ...near.plan, to: request.to, request, path, said: [...said, ...near.plan.said] }
  const kept = legs.slice(0, path.steps.length)
  let atWork = near.plan
  const procedure = pathProcedure(plan, {
    who: cx.world.who,
    legs: kept.map(legOf),
    enter: (leg) => enterLeg(leg, kept, along),
    entered: (leg) => (atWork = leg.plan),
    hasBegun: begun,
    ...(end && { end }),
  })
  return { plan, legs: kept, procedure, findings, now: () => atWork }
}

/** The line that was typed, with `--leave-paused` and without what excludes it; of a sealed plan, which keeps its flags, the line that makes it anew. */
function leavingPausedLine(
  typed: string,
  options: UpgradeOptions,
  accepted: readonly AcceptedRisk[],
): string {
  if (options.plan !== undefined) {
    const request = sealedRequest({ ...options, ...leftPaused }, { method: options.method })
    return planAgain({ request, accepted, file: fileOf(options) })
  }
  const words = withoutFlags(wordsOf(typed), {
    alone: ['--no-pause-updates', '--wait-workloads'],
    valued: [],
  })
  return [...words, '--leave-paused'].join(' ')
}

const leftPaused = { pauseUpdates: true, leavePaused: true, waitWorkloads: false }

const isNamed = ({ manifest, manifestBase }: UpgradeOptions): boolean =>
  (manifest ?? manifestBase) !== undefined

const endsBefore = 'ends before automatic VM updates resume'

const isLong = (path: Foreseen | undefined): boolean => path !== undefined && path.legs.length > 1

/** No VM is evicted by an upgrade that ends before automatic VM updates resume. Between two steps of a path they resume whatever is asked for the end. */
function withoutEvictions(
  findings: readonly Finding[],
  path: Foreseen | undefined,
  leavingPaused: string,
): readonly Finding[] {
  if (isLong(path)) return findings
  const remedy = [withPurpose(leavingPaused, endsBefore)]
  return findings.map((finding) => (finding.id === 'evictions' ? { ...finding, remedy } : finding))
}

/** The same line to the release that can be reached; with a sealed plan the flags that it was made with. */
function nearerLine({ cx, options }: Along, to: string, via: readonly string[]): string {
  const { plan, manifestBase } = options
  const base = manifestBase === undefined ? [] : ['--manifest-base', shellWord(manifestBase)]
  const words = plan === undefined ? wordsOf(carryingOut(cx.world.commandLine)) : ['kvup', 'upgrade', ...base]
  return [
    ...withoutFlags(words, { valued: ['--to', '--via'] }),
    `--to ${to}`,
    ...(options.via !== undefined && via.length > 0 ? [`--via ${via.join(',')}`] : []),
    '    goes that far',
  ].join(' ')
}

const legOf = ({ plan, manifest, upgradeState }: PlannedLeg): PathLeg => ({
  plan,
  manifest,
  operatorVersion: upgradeState.installation.operator?.version,
})

/** Up to the first step whose manifest is not there. */
async function withManifests(
  foreseen: Foreseen,
  along: Along,
): Promise<{ legs: readonly [PlannedLeg, ...PlannedLeg[]]; missing?: Foreseen['missing'] }> {
  const [near, ...later] = foreseen.legs
  const legs: [PlannedLeg, ...PlannedLeg[]] = [{ ...near, manifest: along.manifest }]
  for (const leg of later) {
    const options = optionsOfLeg(along.options, leg.plan, true)
    try {
      legs.push({ ...leg, manifest: await prepareManifest({ ...along, ...leg, options, isLater: true }) })
    } catch (error) {
      if (!(error instanceof KvupError) || error.reason !== 'manifest-missing') throw error
      return { legs, missing: { before: leg.plan.to.text, finding: notThere(error) } }
    }
  }
  return { legs }
}

const notThere = ({ message, remedy }: KvupError): Finding => ({
  id: 'manifest-missing',
  level: 'blocker',
  summary: message,
  remedy,
})

/** Nobody typed the checksum: it is that of the file which was judged when the run began. */
function asAnotherFile(error: unknown): unknown {
  if (!(error instanceof KvupError) || error.reason !== 'manifest-checksum') return error
  return blocked('manifest-changed', `a manifest has changed since this run began: ${error.message}`, {
    remedy: ['run the same command again     checks what is there now, and continues'],
  })
}

/** Before the first write of a later step: as an upgrade to it alone is planned and judged, from how the cluster is now. */
async function enterLeg(leg: PathLeg, legs: readonly PlannedLeg[], along: Along): Promise<PathLeg> {
  const { cluster, releases, accepted, environment, judge } = along
  const told = (line: string) =>
    environment.emit({ kind: 'remark', at: along.cx.clock.now().toISOString(), text: line })
  const cx: ChangingCommand = {
    ...along.cx,
    printer: { ...along.cx.printer, note: told, warn: told },
    cluster: () => Promise.resolve(cluster),
  }
  const reader = onceCached(cluster.reader)
  const { to, request } = leg.plan
  const overridesIn = () => environment.journal.overrides()
  const upgradeState = await seeForUpgrade(reader, cx.clock, { overridesIn, to })
  const plan = makePlan(request, upgradeState, releases)
  const read = legs.find((one) => one.plan.to.text === to.text)?.manifest.loaded
  const typed = optionsOfLeg(along.options, plan, true)
  const options = read ? { ...typed, manifestSha256: read.sha256 } : typed
  const manifest = await prepareManifest({ ...along, cx, options, plan, upgradeState, readNow: true }).catch(
    (error: unknown) => {
      throw typed.manifestSha256 === undefined ? asAnotherFile(error) : error
    },
  )
  const overrides = await overridesIn()
  const { findings } = await judge.checked({
    cx,
    plan,
    upgradeState,
    releases,
    overrides,
    manifest: manifest.loaded,
    isManifestNamed: isNamed(options),
    accepted,
  })
  judge.gate(dedupeById(plan.findings, manifest.findings, findings), accepted)
  await manifest.prepare()
  return { plan, manifest, operatorVersion: upgradeState.installation.operator?.version }
}
