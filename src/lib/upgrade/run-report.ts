import { placeOfVm } from '../vms/vm.ts'
import { type Cluster, type ClusterAddress, clusterName, type Reader } from '../kube/cluster.ts'
import { kubeVirtDefinitions } from '../kubevirt/stored-versions.ts'
import { type Fired, firedOnPlatform, newAlerts } from '../openshift/firing-alerts.ts'
import type { JournalReader, RunEvent, RunOutcome } from '../engine/step.ts'
import type { Clock } from '../kube/clock.ts'
import { asFarAsRead, exitCode, KvupError, type LeftCluster } from '../kube/errors.ts'
import { type ClusterState, clusterState, isSameUpgrade, temporaryChanges } from '../status/cluster-state.ts'
import {
  doubtsLeft,
  leftoverWebhooks,
  reportOf,
  type StepReport,
  stepReport,
  stopOf,
  tryVmCreation,
  type UpgradeReport,
  type WorkloadReport,
  workloadsAfter,
} from './upgrade-report.ts'
import { olmUpgradeName, upgradeName, type UpgradePlan } from './upgrade-plan.ts'
import type { CensusCircumstances, Differences } from '../vms/census/vm-census.ts'
import type { Compared, RunCensus } from '../vms/census/run-census.ts'
import { heldLines, keptMethods, openOverride, overrideId, type Owner } from '../vms/update-methods.ts'
import {
  downgradeLine,
  downgradeTakes,
  type LeftUpdate,
  noDowngradeNote,
  whyNoDowngrade,
} from './rollback.ts'
import { isOfWindow } from '../engine/overrides.ts'
import type { Entry, KnowsOverrides, Override } from '../engine/journal.ts'
import { commandOf, onlyFlag, shellWord, withoutFlags, wordsOf } from '../kube/shell-line.ts'
import { getCanary } from '../vms/outdated-vms.ts'
import type { CommandContext } from '../kube/world.ts'
import { ClusterServiceVersions } from '../kube/kinds/operator-kinds.ts'
import { kubeVirtIn } from '../openshift/olm-status.ts'
import { versionOf } from '../releases/release-versions.ts'
import { readOwner } from '../vms/strategy/settings-owner.ts'
import { theInstallation } from '../kubevirt/installation.ts'
import { causeParts, type Snapshot, statusParts, takeSnapshot, withParts } from '../kubevirt/snapshot.ts'
import {
  assessRollout,
  explainedStatus,
  type RolloutStatus,
  type Verdict,
} from '../kubevirt/rollout-status.ts'
import { withHealth } from '../kubevirt/diagnosis/health.ts'
import { leaseWatchOf } from '../kubevirt/lease-holders.ts'
import { itemsOf } from '../kube/known.ts'
import { lastLinesOf } from './upgrade-snapshot.ts'
import { lastReads, goesOn, readInTime, type ResumeHint, resumeLine, withLines } from '../engine/change.ts'
import { isGuards } from '../vms/update-guard.ts'
import { type RollbackHint, rollbackHint } from './methods/install-plan-approval.ts'
import { readOperator } from './methods/operator-manifest.ts'

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
  evicted: CensusCircumstances['evicted']
}

/** Keeps what the report needs: alerts before, and how long each step took. */
export interface Observed {
  /** Looks at alerts before the first write. */
  before(): Promise<void>
  event(event: RunEvent): void
  /** Id of the step that is at work, or was at work last. */
  readonly atWork: string
  /** Those that are done. */
  readonly steps: readonly StepReport[]
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
      fired = await asFarAsRead(firedOnPlatform(reader))
    },
    get atWork() {
      return atWork
    },
    steps,
    event(event: RunEvent) {
      if (event.kind === 'step-started') atWork = event.step.id
      if (event.kind !== 'step-done') return
      const { step, tookMs } = event
      if (step.hop !== undefined) hops.set(step.hop, (hops.get(step.hop) ?? 0) + tookMs)
      steps.push(stepReport(event))
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
  const [workloads, compared, vmCreation, webhooks, doubts, alerts, noWayBack, runs] = await Promise.all([
    asFarAsRead(workloadsAfter(cluster, plan, journal)),
    asFarAsRead(census.compare(cluster.reader, evicted), notCompared),
    tryVmCreation(cluster, plan.owner.ref.namespace),
    leftoverWebhooks(cluster),
    outcome.is === 'finished' ? asFarAsRead(doubtsLeft(reading, plan), []) : [],
    alertsSince(cluster.reader, fired),
    closedBehind(cluster.reader, ended),
    asFarAsRead(runningKubeVirt(cluster.reader, plan)),
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
      : { ...broughtBy(plan, runs), next }),
  })
}

