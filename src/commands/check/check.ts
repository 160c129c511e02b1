import type { Context } from '../../context.ts'
import type { AcceptedRisk } from '../../lib/releases/hop-findings.ts'
import { allChecks, ensureFindingsAccepted, reportOf, runChecks } from '../../lib/checks/check-run.ts'
import { evictions, upgradeUnfinished } from '../../lib/checks/groups/activity-checks.ts'
import { itemsOf, type Known, notAsked } from '../../lib/kube/known.ts'
import { readClusterState } from '../status/status-document.ts'
import { clockSkew } from '../../lib/checks/groups/machinery-checks.ts'
import type { Installation } from '../../lib/kubevirt/installation.ts'
import { asFarAsRead, type ExitCode, exitCode, KvupError, usageError } from '../../lib/kube/errors.ts'
import type { Cluster, Reader } from '../../lib/kube/cluster.ts'
import {
  alertsByRoute,
  type FiringAlert,
  firingAlerts,
  offeringRoute,
} from '../../lib/openshift/firing-alerts.ts'
import { readReleases, type Releases } from '../../lib/releases/releases.ts'
import { type Check, ensureFetched, type Finding, type Question } from '../../lib/checks/check-definition.ts'
import { type CheckDocument, checkView, wholeCheckView } from '../../lib/output/views/check-report.ts'
import { parseVersion, type Version, versionOf } from '../../lib/releases/release-versions.ts'
import { type ReadCluster, readerFor } from '../../lib/kubevirt/snapshot.ts'
import { ensurePlace } from '../../lib/vms/vm.ts'
import { openOverrides } from '../../lib/engine/overrides.ts'
import { methodsOnceResumed } from '../../lib/upgrade/upgrade-snapshot.ts'
import { evictionFinding, forecastUpdates } from '../../lib/vms/forecast/vm-forecast.ts'
import { commandOf, isCommand, takesRisk, withoutFlags, wordsOf } from '../../lib/kube/shell-line.ts'
import { reachable } from '../../lib/releases/release-path.ts'
import { acceptedRisks } from '../../lib/checks/explanations.ts'
import { knownBad, manifestFetched } from '../../lib/checks/groups/path-checks.ts'
import { installedOperator } from '../../lib/openshift/operator-rules.ts'
import { nearTarget, readCheckedCluster } from './plan-findings.ts'
import { withRisks } from '../run-change.ts'
import { olmGoal, type OlmGoal } from '../../lib/upgrade/methods/olm-plan.ts'
import { seeOperator } from '../../lib/upgrade/methods/olm-operator.ts'
import { mustBeVersion, operatorManifest, parseManifest } from '../../lib/manifests/manifest.ts'
import { manifestSource, notReadFinding, readManifest } from '../../lib/manifests/manifest-source.ts'

export interface CheckOptions {
  to?: string
  method: 'auto' | 'image-tag' | 'operator-manifest' | 'olm'
  manifest?: string
  /** No flag: of the manifest, where it was read before. */
  read?: ManifestPart
  /** No flag: VM updates do not resume at the end of the upgrade. */
  leavePaused?: boolean
  releases?: string
  accept: readonly string[]
  strict?: boolean
  /** Every check is listed, not only what was found. */
  all?: boolean
  probeImages?: boolean
  from?: string
  alerts?: 'route'
}

/** Looks once and says everything that speaks against a change. Exit 3 where a blocker was not accepted. */
export async function check(cx: Context, options: CheckOptions): Promise<ExitCode> {
  ensureProbesFit(options)
  const document = await checkDocument(cx, options, () => readerFor(cx, options.from))
  const at = cx.clock.now().toISOString()
  for (const made of document.items) cx.printer.observe?.({ kind: 'check-made', at, check: made })
  const view = options.all ? wholeCheckView : checkView
  cx.printer.result(document, view, document.counts.notChecked > 0 ? 'partial' : 'complete')
  if (document.outcome !== 'blocked') return exitCode.done
  ensureFetched(
    document.items.flatMap(({ findings }) => findings),
    document.accepted,
  )
  return exitCode.blocked
}

/** What a question has of the target's manifest. */
export type ManifestPart = Pick<Question, 'manifest' | 'isManifestNamed' | 'manifestUnread'>

