import { type AcceptedRisk, isBlocked } from '../../releases/hop-findings.ts'
import type { FullSnapshot } from '../../kubevirt/full-snapshot.ts'
import {
  allReleases,
  kubernetesWindow,
  latestPatch,
  type Releases,
  unknownRelease,
} from '../../releases/releases.ts'
import { counted } from '../../kube/text.ts'
import { enteredNow, observedAfter, type PathStep, type UpgradePath } from '../path-procedure.ts'
import { forecastText } from '../../vms/forecast/vm-forecast.ts'
import type { CommandContext } from '../../kube/world.ts'
import type { Finding, Question as CheckQuestion } from '../../checks/check-definition.ts'
import { manifestSource, originOf } from '../../manifests/manifest-source.ts'
import { candidatesIn, hop, releasesLeft } from '../../releases/release-path.ts'
import { minorOf, type Version, versionOf } from '../../releases/release-versions.ts'
import { usageError } from '../../kube/errors.ts'
import { shellWord } from '../../kube/shell-line.ts'
import {
  chooseMethod,
  makePlan,
  type UpgradePlan,
  type UpgradeRequest,
  type UpgradeState,
} from '../upgrade-plan.ts'
import type { UpgradeOptions } from './upgrade-options.ts'

/** One minor of the path, planned from what the ones before leave behind; the first from what there is. */
export interface ForeseenLeg {
  upgradeState: UpgradeState
  plan: UpgradePlan
}

/** The minors that are left, and why there are not all of them. */
export interface Foreseen {
  legs: readonly [ForeseenLeg, ...ForeseenLeg[]]
  /** No manifest, or no release, of the minor that comes next. */
  missing?: { before: string; finding: Finding }
}

interface PathQuestion {
  cx: CommandContext
  options: UpgradeOptions
  request: UpgradeRequest
  upgradeState: UpgradeState
  releases: Releases
  /** A run over several minors was cut off: its last step is one of a path as well. */
  isResumed?: boolean
}

/**
 * The upgrade path where `--to` is several minors on, or `--via` names one; undefined where it is one step. Reads manifests of a folder, to see which
 * there are. Throws `usage` for a `--via` that does not begin where the cluster is, and for flags that are of one release alone.
 */
export async function foreseePath(question: PathQuestion): Promise<Foreseen | undefined> {
  const { request, upgradeState, options } = question
  const from = versionOf(upgradeState.rolloutStatus.observed.version)
  if (from === undefined || request.follow || upgradeState.olm) return undefined
  const stops = stopsTo(question, from)
  if (stops === undefined) return undefined
  const foreseen = await legsAlong(question, stops, from)
  if (foreseen) refuseFlagsOfOne(options, stops.length)
  return foreseen
}

/** Undefined where it is one step, and none of a path that was cut off. */
function stopsTo(
  { request: { via, to }, upgradeState, releases, isResumed }: PathQuestion,
  from: Version,
): readonly Stop[] | undefined {
  if (via) {
    const left = releasesLeft({ from, to, via })
    return left.length === 0 ? undefined : left
  }
  const { kind, skipped = [] } = hop(from, to, releases)
  const isLast = isResumed && (kind === 'minor' || kind === 'major')
  const isDirect = !isLast && upgradeState.rolloutStatus.target.version === to.text
  return (kind === 'skips-minors' || isLast) && !isDirect ? [...skipped, to] : undefined
}

/** A release, or a minor of which one is still to be chosen. */
type Stop = Version | string