/** What was there before is known, and what became of it could not be read. */
const notCompared: Partial<Compared> = { unread: ['VMs and volumes'] }

/** What the run was at its end has replaced the CRDs, also where they may not be read. */
async function closedBehind(reader: Reader, { plan, outcome }: Ended): Promise<string | undefined> {
  const { wayBack: downgrade } = plan
  if (downgrade.is !== 'closes') return whyNoDowngrade(plan, undefined)
  const crds = await kubeVirtDefinitions(reader)
  return crds.known || outcome.is === 'stopped-before' ? whyNoDowngrade(plan, crds) : downgrade.why
}

/** What was left open by the minor before the first is of none of them. */
const isOnPath = ({ path }: UpgradePlan, hop: string): boolean =>
  path?.steps.some(({ to }) => to === hop) ?? false

async function alertsSince(reader: Reader, fired: Fired | undefined): Promise<Pick<UpgradeReport, 'alerts'>> {
  if (fired === undefined) return {}
  const alerts = await asFarAsRead(newAlerts(reader, fired))
  return alerts === undefined ? {} : { alerts }
}

async function nextAfter(
  { plan, cluster, journal }: Ended,
  after: { [K in 'workloads' | 'differences']: UpgradeReport[K] | undefined },
): Promise<readonly string[]> {
  const overrides = await asFarAsRead(journal.overrides(), [])
  const override = openOverride(overrides, plan.olm?.hyperconverged.uid ?? plan.owner.uid)
  return nextLines(cluster.reader, { ...after, override })
}

/**
 * By OLM it is the KubeVirt that runs, whatever a table says of this release of HyperConverged: its own version stands in the place where the cluster does not tell. A
 * build has no virtctl of its own.
 */
function broughtBy(
  { olm, to }: UpgradePlan,
  runs: string | undefined,
): Partial<Pick<UpgradeReport, 'to' | 'virtctl'>> {
  if (olm === undefined) return { virtctl: virtctlOf(to.text) }
  if (runs === undefined) return { to: olm.to }
  return { to: runs, ...(/^v\d+\.\d+\.\d+$/u.test(runs) && { virtctl: virtctlOf(runs) }) }
}

/** After an upgrade by OLM: what KubeVirt says that it runs, or else the release in the Deployments of the CSV. */
async function runningKubeVirt(reader: Reader, { olm, owner }: UpgradePlan): Promise<string | undefined> {
  if (olm === undefined) return undefined
  const kubevirt = await asFarAsRead(readOwner(reader, owner))
  const observed = versionOf(kubevirt?.status?.observedKubeVirtVersion)
  if (observed !== undefined) return observed.text
  const { namespace } = olm.subscription
  const csv = await reader.get(ClusterServiceVersions, { name: olm.csv, namespace })
  return csv.is === 'object' ? versionOf(kubeVirtIn(csv.object))?.text : undefined
}

/** The artifact's name (facts 7). */
function virtctlOf(version: string): string {
  return `https://github.com/kubevirt/kubevirt/releases/download/${version}/virtctl-${version}-OS-ARCH`
}

interface After {
  workloads?: WorkloadReport | undefined
  differences?: Differences | undefined
  /** Of the methods, where they are held still. */
  override: Override | undefined
}

/** What to type after an upgrade: the migrations that failed again, one VM to try first while they are held, the rest. */
async function nextLines(
  reader: Reader,
  { workloads, differences, override }: After,
): Promise<readonly string[]> {
  const { outdated, restart } = workloads ?? { outdated: 0 }
  // Nothing migrates to what is older: neither a canary nor what failed before.
  if (restart) return ['kvup workloads outdated     lists the VMs that need a restart']
  if (override?.goesBack !== undefined) return heldLines(override)
  const isOwn = override !== undefined && !isOfWindow(override)
  const canary = isOwn && outdated > 0 ? await getCanary(reader) : undefined
  return [
    ...(differences?.failedMigrations ?? []).map(migrate),
    ...pausedLines(override, canary),
    ...(outdated > 0 ? ['kvup workloads outdated'] : []),
  ]
}

/** One VM first, where there is one to try; with Evict resuming comes after it. */
function pausedLines(override: Override | undefined, canary: string | undefined): readonly string[] {
  if (override === undefined || canary === undefined) return heldLines(override)
  const first = 'kvup workloads update --canary 1     moves the VMs, one of them first'
  return keptMethods(override).includes('Evict') ? [first] : [first, ...heldLines(override)]
}

