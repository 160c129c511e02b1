import known from './releases.json' with { type: 'json' }
import { cannotRead, messageOf, usageError } from '../kube/errors.ts'
import {
  compareVersions,
  minorOf,
  operatorMinor,
  type OperatorVersion,
  operatorVersionOf,
  releasesAmong,
  type Version,
  versionOf,
} from './release-versions.ts'

/** What is known of releases, as of a day, with its sources in it. `--releases FILE` replaces all of it. */
export interface Releases {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'Releases'
  /** YYYY-MM-DD: every answer is as of then. */
  asOf: string
  sources: readonly string[]
  /** The last minor of a major version that is over. */
  lastMinorOfMajor: Readonly<Record<string, number>>
  minors: Readonly<Record<string, Minor>>
  droppedCrdVersions: readonly CrdVersions[]
  /** What the CRDs of a group have, and store, from a minor on (facts 1.6). Absent: nothing is known of it. */
  addedCrdVersions?: readonly CrdVersions[]
  shifts: readonly Shift[]
  /** Rights that a component of the minor before has lost when the roles of this one are there and it is not replaced yet. */
  lostRights?: readonly { in: string; component: string; what: string; sources?: readonly string[] }[]
  /** Images with a tag of their own, by release: nothing outside of virt-operator tells it. */
  ownTags?: readonly { in: string; image: string; tag: string }[]
  /** Feature gates that turn on by themselves and can hurt: what they need of the nodes, and what they do in a few words. */
  newGates: readonly {
    in: string
    gate: string
    needs: { kubelet?: string; containerd?: string }
    does?: string
  }[]
  knownBad: readonly KnownBad[]
  hyperconverged: readonly HyperConvergedRelease[]
}

/** A release of HyperConverged, and what it brings (ocp 1.2). */
export interface HyperConvergedRelease {
  /** `1.18.1`. */
  version: string
  /** `v1.8.4`. */
  kubevirt: string
  /** The minor of OKD and OpenShift that it belongs to: `4.22`. */
  platform?: string
  /** Of its CRD: the version that is stored, and those that are served. */
  stores?: string
  serves?: readonly string[]
}

/** Versions of all CRDs of a group, by the minor (`v1.9`) in which they come or go. */
interface CrdVersions {
  in: string
  group: string
  versions: readonly string[]
  /** Where it is written down: pull requests of kubevirt/kubevirt. */
  sources?: readonly string[]
}

/** What virt-launcher runs VMs with, from a release of a minor on: `9.1.0-19`. */
export interface HypervisorStack {
  from: string
  qemu: string
  libvirt: string
}

interface Minor {
  /** Minors of Kubernetes, both ends included. */
  kubernetes?: readonly string[]
  hypervisor?: readonly HypervisorStack[]
  releases: Readonly<Record<string, string>>
}

export interface Shift {
  id: string
  /** A minor, or the release in which it comes. */
  in: string
  /** Releases of earlier minors that have it as well, and all that follow in their minor. */
  backports?: readonly string[]
  /** Default: warning. */
  level?: 'info' | 'warning'
  /** Id of the check that tells it; absent: the one of changed defaults. */
  check?: string
  /** Path in the KubeVirt resource; where it is set nothing changes. Absent: it concerns everybody. */
  field?: string
  /** It concerns only a KubeVirt resource that has this value at this path. */
  where?: ValueAt
  summary: string
  /** `path: value`, or a path whose value depends on what is wanted: what keeps it as it was. */
  pin?: string
  /** When `replacedBy` can be typed, where that is not before the upgrade. */
  pinAfter?: string
  /** A command, in capitals what is to be filled in. */
  command?: string
  /** Name of what a VM has that it concerns (`vmTraits`): without such a VM it is not told. */
  hits?: string
  /** Name of what a node has that it concerns (`nodeTraits`): without such a node it is not told. */
  nodes?: string
  /** With a list in `field`: the feature gates that the list decides on. Otherwise it concerns those who have one of them in featureGates. */
  gates?: readonly string[]
  /** With this gate it was so before. */
  withoutGate?: string
  /** Gates to list in featureGates in place of `gates`. */
  replacedBy?: readonly string[]
  /** Where it is written down: pull requests of kubevirt/kubevirt. */
  sources?: readonly string[]
}