async function legsAlong(
  question: PathQuestion,
  stops: readonly Stop[],
  from: Version,
): Promise<Foreseen | undefined> {
  const later: ForeseenLeg[] = []
  let near: ForeseenLeg | undefined
  let { upgradeState } = question
  let at = from
  for (const [index, stop] of stops.entries()) {
    const chosen = typeof stop === 'string' ? await chosenIn(stop, { ...question, upgradeState }, at) : stop
    if ('finding' in chosen) {
      // Where no release is known nothing is made up: it is refused as a step that leaves out minors.
      if (near === undefined && chosen.is === 'unknown') return undefined
      if (chosen.is === 'unknown') refuseUnknown(question)
      if (near === undefined) throw usageError('manifest-missing', chosen.finding.summary, chosen.finding)
      return { legs: [near, ...later], missing: chosen }
    }
    const plan = makePlan(
      ofLeg(question.request, chosen, index === stops.length - 1),
      upgradeState,
      question.releases,
    )
    if (near === undefined) near = { upgradeState, plan }
    else later.push({ upgradeState, plan })
    upgradeState = observedAfter(upgradeState, plan)
    at = chosen
  }
  if (near === undefined) throw new Error('an upgrade path without a step')
  return { legs: [near, ...later] }
}

/** No path leads to a release that nobody knows, over minors of which nobody knows a release: it may be mistyped. Throws `usage`. */
function refuseUnknown({ request: { to }, releases }: PathQuestion): void {
  const unknown = unknownRelease(to, releases)
  if (unknown === undefined) return
  const newest = allReleases(releases).at(-1)
  throw usageError('release-unknown', unknown, {
    remedy: [
      'kvup releases     lists the releases that kvup knows; --releases FILE adds newer ones',
      ...(newest === undefined
        ? []
        : [`kvup check --to ${newest.text}     judges an upgrade to the newest one`]),
      '--via names the releases in between',
    ],
  })
}

/** What is asked for at the end is of the last step alone. */
function ofLeg(request: UpgradeRequest, to: Version, isLast: boolean): UpgradeRequest {
  const { via: _, ...asked } = request
  return isLast ? asked : { ...asked, to, leavePaused: false, waitWorkloads: false }
}

/** One file holds one release. */
function refuseFlagsOfOne({ manifest, backup, manifestSha256 }: UpgradeOptions, steps: number): void {
  if (steps < 2) return
  const flag = manifest !== undefined ? '--manifest' : backup !== undefined ? '--backup' : undefined
  if (flag !== undefined)
    throw usageError('contradiction', `${flag} is of one release, and this upgrade path has ${steps} steps`, {
      remedy:
        flag === '--manifest'
          ? '--manifest-base DIR     with DIR/VERSION/kubevirt-operator.yaml for each release'
          : 'omit it: each step saves what it replaces in kvup-backup-VERSION.yaml',
    })
  if (manifestSha256 !== undefined && !manifestSha256.includes('='))
    throw usageError(
      'contradiction',
      `--manifest-sha256 is of one release, and this upgrade path has ${steps} steps`,
      {
        remedy: 'name each: --manifest-sha256 v1.6.6=SUM,v1.7.4=SUM',
      },
    )
}

/**
 * Of a minor the release that is entered already; else the newest without a known issue that the folder of `--manifest-base`, or where there is
 * none the release data, offers.
 */
async function chosenIn(
  minor: string,
  { cx, options, request, upgradeState, releases }: PathQuestion,
  at: Version,
): Promise<Version | Missing> {
  const entered = enteredNow(upgradeState)
    .map((text) => versionOf(text))
    .find((version) => version !== undefined && minorOf(version) === minor)
  if (entered !== undefined) return entered
  const candidates = candidatesIn(minor, at, releases)
  const [best] = candidates
  if (best === undefined)
    return missing('unknown', minor, `no release of ${minor} is known as of ${releases.asOf}`, [
      '--via names the releases in between; --releases FILE adds newer release data',
    ])
  const source = manifestSource(options, best.text)
  if (
    source.from !== 'file' ||
    chooseMethod(request.method, upgradeState.installation, best) !== 'operator-manifest'
  )
    return best
  for (const candidate of candidates) {
    const one = manifestSource(options, candidate.text)
    if (one.from === 'file' && (await isThere(cx, one.file))) return candidate
  }
  const newest = latestPatch(minor, releases) ?? best
  const file = originOf(manifestSource(options, newest.text))
  return missing(
    'no-file',
    minor,
    `kvup has no manifest of ${minor}: ${file}, or that of an earlier patch, is missing`,
    [`curl -fL --create-dirs -o ${shellWord(file)} ${originOf(manifestSource({}, newest.text))}`],
  )
}