function migrate(vmi: string): string {
  const { namespace, name } = placeOfVm(vmi)
  return `virtctl migrate ${shellWord(name)} -n ${shellWord(namespace)}`
}

interface ReportedRun {
  cx: CommandContext
  /** What is carried out right now. */
  plan: () => UpgradePlan
  journal: JournalReader & Partial<KnowsOverrides>
}

/**
 * The lines that matter to an upgrade that ends early: what is borrowed and until when that is harmless, the line that resumes, the line that gives back, the way
 * back. Before it has begun there is nothing to go on with: a refusal has its own remedy.
 */
export const upgradeHint = (conditions: ReportedRun): ResumeHint => ({
  ...lastReads,
  async told({ error, hasBegun, readWithin }) {
    if (hasBegun) return withWhatIsLeft(error, conditions, readWithin)
    return error instanceof KvupError && interruptions.has(error.exitCode)
      ? notBegun(error, conditions)
      : error
  },
})

/** A bug stays one, and is told with its stack: the lines are said before it. */
async function withWhatIsLeft(error: unknown, conditions: ReportedRun, within: number): Promise<unknown> {
  const left = within > 0 ? await leftBehind(conditions, within) : fromMemory(conditions)
  const notes = notesOn(left, conditions)
  const remedy = linesFor(conditions, left)
  if (error instanceof KvupError)
    return withLines(error, {
      notes: [...error.notes, ...notes],
      remedy: byCommand([...error.remedy, ...remedy]),
      ...(error.exitCode !== exitCode.locked && { left: await leftCluster(error, conditions, left) }),
    })
  for (const line of [...notes, ...remedy]) conditions.cx.printer.warn(line)
  return error
}

/** The block that a person sees: where the cluster stands, why, and the lines to type. What the failure says that helps comes first. */
async function leftCluster(error: KvupError, conditions: ReportedRun, left: Left): Promise<LeftCluster> {
  const { cx } = conditions
  const state = stateOfLeft(error, conditions, left, (await cx.cluster()).address)
  const held = heldLines(
    left.overrides?.find(({ id }) => id === overrideId),
    '     resumes automatic VM updates, once KubeVirt is healthy',
  )[0]
  const isGuarded = left.overrides?.some(isGuards) ?? false
  const [back, ...further] = restoreLines(conditions.plan(), left)
  const resume = resumeLine(cx.world, continuesWhen(left, isGuarded))
  const [next, afterwards] = isGuarded && held !== undefined ? [held, resume] : [resume, undefined]
  const [first, ...more] = helpFor(error, left).map((line) => asTyped(line, resume))
  const then = first === undefined ? afterwards : next
  const told = new Set([first ?? next, back].filter((line) => line !== undefined).map(commandOf))
  const others = [...more, ...further].filter((line) => !told.has(commandOf(line)))
  return {
    ...state,
    next: first ?? next,
    ...(then !== undefined && !isSameUpgrade(first, then) && { afterwards: then }),
    ...(!isGuarded && held !== undefined && { instead: held }),
    ...(back !== undefined && { back }),
    ...(others.length > 0 && { commands: byCommand(others) }),
  }
}

/** A line that helps and is the typed one without some of its flags is the typed one: what was left out would be asked for again. */
function asTyped(line: string, resume: string): string {
  const typed = new Set(wordsOf(commandOf(resume)))
  const isLess = isSameUpgrade(line, resume) && wordsOf(commandOf(line)).every((word) => typed.has(word))
  return isLess ? resume : line
}

/** What shows or mends what it stalls at; the failure of a run that was interrupted says nothing of it. */
const helpFor = ({ remedy }: KvupError, { observed }: Left): readonly string[] => {
  if (remedy.length > 0) return remedy
  const { verdict, why = [] } = observed?.rolloutStatus ?? {}
  return isAtFault(verdict) ? (why[0]?.commands.slice(0, 1) ?? []) : []
}

function continuesWhen({ observed }: Left, isGuarded: boolean): string {
  if (isGuarded) return 'continues, once they are resumed'
  const { verdict, why: [cause] = [] } = observed?.rolloutStatus ?? {}
  if (cause?.kind === 'image') return 'continues, once the image can be pulled'
  return cause && isAtFault(verdict) ? 'continues, once that is repaired' : 'continues'
}

const isAtFault = (verdict: Verdict | undefined): boolean => verdict === 'Stalled' || verdict === 'Degraded'

