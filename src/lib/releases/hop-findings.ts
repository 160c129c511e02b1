import { type Hop, hop, reaches } from './release-path.ts'
import { knownReleases, latestPatch, type Releases, unknownRelease } from './releases.ts'
import { compareVersions, minorOf, type Version, versionOf } from './release-versions.ts'

/** What was found before anything is done. `id` is also what `--accept` takes; the remedy is what to type next. */
export interface HopFinding {
  id: string
  level: 'info' | 'warning' | 'blocker' | 'not-checked'
  summary: string
  remedy: readonly string[]
  objects?: readonly string[]
  /** Where an upgrade would stand still until this is mended: `virt-handler on worker-1`. It cannot succeed before, so to accept it is not offered. */
  standsAt?: string
  /** Of a release that its manifest proves and the release data do not know: their date, `2026-08-22`. */
  newerThan?: string
}

/** What a rule that found one thing says. */
export const warning = ({ id, ...rest }: Omit<HopFinding, 'level'>): readonly HopFinding[] => [
  { id, level: 'warning', ...rest },
]

/** The same, of what an upgrade is refused for unless it is accepted by name. */
export const blocker = ({ id, ...rest }: Omit<HopFinding, 'level'>): readonly HopFinding[] => [
  { id, level: 'blocker', ...rest },
]

/** Rules of the version policy (facts 7); nothing in KubeVirt itself enforces them. Empty: the hop is supported. */
export function hopFindings(from: Version, to: Version, releases: Releases = knownReleases): HopFinding[] {
  const path: ParsedHop = { from, to, releases, ...hop(from, to, releases) }
  return [tooOld, downgrade, minorSkipped, majorStep, patchGap, preRelease].flatMap((rule) => rule(path))
}

interface ParsedHop extends Hop {
  from: Version
  to: Version
  releases: Releases
}

const oldest = { text: 'v0.17.0', major: 0, minor: 17, patch: 0 }

const tooOld = ({ from }: ParsedHop): readonly HopFinding[] =>
  compareVersions(from, oldest) >= 0
    ? []
    : blocker({
        id: 'from-unsupported',
        summary: `updates from ${from.text} are not supported: KubeVirt supports updates from v0.17.0 on`,
        remedy: ['export the VirtualMachine objects, then reinstall KubeVirt'],
      })

function downgrade({ from, to, kind, releases }: ParsedHop): readonly HopFinding[] {
  if (kind !== 'downgrade') return []
  const newest = latestPatch(minorOf(from), releases)
  const goes = crdsThatGo(from, to)
  return blocker({
    id: 'downgrade',
    summary: `${to.text} is older than ${from.text}: KubeVirt does not support downgrades, and stored CRD versions or VM fields may not fit${goes === undefined ? '' : `; ${goes}`}`,
    remedy:
      newest === undefined || compareVersions(newest, from) <= 0
        ? [`Keep ${from.text}, or upgrade to a newer patch of ${minorOf(from)}`]
        : [
            `Keep ${from.text}`,
            `kvup upgrade --to ${newest.text}     goes forward instead, to the newest patch of ${minorOf(from)}`,
          ],
  })
}

function minorSkipped({ from, to, skipped, releases }: ParsedHop): readonly HopFinding[] {
  if (skipped === undefined) return []
  const stops = knownStops(skipped, releases)
  const isWhole = stops.length === skipped.length
  const named = skipped.slice(0, stops.length).join(', ')
  const left = isWhole
    ? named
    : `${named && `${named} and `}releases that are not known as of ${releases.asOf}`
  // It may be mistyped.
  const unknown = isWhole ? undefined : unknownRelease(to, releases)
  const lead = unknown === undefined ? '' : `${unknown}. `
  const rule = isWhole ? '' : `${to.text} is judged by rule, and `
  return blocker({
    id: 'minor-skipped',
    summary: `${lead}${from.text} to ${to.text} skips ${left}: ${rule}KubeVirt supports only one minor at a time`,
    remedy: [
      ...[...stops, ...(isWhole ? [to] : [])].map((stop) => `kvup upgrade --to ${stop.text}`),
      ...(isWhole
        ? []
        : ['kvup releases     lists the releases that kvup knows; --releases FILE adds newer ones']),
    ],
  })
}