/** What all checks say of the cluster that `open` opens, once what was typed is known to be meant. */
export async function checkDocument(
  cx: Context,
  options: CheckOptions,
  open: () => Promise<ReadCluster>,
): Promise<CheckDocument> {
  const to = options.to === undefined ? undefined : parseVersion(options.to)
  const releases = await readReleases(cx.world, options.releases)
  const accepted = acceptedRisks(options.accept, releases)
  const manifest = options.read ?? (await manifestObjects(cx, options.manifest, to))
  const snapshot = await open()
  await ensurePlace(snapshot, { namespace: cx.flags.namespace })
  cx.printer.awaiting('running the checks')
  const observed = await readCheckedCluster(cx, {
    to,
    method: options.method,
    snapshot,
    waits: !snapshot.saved,
    layers: { alerts: async (reader) => alertsFor(options, reader) },
  })
  ensureOlmOwns(options, observed.installation)
  const path = await pathOf(options, observed, { cluster: snapshot.cluster, accepted, releases })
  const target = targetOf(to, path, observed)
  const unfinished = await unfinishedUpgrade(cx, snapshot, observed)
  const noOneTarget = to === undefined || target !== undefined ? undefined : whyNoOneTarget(path)
  const asked: Question = {
    ...observed,
    releases,
    ...(target && { target }),
    ...(noOneTarget !== undefined && { noOneTarget }),
    ...manifest,
    asked: askedLine(cx.world.commandLine),
    unfinished,
    ...(options.leavePaused
      ? { methodsAtEnd: [] }
      : await evictedBy(cx, to, { cluster: snapshot.cluster, observed })),
  }
  const question = options.probeImages ? await withProbes(cx, asked) : asked
  const strict = options.strict ?? false
  const results = runChecks(checksFor(question, path), question)
  ensureFindingsAccepted(results, accepted, (risks) => withRisks(cx.world.commandLine, risks))
  const report = reportOf(results, accepted, strict)
  const head = heading(cx, question, towardsOf(to, path))
  const { address } = snapshot.cluster
  const better = betterPatch(report)
  return {
    ...head,
    ...better,
    ...(address && { cluster: address }),
    strict,
    accepted,
    ...report,
    next: nextLines(
      cx.world.commandLine,
      { ...head, ...report, ...better, strict },
      { ...observed, unfinished },
    ),
  }
}

/** Flags that only look takes. */
const ofChecking = {
  alone: ['--strict', '--probe-images', '--all', '--exit-code'],
  valued: ['--from', '--alerts', '--output', '-o', '--accept'],
}

function upgradeLine(typed: string): string | undefined {
  const words = withoutFlags(wordsOf(typed), ofChecking)
  // A context or a file may be named so too.
  const place = words.findIndex((word, index) => word === 'check' && !words[index - 1]?.startsWith('-'))
  return place < 0 ? undefined : words.with(place, 'upgrade').join(' ')
}

const askedLine = (typed: string): string =>
  withoutFlags(wordsOf(typed), { alone: ['--all'], valued: ['--output', '-o'] }).join(' ')

/** The patch that has the fix of what is known of the target; none where nothing is, where it was accepted, and where the check blocks anyway. */
function betterPatch({
  outcome,
  items,
}: Pick<CheckDocument, 'outcome' | 'items'>): Pick<CheckDocument, 'better'> {
  if (outcome === 'blocked') return {}
  const known = items.filter(({ id }) => id === knownBad.id).flatMap(({ findings }) => findings)
  const fixed = known.flatMap(({ id, level, accepted, remedy: [first = ''] }) => {
    const [, to] = /^kvup upgrade --to (?<to>\S+)$/u.exec(first) ?? []
    return to === undefined || level !== 'warning' || accepted ? [] : [{ id, to }]
  })
  const [one] = fixed
  return one === undefined ? {} : { better: { to: one.to, fixes: fixed.map(({ id }) => id) } }
}

/** The same question of the better patch; what was accepted of the other, and its manifest, are not of this one. */
function betterLine(typed: string, { to, fixes }: NonNullable<CheckDocument['better']>): string {
  const asked = withoutFlags(wordsOf(typed), {
    alone: ['--probe-images'],
    valued: ['--to', '--manifest', '--accept'],
  })
  return `${[...asked, '--to', to].join(' ')}     has the fix of ${fixes.join(', ')}`
}

type Ended = Pick<CheckDocument, 'to' | 'kubevirt' | 'outcome' | 'items' | 'strict' | 'better'>