function stateOfLeft(
  error: KvupError,
  { cx, plan: now }: ReportedRun,
  { entries, overrides, observed, out }: Left,
  address: ClusterAddress | undefined,
): Pick<ClusterState, 'is' | 'headline' | 'why'> {
  const plan = now()
  const takenAt = cx.clock.now().toISOString()
  const { installation, rolloutStatus } = observed ?? {}
  const known = out?.note ?? noDowngradeNote(plan, observed)
  const { is, headline, why } = clusterState({
    report: {
      takenAt,
      ...rolloutStatus,
      installation: installation ?? { namespace: plan.owner.ref.namespace, manager: { kind: 'plain' } },
      ...(rolloutStatus === undefined && {
        target: { version: plan.to.text },
        ...(plan.from !== undefined && { observed: { version: plan.from } }),
      }),
    },
    cluster: address && clusterName(address),
    entries: entries ?? assumedEntries(error, cx, plan),
    overrides: overrides ?? [],
    ...(known !== undefined && { known: [known] }),
  })
  return { is, headline, why }
}

/** The journal could not be asked: what it would say of this run. */
function assumedEntries(
  error: KvupError,
  { clock, world }: CommandContext,
  plan: UpgradePlan,
): readonly Entry[] {
  const procedure = plan.olm ? olmUpgradeName(plan.olm.to) : upgradeName(plan.to.text)
  const entry = { at: clock.now().toISOString(), by: world.who, procedure, step: '', text: '' }
  const what = interruptions.has(error.exitCode) ? 'interrupted' : 'failed'
  return [
    { ...entry, what: 'started' },
    { ...entry, what },
  ]
}

const interruptions: ReadonlySet<number> = new Set([exitCode.interrupted, exitCode.terminated])

function notBegun(error: KvupError, { cx }: ReportedRun): KvupError {
  return new KvupError(error.exitCode, error.reason, error.message, {
    notes: ['nothing was changed'],
    remedy: resumeLine(cx.world, 'starts again'),
    cause: error,
  })
}

/** As far as it could be read. */
interface Left {
  overrides: readonly Override[] | undefined
  /** Of the journal. */
  entries?: readonly Entry[] | undefined
  observed: LeftUpdate | undefined
  /** By OLM. */
  out: RollbackHint | undefined
  /** What is borrowed could not be asked: it is what this run borrowed and read itself. */
  remembered?: true
}

/** At once: the cluster does not say anything. */
const fromMemory = ({ plan, journal }: ReportedRun): Left => ({
  ...remembered(journal),
  observed: undefined,
  out: plan().olm && unseen,
})

function remembered({ known }: ReportedRun['journal']): Pick<Left, 'overrides' | 'remembered'> {
  const overrides = known?.()
  return overrides === undefined ? { overrides } : { overrides, remembered: true }
}

async function leftBehind({ cx, plan: now, journal }: ReportedRun, readWithin: number): Promise<Left> {
  const plan = now()
  const [overrides, observed, out, entries] = await readInTime(cx.clock, readWithin, [
    journal.overrides(),
    readAgain(cx, plan),
    rollbackHintNow(cx, plan),
    journal.entries(),
  ])
  const known = overrides ? { overrides } : remembered(journal)
  return { ...known, entries, observed, out: plan.olm && (out ?? unseen) }
}

/** Undefined where the components may not be read: how far they came is not known then. */
async function readAgain(
  cx: CommandContext,
  { owner, wayBack: downgrade }: UpgradePlan,
): Promise<Left['observed']> {
  const { reader } = await cx.cluster()
  const [snapshot, crds] = await Promise.all([
    takeSnapshot(reader, statusParts, cx.clock, owner.ref.namespace),
    downgrade.is === 'closes' ? kubeVirtDefinitions(reader) : undefined,
  ])
  if (!snapshot.deployments.known || !snapshot.daemonsets.known) return undefined
  const installation = theInstallation(snapshot)
  const first = assessRollout(snapshot, cx.clock.now())
  // Events and logs say why, and Leases who is gone: without them what is stalled looks as if it went on.
  const explained =
    first.verdict === 'Healthy' ? undefined : await asFarAsRead(explainedAgain(cx, owner, snapshot))
  return { installation, rolloutStatus: withSilentLeases(explained ?? first, snapshot, { cx, owner }), crds }
}

async function explainedAgain(cx: CommandContext, owner: Owner, snapshot: Snapshot): Promise<RolloutStatus> {
  const { reader } = await cx.cluster()
  return explainedStatus(
    await withParts(reader, snapshot, causeParts),
    { reader, clock: cx.clock },
    lastLinesOf(owner),
  )
}