interface ValueAt {
  field: string
  is: string | number | boolean
}

/** An edge that hurt somebody. `from` and `to` are minors or releases; what is absent matches all. */
export interface KnownBad {
  id: string
  from?: string
  to?: string
  toMinor?: readonly string[]
  /** A minor that the step enters or passes over. */
  enters?: string
  /** Releases that have it: from the first one, and no more in the second, where that is of the same minor. */
  affects?: readonly { from: string; until: string }[]
  /** Migrations out of a launcher before this minor into one from it on fail: whom it concerns goes by the launcher that a VM runs on, whatever is installed. */
  launchersBefore?: string
  /** Its level where KubeVirt evicts VMs that do not move by themselves. */
  withEvict?: 'blocker'
  /** It concerns VMs that were started on this kernel (`6.2`) or a later one. */
  kernel?: string
  /** Name of what a VM has that it concerns (`vmTraits`): such VMs are counted, and without one it is not told. */
  hits?: string
  /** It concerns clusters with so many running VMs, or more. */
  vmsAtLeast?: number
  /** It concerns this minor of Kubernetes and later ones: `1.36`. */
  kubernetes?: string
  /** It concerns only a KubeVirt resource that has this value at this path. */
  where?: ValueAt
  /** What to type beforehand, or when it has happened. */
  remedy?: readonly string[]
  issue: string
  summary: string
  level: 'info' | 'warning' | 'blocker'
}

export const knownReleases: Releases = known as Releases

/** Reads a file of `--releases`. Throws `usage` that names the field that is wrong. */
export function parseReleases(text: string, origin: string): Releases {
  const read = parsed(text, origin)
  const wrong = firstWrong(read)
  if (wrong === undefined) return read as unknown as Releases
  throw usageError('releases-invalid', `${origin} is no release file: ${wrong}`, {
    remedy: 'kvup releases -o json prints a valid one',
  })
}

function parsed(text: string, origin: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>
    throw new Error('it is no JSON object')
  } catch (cause) {
    throw usageError('releases-invalid', `${origin} cannot be read: ${messageOf(cause)}`, { cause })
  }
}

const lists = ['sources', 'droppedCrdVersions', 'shifts', 'newGates', 'knownBad', 'hyperconverged'] as const

function firstWrong(value: Readonly<Record<string, unknown>>): string | undefined {
  if (value['kind'] !== 'Releases' || value['apiVersion'] !== 'kvup.io/v1alpha1')
    return 'apiVersion and kind are not kvup.io/v1alpha1 Releases'
  if (typeof value['asOf'] !== 'string' || !/^\d{4}-\d\d-\d\d$/u.test(value['asOf']))
    return 'asOf is no day such as 2026-08-22'
  const list =
    lists.find((name) => !Array.isArray(value[name])) ??
    optionalLists.find((name) => value[name] !== undefined && !Array.isArray(value[name]))
  if (list !== undefined) return `${list} is no list`
  return wrongMinor(value['minors'])
}

const optionalLists = ['addedCrdVersions'] as const

function wrongMinor(minors: unknown): string | undefined {
  if (typeof minors !== 'object' || minors === null) return 'minors is no object'
  for (const [name, minor] of Object.entries(minors as Record<string, Partial<Minor>>)) {
    if (!/^v\d+\.\d+$/u.test(name)) return `minors.${name} is not named as v1.8`
    const bad = Object.keys(minor.releases ?? {}).find(
      (release) => !release.startsWith(`${name}.`) || versionOf(release) === undefined,
    )
    if (bad !== undefined) return `minors.${name}.releases.${bad} is no release of it`
    if (minor.kubernetes !== undefined && minor.kubernetes.length !== 2)
      return `minors.${name}.kubernetes is not a pair such as ["1.33", "1.35"]`
  }
  return undefined
}

/** Every release, the oldest first. */
export const allReleases = ({ minors }: Releases): readonly Version[] =>
  releasesAmong(Object.values(minors).flatMap(({ releases }) => Object.keys(releases)))

/** The last minor of a major version that is over; undefined while it goes on. */
export const lastMinorOf = (major: number, releases: Releases = knownReleases): number | undefined =>
  releases.lastMinorOfMajor[String(major)]