interface Missing {
  is: 'unknown' | 'no-file'
  before: string
  finding: Finding
}

function missing(is: Missing['is'], before: string, why: string, remedy: readonly string[]): Missing {
  return { is, before, finding: { id: 'manifest-missing', level: 'blocker', summary: why, remedy } }
}

async function isThere(cx: CommandContext, file: string): Promise<boolean> {
  return cx.world.readText(file).then(
    () => true,
    () => false,
  )
}

/**
 * Each finding once: what the plan itself says of it, in the list before, is nearer to what will be done. Of several in one list by one name the worst
 * is kept: a blocker is not lost behind a warning.
 */
export function dedupeById(...lists: readonly (readonly Finding[])[]): readonly Finding[] {
  const byId = new Map<string, Finding>()
  for (const list of lists) {
    const before = new Set(byId.keys())
    for (const finding of list) {
      const known = byId.get(finding.id)
      if (known === undefined || (!before.has(finding.id) && weight(finding) > weight(known)))
        byId.set(finding.id, finding)
    }
  }
  return [...byId.values()]
}

const weight = ({ level }: Finding): number => ({ info: 0, warning: 1, 'not-checked': 2, blocker: 3 })[level]

export interface Judging {
  snapshot: FullSnapshot
  releases: Releases
  at: Date
  accepted: readonly AcceptedRisk[]
  /** The line that upgrades to a nearer release, through these. */
  nearer: (to: string, via: readonly string[]) => string
  /** The first step is under way: what stands against a later one does not keep it from being finished, and is met at the gate of that one. */
  hasBegun: boolean
  foreseen: Foreseen
  /** Of each leg, where it comes from and what it holds as far as it was read. */
  manifests: readonly LegManifest[]
  /** What was found of the first leg, which is judged by all checks. */
  first: readonly Finding[]
  between: UpgradePath['between']
  /** Named by a person, or by the sealed plan. */
  via: readonly string[]
  /** What can be told of a step whose beginning is not reached yet. */
  foretold: (question: CheckQuestion) => readonly Finding[]
  /** That VMs are not waited for between these steps, by the name of the check that tells the same of VMs that run. */
  notWaitedFor: (steps: readonly PathStep[]) => Finding
}

interface LegManifest {
  origin?: string
  sha256?: string
  objects?: CheckQuestion['manifest']
  findings: readonly Finding[]
}

/** The path up to what stands against going on, and what that means for the whole plan. Pure. */
export function judgePath(judging: Judging): {
  path: UpgradePath
  findings: readonly Finding[]
  said: readonly string[]
  /** What the run ends by once it has gone as far as it may. */
  end?: { before: string; findings: readonly Finding[] }
} {
  const { foreseen, first, accepted, between, manifests, via, notWaitedFor } = judging
  const { legs, missing: lacks } = foreseen
  const steps = legs.map((leg, index) =>
    stepOf(leg, manifests[index], {
      findings: index === 0 ? first : foretoldOf(leg, manifests[index], judging),
      releases: judging.releases,
    }),
  )
  // What stands against the first step already, and is decided there, does not cut the path.
  const atOnce = new Set(first.filter((finding) => isBlocked([finding], accepted)).map(({ id }) => id))
  const stops = (finding: Finding) => !atOnce.has(finding.id) && isBlocked([finding], accepted)
  const shut = steps.findIndex((step, index) => index > 0 && step.findings.some(stops))
  const kept = shut < 0 ? steps : steps.slice(0, shut)
  const far = kept.at(-1)?.to ?? ''
  const refused =
    shut < 0 ? lacks && { before: lacks.before, findings: [lacks.finding] } : refusedAt(steps[shut], stops)
  const nearer = judging.nearer(
    far,
    kept.slice(0, -1).map(({ to }) => to),
  )
  const against = (refused?.findings ?? []).map((finding) =>
    asEnd(finding, { far, before: refused?.before ?? '', nearer }),
  )
  const ends = refused && {
    before: refused.before,
    why: refused.findings.map(({ summary }) => summary).join('; '),
  }
  const hops = [...new Set([...via, ...kept.map(({ to }) => to)])]
  const path = { steps: kept, hops, between, ...(ends && { ends }) }
  return {
    path,
    // A blocker of a later step weighs more than what is said of the first by the same name.
    findings: dedupeById(
      judging.hasBegun ? [] : against,
      between === 'none' && steps.length > 1 ? [notWaitedFor(steps)] : [],
      kept.slice(1).flatMap((step) => step.findings.filter(isStop).map(inStep(step))),
      first,
      kept
        .slice(1)
        .flatMap((step) => step.findings.filter(({ level }) => level === 'warning').map(inStep(step))),
    ),
    said: saidOf(path, legs),
    ...(ends && { end: { before: ends.before, findings: against } }),
  }
}