/** By what this run has watched: nothing is waited for. */
function withSilentLeases(
  rolloutStatus: RolloutStatus,
  snapshot: Snapshot,
  { cx: { clock }, owner }: { cx: CommandContext; owner: Owner },
): RolloutStatus {
  const leases = leaseWatchOf(clock).read(itemsOf(snapshot.leases), owner.ref.namespace, clock)
  return withHealth(rolloutStatus, { leases }, clock.now())
}

function linesFor({ cx, plan }: ReportedRun, left: Left): readonly string[] {
  const { overrides } = left
  return [
    ...(overrides === undefined ? ['kvup history     shows the temporary changes'] : []),
    ...(overrides?.some(isGuards) ? [] : [resumeLine(cx.world, 'continues')]),
    ...restoreLines(plan(), left),
    ...heldLines(
      overrides?.find(({ id }) => id === overrideId),
      '     resumes automatic VM updates once KubeVirt is healthy',
    ),
    ...(overrides?.some(isGuards) ? [resumeLine(cx.world, 'continues once they are restored')] : []),
  ]
}

function restoreLines(plan: UpgradePlan, { observed, out }: Left): readonly string[] {
  return out?.remedy ?? (observed ? downgradeLine(plan, observed) : [])
}

/** A command that two say is said once, with what it does. */
function byCommand(lines: readonly string[]): readonly string[] {
  const said = new Map<string, string>()
  for (const line of lines) {
    const command = commandOf(line)
    if ((said.get(command) ?? '').length < line.length) said.set(command, line)
  }
  return [...said.values()]
}

function notesOn(
  { overrides, observed, out, remembered: fromRun }: Left,
  { cx, plan: current }: ReportedRun,
): readonly string[] {
  const plan = current()
  const overridden =
    overrides === undefined
      ? ['kvup could not read the temporary changes']
      : [...temporaryChanges(overrides, cx.clock.now().toISOString())]
  if (fromRun) overridden.push('the API server does not answer: kvup shows what this run knows')
  const stays =
    out?.note ?? noDowngradeNote(plan, observed) ?? downgradeTakes(plan, out ? undefined : observed)
  return stays === undefined ? overridden : [...overridden, stays]
}

/** How an upgrade by OLM can be left, seen once more; undefined by any other method. Throws what the Reader throws, and where the Subscription is gone. */
async function rollbackHintNow(
  { cluster }: Pick<CommandContext, 'cluster'>,
  { olm }: Pick<UpgradePlan, 'olm'>,
): Promise<RollbackHint | undefined> {
  if (olm === undefined) return undefined
  const { reader } = await cluster()
  return rollbackHint(olm, await readOperator(reader, olm))
}

/** Where it could not be seen. */
const unseen: RollbackHint = {
  note: 'there is no way back once an InstallPlan is approved: OLM does not downgrade',
  remedy: [],
}

/** What only looking takes: how the plan is shown, and that nothing is done. */
const ofReading = { alone: ['--exit-code'], valued: ['--output', '-o', '--to-file', '--dry-run'] }

/** The line that does what `kvup plan`, or a dry run, has shown: `typed` as it was, without what only looking takes. */
export function carryingOut(typed: string): string {
  const words = wordsOf(typed)
  const command = placeOfCommand(words)
  const named = words.map((word, index) => (index === command ? 'upgrade' : word))
  return withoutFlags(named, ofReading).join(' ')
}

const isNamed = (word: string): boolean => word === 'plan' || word === 'upgrade'

/** A file, a context or a namespace may be named so too: the first that is not the value of a flag. */
function placeOfCommand(words: readonly string[]): number {
  const own = words.findIndex((word, index) => isNamed(word) && !words[index - 1]?.startsWith('-'))
  return own < 0 ? words.findIndex(isNamed) : own
}

/** What to type after `kvup plan`: with the file where there is one. Release data is no part of a plan, and is named again. */
export function afterPlan(typed: string, file: string | undefined): readonly string[] {
  const words = wordsOf(typed)
  if (file !== undefined)
    return [`kvup upgrade --plan ${[shellWord(file), ...onlyFlag(words, '--releases')].join(' ')}`]
  return [
    `${carryingOut(typed)}     runs it`,
    `${withoutFlags(words, ofReading).join(' ')} --to-file plan.yaml     saves it, for kvup upgrade --plan plan.yaml`,
  ]
}
