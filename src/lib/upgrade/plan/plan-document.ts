import { roleRemedy } from '../../output/kvup-words.ts'
import { type HopFinding, isBlocked } from '../../releases/hop-findings.ts'
import { idWithout, type UpgradePath } from '../path-procedure.ts'
import { heading, type UpgradeReport } from '../upgrade-report.ts'
import { takeFullSnapshot } from '../../kubevirt/full-snapshot.ts'
import { manifestChanges } from '../../manifests/apply-manifest.ts'
import { type ManifestDiff, manifestDiff } from '../../manifests/manifest-diff.ts'
import { notInManifest } from '../../manifests/manifest.ts'
import { nothingToDo, type ReadContext, type Step } from '../../engine/step.ts'
import { type DryRunContext, dryRunProcedure, type DryRunStep } from '../../engine/procedure-dry-run.ts'
import {
  begunSteps,
  hasDrifted,
  type LaterOperator,
  ownWork,
  type Relied,
  reliedOn,
  mostLines,
  sealOf,
  sealedParts,
  withLaterResults,
  withOlmFacts,
  withResults,
} from '../sealed-facts.ts'
import { defaultTimeout, journalTimes, type TimeRange, timeRange } from '../upgrade-duration.ts'
import type { MadeFrom, Planned } from './planned-upgrade.ts'
import { planAgain, sealedRequest } from './upgrade-options.ts'
import { seconds } from '../../kube/clock.ts'
import { rolloutTimes } from '../../kubevirt/rollout-times.ts'
import { takeSnapshot } from '../../kubevirt/snapshot.ts'
import { driftLines, driftOf, readSealed, type SealedPlan } from '../../engine/sealed-plan.ts'
import type { CommandContext } from '../../kube/world.ts'
import { fileTrouble } from '../../kube/bounded-file.ts'
import { drifted, forbidden, KvupError, usageError } from '../../kube/errors.ts'
import { shellWord } from '../../kube/shell-line.ts'

/**
 * The plan as a document: each step with what it would do, the findings, the seal, and `next` where there is something to do that would
 * not be refused. Nothing is written that the cluster keeps.
 */
export async function planDocument(
  planned: Planned,
  { reading, snapshot }: MadeFrom,
  { mode, next }: { mode: DryRunContext['mode']; next: readonly string[] },
): Promise<PlanDocument> {
  const { cx, cluster, plan, procedure, findings, options } = planned
  const { signal, world } = cx
  const { reader } = reading
  const [steps, judgedBy, isThere, manifest] = await Promise.all([
    dryRunProcedure(procedure, { ...reading, cluster: { ...cluster, reader }, signal, mode }),
    snapshot ?? takeFullSnapshot({ reader }, reading.clock, { only: sealedParts }),
    nothingToDo(procedure, reading),
    manifestPart(planned),
  ])
  const relied = await withOlmFacts(reliedOn(judgedBy, plan.owner.ref), reader, plan.olm)
  const done = new Set(steps.filter(({ state }) => state === 'already-so').map(({ id }) => id))
  const range = await plannedTime(planned, reading, done)
  const accepted = planned.accepted.map((risk) => ({ ...risk, by: world.who }))
  const mayBegin = !isThere && !isBlocked(findings, planned.accepted)
  const document = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'UpgradePlan',
    dryRun: mode,
    ...heading(plan),
    ...(plan.path && { path: plan.path }),
    pausedMethods: plan.pausedMethods,
    said: isThere ? [] : plan.said,
    pending: !isThere,
    findings,
    accepted,
    steps: withTimes(steps, range),
    ...(range && { time: timeOf(range) }),
    ...(manifest && { manifest }),
    request: sealedRequest(options, plan.path ? chosenOnPath(planned) : chosenFor(planned)),
  } as const
  return {
    ...document,
    ...sealOf(cx, withAllResults(relied, steps, planned.legs), document),
    next: mayBegin ? next : [],
  }
}

const chosenFor = ({ plan, manifest: { loaded } }: Planned) => ({
  method: plan.method,
  ...(loaded && { manifestSha256: loaded.sha256 }),
})

/** The releases between are kept as they were chosen, and a checksum for each manifest, in the words of the flags. */
function chosenOnPath({ plan, legs, options }: Planned) {
  const [first] = legs
  const sums = legs.flatMap(({ plan: { to }, manifest: { loaded } }) =>
    loaded ? [`${to.text}=${loaded.sha256}`] : [],
  )
  const between = legs.slice(0, -1).map(({ plan: { to } }) => to.text)
  const isOne = legs.every((leg) => leg.plan.method === first?.plan.method)
  return {
    method: isOne ? (first?.plan.method ?? plan.method) : options.method,
    via: options.via ?? between.join(','),
    ...(sums.length > 0 && { manifestSha256: sums.join(',') }),
  }
}