const asEnd = (
  finding: Finding,
  { far, before, nearer }: { far: string; before: string; nearer: string },
): Finding => ({
  ...finding,
  summary: `the upgrade path ends at ${far}: ${before} is refused: ${finding.summary}`,
  remedy: [nearer, ...finding.remedy],
})

const isStop = ({ level }: Finding): boolean => level === 'blocker' || level === 'not-checked'

function refusedAt(step: PathStep | undefined, stops: (finding: Finding) => boolean) {
  if (step === undefined) return undefined
  return { before: step.to, findings: step.findings.filter(stops) }
}

const inStep =
  ({ to }: PathStep) =>
  (finding: Finding): Finding => ({ ...finding, summary: `step to ${to}: ${finding.summary}` })

function stepOf(
  { plan, upgradeState }: ForeseenLeg,
  manifest: LegManifest | undefined,
  { findings, releases }: { findings: readonly Finding[]; releases: Releases },
): PathStep {
  const { from = '', to, method } = plan
  const window = kubernetesWindow(to, releases)
  return {
    from,
    to: to.text,
    method,
    ...(manifest?.origin !== undefined && {
      manifest: {
        origin: manifest.origin,
        ...(manifest.sha256 !== undefined && { sha256: manifest.sha256 }),
      },
    }),
    ...(window && { kubernetes: window }),
    findings,
    vms: forecastText(upgradeState.forecast),
  }
}

function saidOf({ steps, between }: UpgradePath, legs: readonly ForeseenLeg[]): readonly string[] {
  const [first] = legs
  const releases = [steps[0]?.from, ...steps.map(({ to }) => to)].join(' → ')
  const stays = first?.upgradeState.forecast.counts.stays ?? 0
  return [
    `upgrade path: ${releases}, ${counted(steps.length, 'step')}${steps.length > 1 ? ' of one minor each' : ''}`,
    ...(steps.length < 2
      ? []
      : between === 'none'
        ? ['automatic VM updates resume between two steps; kvup does not wait for VMs']
        : [
            'automatic VM updates resume between two steps; kvup waits until no VM runs a virt-launcher more than one minor older than the next release',
            ...(stays > 0
              ? [
                  `${counted(stays, 'VM', ['does', 'do'])} not move by ${stays === 1 ? 'itself' : 'themselves'}: the run ends before the first step that ${stays === 1 ? 'it is' : 'they are'} too old for, until ${stays === 1 ? 'it is' : 'they are'} migrated or restarted`,
                ]
              : []),
          ]),
  ]
}

function foretoldOf(
  { plan, upgradeState }: ForeseenLeg,
  manifest: LegManifest | undefined,
  { snapshot, releases, at, foretold }: Judging,
): readonly Finding[] {
  const found = foretold({
    snapshot,
    installation: upgradeState.installation,
    rolloutStatus: upgradeState.rolloutStatus,
    target: plan.to,
    method: plan.method,
    releases,
    at,
    methodsAtEnd: plan.request.leavePaused ? [] : upgradeState.methods,
    ...(manifest?.objects && { manifest: manifest.objects }),
  })
  return dedupeById(plan.findings, manifest?.findings ?? [], found)
}
