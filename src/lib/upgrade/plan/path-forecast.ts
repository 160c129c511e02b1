import type { CommandContext } from '../../kube/world.ts'
import type { Finding } from '../../checks/check-definition.ts'
import { manifestSource, originOf } from '../../manifests/manifest-source.ts'
import { candidatesIn, hop, releasesLeft } from '../../releases/release-path.ts'
import { latestPatch, type Releases } from '../../releases/releases.ts'
import { minorOf, type Version, versionOf } from '../../releases/release-versions.ts'
import { usageError } from '../../kube/errors.ts'
import { shellWord } from '../../kube/shell-line.ts'
import {
  chooseMethod,
  makePlan,
  type UpgradeState,
  type UpgradePlan,
  type UpgradeRequest,
} from '../upgrade-plan.ts'
import { enteredNow, observedAfter } from '../path-procedure.ts'
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

interface Question {
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
export async function foreseePath(question: Question): Promise<Foreseen | undefined> {
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
  { request: { via, to }, upgradeState, releases, isResumed }: Question,
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
  question: Question,
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

/** What is asked for at the end is of the last step alone. */
function ofLeg(request: UpgradeRequest, to: Version, isLast: boolean): UpgradeRequest {
  const { via: _, ...asked } = request
  return isLast ? asked : { ...asked, to, leaveHeld: false, waitWorkloads: false }
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
          : 'leave it out: each step saves what it replaces in kvup-backup-VERSION.yaml',
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
  { cx, options, request, upgradeState, releases }: Question,
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
      '--via names the releases between by hand; newer data come with --releases FILE',
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
    `no manifest of ${minor} is there: ${file}, or that of an earlier patch, is missing`,
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