/** The newest patch of each minor, up to the first minor of which no release is known: nothing is made up. */
function knownStops(minors: readonly string[], releases: Releases): readonly Version[] {
  const stops = minors.map((minor) => latestPatch(minor, releases))
  const unknown = stops.indexOf(undefined)
  return stops.slice(0, unknown < 0 ? stops.length : unknown).filter((stop) => stop !== undefined)
}

const majorStep = ({ from, to, kind }: ParsedHop): readonly HopFinding[] =>
  kind !== 'major' || from.major === 0
    ? []
    : warning({
        id: 'major-step',
        summary: `${to.text} is another major version; kvup does not know whether ${minorOf(from)} is the last minor before it`,
        remedy: [`read the release notes of ${minorOf(to)}`],
      })

function patchGap({ from, to, kind, releases }: ParsedHop): readonly HopFinding[] {
  if (kind === 'patch' && to.patch - from.patch > 1) {
    const summary = `KubeVirt promises only single steps between patches: ${from.text} to ${to.text} skips some`
    return warning({ id: 'patch-skipped', summary, remedy: [] })
  }
  const newest = latestPatch(minorOf(from), releases)
  const behind = newest !== undefined && compareVersions(from, newest) < 0
  if (!(kind === 'minor' || kind === 'major') || !behind) return []
  return warning({
    id: 'patch-skipped',
    summary: `KubeVirt tests upgrades to ${minorOf(to)} only from ${newest.text} (latest as of ${releases.asOf}); this cluster runs ${from.text}`,
    remedy: [`kvup upgrade --to ${newest.text}`],
  })
}

const preRelease = ({ to }: ParsedHop): readonly HopFinding[] =>
  to.prerelease === undefined
    ? []
    : warning({
        id: 'pre-release',
        summary: `${to.text} is a pre-release: no update to or from it is supported`,
        remedy: [`wait for v${to.major}.${to.minor}.${to.patch}`],
      })

/**
 * What the end of a way back takes away besides: at the end of every roll, forward or back, virt-operator deletes what its install strategy does not hold, CRDs
 * among it (kubevirt facts 2.5, step 15; pkg/virt-operator/resource/apply/reconcile.go, deleteObjectsNotInInstallStrategy). Undefined between patches of one
 * minor, which have the same CRDs.
 */
export function crdsThatGo(from: Version, to: Version): string | undefined {
  if (minorOf(from) === minorOf(to)) return undefined
  return `virt-operator then deletes the CRDs that ${to.text} does not have, with all their objects`
}

/** The same at the end of a line that goes back; empty where nothing is taken away, or where it is not known. */
export function lossBehind(from: Version | undefined, to: Version | undefined): string {
  if (from === undefined || to === undefined || crdsThatGo(from, to) === undefined) return ''
  return `; CRDs that ${to.text} lacks are deleted, with all their objects`
}

/** Versions of the CRDs of a group that a release does not have yet. */
export interface LaterCrdVersions {
  group: string
  versions: readonly string[]
  /** The minor that brings them, and stores them: `v1.9`. */
  since: string
}

/**
 * What the CRDs of later releases store and those of this one do not have; with `upTo` only as far as that release. The earliest first, and pure.
 * An API server that has once stored such a version refuses the CRD of this release (facts 1.6).
 */
export const laterCrdVersions = (
  release: Version,
  { addedCrdVersions = [] }: Pick<Releases, 'addedCrdVersions'>,
  upTo?: Version,
): readonly LaterCrdVersions[] =>
  addedCrdVersions
    .filter((added) => !reaches(release, added.in) && (upTo === undefined || reaches(upTo, added.in)))
    .toSorted((a, b) => byMinor(a.in, b.in))
    .map(({ group, versions, in: since }) => ({ group, versions, since }))