/** What to type next: the upgrade as it was asked about, with the risks that were accepted; what helps against the worst finding; or a version to ask about. */
function nextLines(
  typed: string,
  { to, kubevirt: { version }, outcome, items, strict, better }: Ended,
  { installation: { manager }, unfinished }: Pick<Question, 'installation'> & { unfinished: Unfinished },
): readonly string[] {
  if (outcome === 'blocked') return helpLines(items, strict)
  // What has begun comes first.
  if (unfinished) return unfinished.remedy.slice(0, 1)
  if (better !== undefined) return [betterLine(typed, better)]
  // Where it is there already nothing is to be typed.
  if (to !== undefined && to === version) return []
  if (to !== undefined) {
    const line = upgradeLine(typed)
    return line === undefined ? [] : [withRisks(line, risksOf(items))]
  }
  const newest = manager.kind === 'hyperconverged' ? undefined : reachable(version).at(-1)
  if (newest === undefined) return []
  const asked = withoutFlags(wordsOf(askedLine(typed)), { alone: ['--strict'], valued: [] })
  return [`${[...asked, '--to', newest].join(' ')}     judges an upgrade to it`]
}

/** What an upgrade to it would be refused for; none where KubeVirt is there already. */
async function evictedBy(
  { world }: Context,
  to: Version | undefined,
  { cluster: { reader }, observed }: { cluster: Pick<Cluster, 'reader'>; observed: CheckedCluster },
): Promise<Pick<Question, 'evicted' | 'methodsAtEnd' | 'leavingPaused'>> {
  const { installation, rolloutStatus } = observed
  const { kubevirt, namespace } = installation
  if (to === undefined || rolloutStatus.observed.version === to.text) return {}
  const saved = await openOverrides(reader, namespace)
  const { methods } = methodsOnceResumed(installation, 'unread' in saved ? [] : saved.overrides)
  if (!methods.includes('Evict')) return { methodsAtEnd: methods }
  const lines = leavingPaused(world.commandLine, to, rolloutStatus)
  const [line] = lines
  const atEnd = { methodsAtEnd: methods, ...(line !== undefined && { leavingPaused: line }) }
  const forecast = await asFarAsRead(forecastUpdates(reader, { kubevirt, methods, installs: to.text }))
  const evicted = forecast === undefined ? [] : evictionFinding(methods, forecast, lines)
  return evicted.length === 0 ? atEnd : { ...atEnd, evicted }
}

/** Over several minors VM updates resume between two steps whatever is asked for the end. */
function leavingPaused(
  typed: string,
  to: Version,
  { observed }: CheckedCluster['rolloutStatus'],
): readonly string[] {
  const from = versionOf(observed.version)
  const line = upgradeLine(typed)
  if (line === undefined || from === undefined || to.minor - from.minor > 1) return []
  return [`${line} --leave-paused     ends before automatic VM updates resume`]
}

type Unfinished = Question['unfinished'] | undefined

/** An upgrade by kvup that was interrupted or runs elsewhere now, as `kvup status` tells it. Asked for only where something is changed for a time, or KubeVirt is on its way. */
async function unfinishedUpgrade(
  cx: Context,
  read: ReadCluster,
  { snapshot, rolloutStatus: { observed, target } }: CheckedCluster,
): Promise<Unfinished> {
  const isPossible =
    itemsOf(snapshot.overrides ?? { known: true, items: [] }).length > 0 ||
    observed.version !== target.version
  if (read.saved || !isPossible) return undefined
  const { state } = await readClusterState(cx, read)
  if (state.is !== 'Interrupted' && state.is !== 'Running') return undefined
  const { headline, why, next, instead, back } = state
  return {
    sentence: [headline, ...why].join('. '),
    remedy: [next, instead, back].filter((line) => line !== undefined),
  }
}

function helpLines(items: Ended['items'], strict: boolean): readonly string[] {
  const open = items.flatMap(({ findings }) => findings).filter(({ accepted }) => !accepted)
  const levels = ['blocker', 'not-checked', ...(strict ? ['warning'] : [])]
  const worst = levels.map((wanted) => open.find(({ level }) => level === wanted)).find((found) => found)
  if (worst === undefined) return []
  const line =
    worst.remedy.find((one) => isCommand(one) && !takesRisk(one, [worst.id])) ?? `kvup explain ${worst.id}`
  return [isUpgrade(line) ? withRisksOf(line, items) : line]
}

const isUpgrade = (line: string): boolean => /^kvup upgrade (?:.* )?--to /u.test(line)