/** The newest minor of a major version that is known. */
export const newestMinorOf = (major: number, releases: Releases = knownReleases): number | undefined =>
  allReleases(releases).findLast((version) => version.major === major)?.minor

/** The newest patch of a minor (`v1.8`) that is known. */
export const latestPatch = (minor: string, releases: Releases = knownReleases): Version | undefined =>
  releasesAmong(Object.keys(releases.minors[minor]?.releases ?? {})).at(-1)

/** `v1.99.0 is not a KubeVirt release that kvup knows; the newest it knows is v1.9.0`; undefined of one that it knows. */
export function unknownRelease(to: Version, releases: Releases): string | undefined {
  const minor = minorOf(to)
  if (releases.minors[minor]?.releases[to.text] !== undefined) return undefined
  const patch = latestPatch(minor, releases)
  const newest = allReleases(releases).at(-1)
  if (newest === undefined) return `${to.text} is not a KubeVirt release that kvup knows`
  const best = patch === undefined ? `it knows is ${newest.text}` : `${minor} it knows is ${patch.text}`
  return `${to.text} is not a KubeVirt release that kvup knows; the newest ${best}`
}

/** What virt-launcher of this release runs VMs with; undefined where it is not known. */
export const hypervisorOf = (version: Version, { minors }: Releases): HypervisorStack | undefined =>
  minors[minorOf(version)]?.hypervisor?.findLast(({ from }) => {
    const first = versionOf(from)
    return first !== undefined && compareVersions(first, version) <= 0
  })

/** Minors of Kubernetes, both ends included. */
export interface KubernetesWindow {
  min: string
  max: string
  /** False: by the rule that each minor of KubeVirt moves the window by one. */
  known: boolean
}

/** What a release supports (facts 7). Undefined where neither table nor rule reaches: before v0.59, after v1. */
export function kubernetesWindow(
  version: Version,
  releases: Releases = knownReleases,
): KubernetesWindow | undefined {
  const [min, max] = releases.minors[minorOf(version)]?.kubernetes ?? []
  if (min !== undefined && max !== undefined) return { min, max, known: true }
  if (version.major !== 1) return undefined
  return { min: `1.${version.minor + 25}`, max: `1.${version.minor + 27}`, known: false }
}

/** Distributions of HyperConverged: the upstream one bears 1.y.z, that of OpenShift the version of the platform (ocp 1.2). */
export type OperatorLine = 'upstream' | 'openshift'

export const lineOf = ({ major }: Pick<OperatorVersion, 'major'>): OperatorLine =>
  major < 4 ? 'upstream' : 'openshift'

/** The row of exactly this operator; OpenShift's own patch releases are in no table. */
export const releaseOfOperator = (
  { text }: Pick<OperatorVersion, 'text'>,
  { hyperconverged }: Pick<Releases, 'hyperconverged'>,
): HyperConvergedRelease | undefined => hyperconverged.find(({ version }) => version === text)

/** The operators that bring exactly this KubeVirt (`v1.8.4`), in the order of the table: the newest last. */
export const operatorsBringing = (
  kubevirt: string,
  { hyperconverged }: Pick<Releases, 'hyperconverged'>,
): readonly string[] =>
  hyperconverged.filter((row) => row.kubevirt === kubevirt).map(({ version }) => version)

/**
 * The platform minor that an operator belongs to, `4.18` (night E8): on OpenShift its own, upstream by the table, and beyond it
 * by nothing: undefined.
 */
export function platformOfOperator(
  operator: OperatorVersion,
  { hyperconverged }: Pick<Releases, 'hyperconverged'>,
): string | undefined {
  if (lineOf(operator) === 'openshift') return operatorMinor(operator)
  const minor = operatorMinor(operator)
  return hyperconverged.find(({ version }) => minorOfText(version) === minor)?.platform
}

function minorOfText(text: string): string | undefined {
  const version = operatorVersionOf(text)
  return version && operatorMinor(version)
}

/** The built-in release data, or those of a file. Throws `usage` for one that cannot be read or is no release file. */
export async function readReleases(
  { readText }: { readText: (file: string) => Promise<string> },
  file?: string,
): Promise<Releases> {
  if (file === undefined) return knownReleases
  const unread = cannotRead('releases-unread', `the release file ${file}`, 'kvup releases -o json prints one')
  const text = await readText(file).catch(unread)
  return parseReleases(text, file)
}