function byMinor(a: string, b: string): number {
  const [one, other] = [a, b].map((minor) => versionOf(`${minor}.0`))
  return one && other ? compareVersions(one, other) : 0
}

export type Method = 'image-tag' | 'operator-manifest' | 'olm'

/** May this operator be asked for that version by this method? Facts 2.2, night U2, lab README 13. */
export function operatorRule(operator: Version, target: Version, method: Method): readonly HopFinding[] {
  if (method === 'olm') return []
  return method === 'operator-manifest'
    ? operatorGoesBack(operator, target)
    : [...operatorOlder(operator, target), ...wrongStrategy(operator, target)]
}

/** A target operator before v1.7 would run the wrong strategy Job for another tag that is pinned (night U2). */
export function pinnedTagRule(pinned: Version, target: Version): readonly HopFinding[] {
  if (!runsOwnStrategy(target) || compareVersions(pinned, target) === 0) return []
  return blocker({
    id: 'pinned-tag',
    summary: `imageTag ${pinned.text} is still pinned: operator ${target.text} would install the images of ${pinned.text} with the rights and objects of ${target.text}`,
    remedy: [
      'remove imageTag from the KubeVirt resource first, so that the operator installs its own version',
    ],
  })
}

/** Operators of v0.59 to v1.6 run their own image as strategy Job whatever the tag says (facts 2.2). */
const runsOwnStrategy = ({ major, minor }: Version): boolean =>
  (major === 0 && minor >= 59) || (major === 1 && minor < 7)

function operatorOlder(operator: Version, target: Version): readonly HopFinding[] {
  if (compareVersions(operator, target) >= 0) return []
  const patchOnly = operator.major === target.major && operator.minor === target.minor
  return (patchOnly ? warning : blocker)({
    id: 'operator-not-older',
    summary: patchOnly
      ? `operator ${operator.text} is a patch older than ${target.text}: upstream does not test this, because the operator's code and CRD are older`
      : `operator ${operator.text} is a minor older than ${target.text}: it lacks permissions to grant the new rights, so KubeVirt stalls with Available=False`,
    remedy: [byManifest(target)],
  })
}

const wrongStrategy = (operator: Version, target: Version): readonly HopFinding[] =>
  !runsOwnStrategy(operator) || compareVersions(operator, target) === 0
    ? []
    : blocker({
        id: 'operator-runs-own-strategy',
        summary: `operators v0.59 to v1.6 install any images with their own rights and objects: ${operator.text} can only install ${operator.text}`,
        remedy: [byManifest(target)],
      })

const operatorGoesBack = (operator: Version, target: Version): readonly HopFinding[] =>
  compareVersions(operator, target) <= 0
    ? []
    : blocker({
        id: 'operator-goes-back',
        summary: `operator ${operator.text} is newer than ${target.text}: the manifest would downgrade the operator and the KubeVirt CRD`,
        remedy: [`kvup upgrade --to ${target.text} --method image-tag`],
      })

const byManifest = (target: Version) => `kvup upgrade --to ${target.text} --method operator-manifest`

/** A risk that a person took by its name: `--accept ID` or `--accept ID=reason`. */
export interface AcceptedRisk {
  id: string
  reason?: string
}

export const parseAccepted = (words: readonly string[]): readonly AcceptedRisk[] =>
  words.map((word) => {
    const at = word.indexOf('=')
    return at < 0 ? { id: word } : { id: word.slice(0, at), reason: word.slice(at + 1) }
  })

/** The blockers that nobody accepted. A check that could not be made blocks as well. */
export function unaccepted(
  findings: readonly HopFinding[],
  accepted: readonly AcceptedRisk[],
): readonly HopFinding[] {
  const taken = new Set(accepted.map(({ id }) => id))
  return findings.filter(
    ({ id, level }) => (level === 'blocker' || level === 'not-checked') && !taken.has(id),
  )
}

/** Whether `passGate` throws: what is planned would be refused. */
export const isBlocked = (findings: readonly HopFinding[], accepted: readonly AcceptedRisk[]): boolean =>
  unaccepted(findings, accepted).length > 0