/** An upgrade is refused where a risk that was accepted is not on its line; what the line does stays behind it. */
function withRisksOf(line: string, items: Ended['items']): string {
  const command = commandOf(line)
  const more = risksOf(items).filter(({ id }) => !takesRisk(command, [id]))
  if (more.length === 0) return line
  return `${command} ${withRisks('', more)}${line.slice(command.length)}`
}

/** What was accepted, once each. */
function risksOf(items: Ended['items']): readonly AcceptedRisk[] {
  const accepted = items.flatMap(({ findings }) => findings).filter((finding) => finding.accepted)
  return [...new Map(accepted.map((finding) => [finding.id, finding])).values()]
}

/** By OLM over several minors, or to a release of which nobody knows the KubeVirt, or that OLM refuses. */
function whyNoOneTarget(path: OlmPath | undefined): string {
  if (path === undefined || 'refused' in path) return 'needs a release that OLM offers'
  const { kubevirt } = path.goal.part
  return kubevirt === undefined
    ? `needs to know which KubeVirt HyperConverged ${path.goal.part.to} brings`
    : 'needs a target that is one minor of KubeVirt away'
}

/**
 * Through the API server where that lets them through; by the Route, to which this user's token goes, where the flag says so: a command that only reads asks nobody.
 */
async function alertsFor({ alerts, from }: CheckOptions, reader: Reader): Promise<Known<FiringAlert>> {
  if (alerts === 'route') return alertsByRoute(reader)
  const through = await firingAlerts(reader)
  return through.known || from !== undefined ? through : offeringRoute(reader, through.why)
}

type CheckedCluster = Omit<Question, 'releases' | 'target'>

/** Where OLM is the method: how it comes to what was typed. */
async function pathOf(
  { to }: CheckOptions,
  { method }: CheckedCluster,
  by: { cluster: Cluster; accepted: readonly AcceptedRisk[]; releases: Releases },
): Promise<OlmPath | undefined> {
  if (to === undefined || method !== 'olm') return undefined
  return olmPath(by.cluster, { to, accepted: by.accepted.map(({ id }) => id), releases: by.releases })
}

/** The KubeVirt to judge: by OLM the one that a release of HyperConverged brings, where it is near enough. */
function targetOf(
  to: Version | undefined,
  path: OlmPath | undefined,
  { rolloutStatus }: CheckedCluster,
): Version | undefined {
  if (path === undefined) return to
  return 'goal' in path ? nearTarget(path.goal.part, path.goal.to, rolloutStatus) : undefined
}

/** What it says of where to: a release of HyperConverged where OLM is the way. */
const towardsOf = (to: Version | undefined, path: OlmPath | undefined): string | undefined =>
  path && 'goal' in path ? path.goal.part.to : path === undefined ? to?.text : to?.text.replace(/^v/u, '')

function checksFor(question: Question, path: OlmPath | undefined): readonly Check[] {
  const ours = path === undefined ? allChecks : checksByOlm(allChecks, path, question)
  return [
    ...ours,
    ...(question.manifestUnread ? [manifestFetched] : []),
    ...(question.unfinished ? [upgradeUnfinished] : []),
    ...(question.evicted ? [evictions] : []),
    ...(question.ahead === undefined ? [] : [clockSkew]),
  ]
}

/** The only thing that `kvup check` ever writes; `ensureProbesFit` saw to target and manifest. */
async function withProbes(cx: Context, question: Question): Promise<Question> {
  const { target, manifest } = question
  if (target === undefined || manifest === undefined) return question
  const { probeImages } = await import('./probe-images.ts')
  const probes = await probeImages(cx, { ...question, target, manifest })
  return { ...question, snapshot: { ...question.snapshot, probes } }
}

/** `to`: where OLM is the way, a release of HyperConverged. */
function heading(
  cx: Context,
  { snapshot, installation, rolloutStatus, releases, ...asked }: Question,
  to: string | undefined,
) {
  const version = rolloutStatus.observed.version
  const { serverVersion, takenAt, hyperconverged = notAsked, subscriptions = notAsked } = snapshot
  const operator = installedOperator({ hyperconverged, subscriptions })
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'CheckReport',
    takenAt,
    kubevirt: { name: installation.name, namespace: installation.namespace, ...(version && { version }) },
    ...(operator !== undefined && { hyperconverged: { version: operator } }),
    ...(serverVersion && { kubernetes: serverVersion.gitVersion }),
    ...(to !== undefined && { to }),
    ...(asked.method && { method: asked.method }),
    releasesAsOf: releases.asOf,
    kvup: cx.world.version,
  } as const
}