const timeOf = ({ lowSeconds, highSeconds, basis, says }: TimeRange) => ({
  lowSeconds,
  highSeconds,
  basis,
  says,
})

/** Undefined where none is applied, or where it could not be fetched. */
async function manifestPart({ cluster, manifest: { loaded } }: Planned): Promise<ManifestDiff | undefined> {
  if (loaded === undefined) return undefined
  const { manifest, sha256 } = loaded
  const [changes, left] = await Promise.all([
    manifestChanges(cluster.reader, manifest.objects),
    notInManifest(cluster.reader, manifest).catch(() => []),
  ])
  return manifestDiff(changes, left, { origin: manifest.origin, sha256 })
}

/** How long the steps that are not `done` take on this cluster; undefined where none is left. */
export async function plannedTime(
  { plan, procedure }: Pick<Planned, 'plan' | 'procedure'>,
  reading: ReadContext,
  done: ReadonlySet<string>,
): Promise<TimeRange | undefined> {
  const { reader, clock, journal } = reading
  const { namespace } = plan.owner.ref
  const [steps, snapshot, entries] = await Promise.all([
    procedure.steps(reading),
    takeSnapshot(reader, ['daemonsets', 'pods'], clock, namespace),
    journal.entries(),
  ])
  const hops = plan.path?.hops ?? []
  const left = steps.filter(({ id }) => !done.has(id)).map((step) => timedIn(step, hops))
  if (left.length === 0) return undefined
  return timeRange(left, rolloutTimes(snapshot, plan.to), journalTimes(entries))
}

/** The steps with the time that each takes. */
function withTimes(steps: readonly DryRunStep[], range: TimeRange | undefined) {
  // The run that carries it out ends then, however long a step alone might wait.
  const atMost = defaultTimeout(range) / seconds
  return steps.map((step) => {
    const time = range?.steps.get(step.id)
    if (time === undefined) return step
    return { ...step, time: { ...time, atMostSeconds: Math.min(time.atMostSeconds, atMost) } }
  })
}

const timedIn = (step: Step, hops: readonly string[]) => ({ ...step, base: idWithout(step.id, hops) })

/** The facts of a plan, with what its steps make of them. */
const withAllResults = (relied: Relied, steps: readonly DryRunStep[], legs: Planned['legs']): Relied => ({
  ...relied,
  facts: relied.facts.map((fact) => withLaterResults(withResults(fact, steps), laterOperators(legs))),
})

/** The operator that each later step of an upgrade path applies. */
const laterOperators = (legs: Planned['legs']): readonly LaterOperator[] =>
  legs.slice(1).flatMap(({ plan: { to }, manifest: { loaded } }) => {
    const deployment = loaded?.manifest.objects.find(({ kind }) => kind === 'Deployment')
    return deployment === undefined ? [] : [{ hop: to.text, deployment }]
  })

/** Reads `--plan FILE`, or standard input. Throws `usage` for what is no whole plan of `kvup plan`. */
export async function readPlanFile({ world, printer }: CommandContext, file: string): Promise<SealedPlan> {
  const plan = await readWhole(world, file)
  for (const { id, why } of plan.seal.unsealed)
    printer.warn(`${plan.file} is sealed without ${id}: kvup does not notice a change of it: ${why}`)
  return plan
}

async function readWhole(world: CommandContext['world'], file: string): Promise<SealedPlan> {
  if (file === '-') return readSealed(await world.readStdin(), 'standard input', 'UpgradePlan')
  const text = await world.readText(file).catch((cause: unknown) => {
    throw usageError(
      'plan-missing',
      `cannot read the plan ${shellWord(file)}: ${fileTrouble(cause, 'read')}`,
      { remedy: `make it with --to-file ${shellWord(file)} of kvup plan`, cause },
    )
  })
  return readSealed(text, file, 'UpgradePlan')
}

/**
 * The cluster is the one that the plan was made for, and stands as it stood then or as the plan's own steps leave it. Throws `usage` for
 * another cluster (2), `drifted` with every difference (5).
 */
