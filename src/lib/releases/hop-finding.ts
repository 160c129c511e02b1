import { crdsThatGo } from './crds-that-go.ts'
import type { HopFinding } from './finding.ts'
import { type Hop, hop } from './hop.ts'
import { latestPatch } from './known-releases.ts'
import { knownReleases, type Releases } from './releases.ts'
import { type Version, compareVersions, minorOf } from './version.ts'

/** Rules of the version policy (facts 7); nothing in KubeVirt itself enforces them. Empty: the hop is supported. */
export function hopFindings(from: Version, to: Version, releases: Releases = knownReleases): HopFinding[] {
  const way: Way = { from, to, releases, ...hop(from, to, releases) }
  return [
    ...tooOld(from),
    ...downgrade(way),
    ...minorSkipped(way),
    ...majorStep(way),
    ...patchGap(way),
    ...preRelease(to),
  ]
}

interface Way extends Hop {
  from: Version
  to: Version
  releases: Releases
}

const oldest = { text: 'v0.17.0', major: 0, minor: 17, patch: 0 }

function tooOld(from: Version): HopFinding[] {
  if (compareVersions(from, oldest) >= 0) return []
  return [
    {
      id: 'from-unsupported',
      level: 'blocker',
      summary: `updates from ${from.text} are not supported: they begin with v0.17.0`,
      remedy: ['install KubeVirt anew, after the VirtualMachine objects have been exported'],
    },
  ]
}

function downgrade({ from, to, kind, releases }: Way): HopFinding[] {
  if (kind !== 'downgrade') return []
  const newest = latestPatch(minorOf(from), releases)
  const forward = newest !== undefined && compareVersions(newest, from) > 0 ? newest : undefined
  const goes = crdsThatGo(from, to)
  return [
    {
      id: 'downgrade',
      level: 'blocker',
      summary: `${to.text} is older than ${from.text}: going back is not supported, stored versions of CRDs and fields of VMs may not fit${goes === undefined ? '' : `; ${goes}`}`,
      remedy:
        forward === undefined
          ? [`stay on ${from.text}, or go forward to a newer patch of ${minorOf(from)}`]
          : [`kvup upgrade --to ${forward.text}`],
    },
  ]
}

function minorSkipped({ from, to, skipped, releases }: Way): HopFinding[] {
  if (skipped === undefined) return []
  const stops = knownStops(skipped, releases)
  const isWhole = stops.length === skipped.length
  const named = skipped.slice(0, stops.length).join(', ')
  const left = isWhole
    ? named
    : `${named && `${named} and `}releases that are not known as of ${releases.asOf}`
  const rule = isWhole ? '' : `${to.text} is judged by rule, and `
  return [
    {
      id: 'minor-skipped',
      level: 'blocker',
      summary: `from ${from.text} to ${to.text} leaves out ${left}: ${rule}only updates to the next minor are supported`,
      remedy: [
        ...[...stops, ...(isWhole ? [to] : [])].map((stop) => `kvup upgrade --to ${stop.text}`),
        ...(isWhole ? [] : ['kvup releases     what is known; newer data come with --releases FILE']),
      ],
    },
  ]
}

/** The newest patch of each minor, up to the first minor of which no release is known: nothing is made up. */
function knownStops(minors: readonly string[], releases: Releases): readonly Version[] {
  const stops = minors.map((minor) => latestPatch(minor, releases))
  const unknown = stops.indexOf(undefined)
  return stops.slice(0, unknown < 0 ? stops.length : unknown).filter((stop) => stop !== undefined)
}

function majorStep({ from, to, kind }: Way): HopFinding[] {
  if (kind !== 'major' || from.major === 0) return []
  return [
    {
      id: 'major-step',
      level: 'warning',
      summary: `${to.text} is another major version; whether ${minorOf(from)} is the last minor before it is not known`,
      remedy: [`read the release notes of ${minorOf(to)}`],
    },
  ]
}

function patchGap({ from, to, kind, releases }: Way): HopFinding[] {
  if (kind === 'patch' && to.patch - from.patch > 1) {
    return [
      gap(`only single steps between patches are promised: ${from.text} to ${to.text} leaves out some`, []),
    ]
  }
  const newest = latestPatch(minorOf(from), releases)
  const behind = newest !== undefined && compareVersions(from, newest) < 0
  if (!(kind === 'minor' || kind === 'major') || !behind) return []
  return [
    gap(
      `upstream tests the step to ${minorOf(to)} from the last patch of ${minorOf(from)}: ${newest.text} as of ${releases.asOf}, here it is ${from.text}`,
      [`kvup upgrade --to ${newest.text}`],
    ),
  ]
}

const gap = (summary: string, remedy: string[]): HopFinding => ({
  id: 'patch-skipped',
  level: 'warning',
  summary,
  remedy,
})

function preRelease(to: Version): HopFinding[] {
  if (to.prerelease === undefined) return []
  return [
    {
      id: 'pre-release',
      level: 'warning',
      summary: `${to.text} is a pre-release: no update to or from it is supported`,
      remedy: [`wait for v${to.major}.${to.minor}.${to.patch}`],
    },
  ]
}