/** As `kvup upgrade` says it. */
function ensureOlmOwns({ method }: CheckOptions, { manager }: Installation): void {
  if (method === 'olm' && manager.kind !== 'hyperconverged')
    throw usageError('not-by-olm', 'no HyperConverged owns KubeVirt here: --method olm does not apply', {
      remedy: 'leave it out',
    })
}

/** How HyperConverged comes to a release, as `kvup upgrade` reads `--to`; or why it does not go there. */
export type OlmPath = { goal: OlmGoal } | { refused: KvupError }

/** Undefined where it cannot be asked: OLM does not keep that HyperConverged, or may not be read, or was not saved. */
export async function olmPath(
  { reader }: Pick<Cluster, 'reader'>,
  asked: { to: string; accepted: readonly string[]; releases: Releases },
): Promise<OlmPath | undefined> {
  const { to, accepted, releases } = asked
  const command = `kvup upgrade --to ${to} --method olm`
  const request = { typed: to, approveAlso: [], accepted, command }
  const observed = await unless(
    () => true,
    () => seeOperator(reader),
  )
  if (observed instanceof KvupError) return undefined
  const goal = await unless(isBlocked, async () => olmGoal({ request, operatorSnapshot: observed, releases }))
  return goal instanceof KvupError ? { refused: goal } : { goal }
}

const isBlocked = (error: KvupError): boolean => error.exitCode === exitCode.blocked

async function unless<T>(
  expected: (error: KvupError) => boolean,
  work: () => Promise<T>,
): Promise<T | KvupError> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof KvupError && expected(error)) return error
    throw error
  }
}

/** In the place of the check that says who owns KubeVirt OLM is asked, and what it says is what a plan says. */
export function checksByOlm(
  checks: readonly Check[],
  path: OlmPath,
  { installation }: Pick<Question, 'installation'>,
): readonly Check[] {
  return checks.map((one) => (one.id === 'manager' ? byOlm(path, installation) : one))
}

const byOlm = (path: OlmPath, { manager }: Installation): Check => ({
  id: 'manager',
  group: 'installation',
  title: 'OLM can take HyperConverged there',
  unchecked: 'the owner of KubeVirt was not checked',
  findings: 'any',
  needs: [],
  blocks: true,
  assess: () => ('goal' in path ? path.goal.findings : [refusal(path.refused, manager.name ?? '')]),
})

const refusal = ({ message, remedy }: KvupError, name: string): Finding => ({
  id: 'managed-by-hyperconverged',
  level: 'blocker',
  summary: `HyperConverged ${name} decides which KubeVirt is installed, and does not go there: ${message}`,
  remedy,
})

const isUnfetched = (error: KvupError): boolean => error.exitCode === exitCode.unreachable

/** What `--manifest` names, of the version that is asked about; or that it could not be fetched. Throws `usage` for another one, and without a version. */
export async function manifestObjects(
  { world, signal }: Context,
  manifest: string | undefined,
  to: Version | undefined,
): Promise<ManifestPart> {
  if (manifest === undefined) return {}
  if (to === undefined)
    throw usageError('manifest-without-to', '--manifest needs the version that it is of', {
      remedy: 'add --to VERSION',
    })
  const found = await unless(isUnfetched, () =>
    readManifest(manifestSource({ manifest }, to.text), { ...world, signal }),
  )
  if (found instanceof KvupError) return { manifestUnread: notReadFinding(found) }
  const read = operatorManifest(parseManifest(found.text, found.origin), found.origin)
  mustBeVersion(read, to.text)
  return { manifest: read.objects, isManifestNamed: true }
}

interface Asked {
  probeImages?: boolean
  to?: string
  manifest?: string
  from?: string
}

/** Refused before the cluster is read. Throws `usage`. */
export function ensureProbesFit({ probeImages, to, manifest, from }: Asked): void {
  if (!probeImages) return
  if (from !== undefined)
    throw usageError(
      'probe-saved',
      '--probe-images makes pods, and a saved cluster has no nodes to make them on',
      {
        remedy: 'leave out --from, or --probe-images',
      },
    )
  if (to === undefined || manifest === undefined)
    throw usageError('probe-without-manifest', '--probe-images needs to know the images of the target', {
      remedy: 'add --to VERSION --manifest FILE|URL',
    })
}