export async function ensureFits(sealed: SealedPlan, planned: Planned): Promise<void> {
  const { file, seal, steps } = sealed
  const { cluster, cx, plan, environment, procedure } = planned
  const snapshot = await takeFullSnapshot({ reader: cluster.reader }, cx.clock, { only: sealedParts })
  const now = await withOlmFacts(reliedOn(snapshot, plan.owner.ref), cluster.reader, plan.olm)
  ensureSameCluster(file, seal.cluster, now.cluster)
  const begun = begunSteps(await environment.journal.entries(), seal.uid)
  const isLater = plan.path !== undefined && plan.from !== sealed.document['from']
  const found = driftOf(seal.facts, now, ownWork(plan, begun))
  const drift = driftLines(found.filter(({ fact }) => !isLater || !ofFirstStep.has(fact)))
  tellOnce(sealed, driftLines(found.filter(({ fact }) => isLater && ofFirstStep.has(fact))), cx)
  const reading = { reader: cluster.reader, clock: cx.clock, journal: environment.journal }
  // A step that only waits may be found on the way: a component that the new version brings.
  const unplanned = (await procedure.steps(reading))
    .filter((step) => 'apply' in step && !steps.includes(step.id))
    .map(({ id }) => `step ${id} would run, but is not in the plan${madeBy(seal.kvup, cx.world.version)}`)
  const lines = [...drift, ...unplanned]
  if (lines.length > 0) throw hasDrifted(lines, sealed, planAgain(sealed))
}

/** Hours later, in a later step of an upgrade path, these are other ones, and the checks before that step judge them. */
const ofFirstStep: ReadonlySet<string> = new Set(['kubernetes', 'nodes'])

const told = new WeakSet<SealedPlan>()

/** It is asked several times whether a plan fits. */
function tellOnce(sealed: SealedPlan, lines: readonly string[], { printer }: CommandContext): void {
  if (told.has(sealed) || lines.length === 0) return
  told.add(sealed)
  for (const line of lines.slice(0, mostLines)) printer.warn(`since ${sealed.file} was made: ${line}`)
}

/** Steps are kvup's own: another version may go another way. */
function madeBy(planned: string, is: string): string {
  return planned === is ? '' : `, which kvup ${planned} made; this is ${is}`
}

/** Throws `usage` for another cluster, `forbidden` where that cannot be told. */
export function ensureSameCluster(file: string, planned: string, is: string | undefined): void {
  if (is === planned) return
  if (is === undefined)
    throw forbidden(
      'cluster-unknown',
      `kvup cannot see whether ${file} is of this cluster: it may not read namespace kube-system`,
      { remedy: roleRemedy('kvup-view') },
    )
  throw usageError(
    'another-cluster',
    `${file} was made for another cluster: the uid of its kube-system is ${planned}, here it is ${is}`,
    { remedy: 'name the right cluster: --context NAME', object: 'namespaces/kube-system' },
  )
}

/** The checksum in the plan is part of what must not have moved. */
export async function asDrift<T>(work: Promise<T>, sealed: SealedPlan): Promise<T> {
  const { file } = sealed
  try {
    return await work
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    if (error.reason === 'via' || error.reason === 'not-on-path')
      throw drifted(
        'drifted',
        `KubeVirt is no longer at a release of ${file} goes through: ${error.message}; nothing was changed`,
        { notes: [error.message], remedy: `${planAgain(sealed)}      makes a new plan`, cause: error },
      )
    if (error.reason !== 'manifest-checksum') throw error
    throw drifted(
      'drifted',
      `the operator manifest is not the one that ${file} was made with: ${error.message}`,
      {
        notes: [error.message],
        remedy: error.remedy,
        cause: error,
      },
    )
  }
}

/** `kvup.io/v1alpha1 UpgradePlan`: what a dry run and `kvup plan` print. */
export interface PlanDocument extends Pick<
  UpgradeReport,
  'kubevirt' | 'from' | 'to' | 'method' | 'operator'
> {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'UpgradePlan'
  /** `auto`: by the server where rights allow, else by kvup. */
  dryRun: 'client' | 'server' | 'auto'
  /** Where it goes over several minors. */
  path?: UpgradePath
  /** Workload update methods that are borrowed. */
  pausedMethods: readonly string[]
  said: readonly string[]
  findings: readonly HopFinding[]
  /** Risks that were taken by name, why and by whom (`user@host`). */
  accepted: readonly { id: string; reason?: string; by?: string }[]
  steps: readonly PlannedStep[]
  /** Of all steps together. */
  time?: PlannedTime
  /** What the operator manifest changes; only by that method. */
  manifest?: ManifestDiff
  /** Ties the plan to the cluster that it was made for, by the uid of its namespace kube-system. */
  seal?: { uid: string; at: string; by: string; cluster: string }
  /** False: the goal is reached, and no step would do anything. */
  pending: boolean
  /** What to type to carry it out; nothing where it is done already, or would be refused. */
  next?: readonly string[]
}

export interface PlannedStep extends DryRunStep {
  time?: Omit<PlannedTime, 'says'> & { atMostSeconds: number }
}

/** A range, and what it was worked out from. */
type PlannedTime = ReturnType<typeof timeOf>
