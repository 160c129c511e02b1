import { commandOf, takesRisk } from '../kube/shell-line.ts'
import { isRecord, type KubeObject } from '../kube/object.ts'
import type { FullSnapshot, SnapshotPart } from '../kubevirt/full-snapshot.ts'
import type { Installation } from '../kubevirt/installation.ts'
import type { RolloutStatus } from '../kubevirt/rollout-status.ts'
import { type AcceptedRisk, type HopFinding, type Method, unaccepted } from '../releases/hop-findings.ts'
import type { KnownBad, Releases } from '../releases/releases.ts'
import { minorNumber, minorOf, type Version, versionOf } from '../releases/release-versions.ts'
import { type Path, pathTo } from '../releases/release-path.ts'
import type { ServerVersion } from '../kube/cluster.ts'
import { emptyTally, type InstanceTally, type Named } from '../kubevirt/snapshot.ts'
import { itemsOf } from '../kube/known.ts'
import { explanations, isRefusal } from './explanations.ts'
import { blocked, ownLine, unreachable } from '../kube/errors.ts'
import { counted, someOf } from '../kube/text.ts'
import type { LayerPart, LayerParts } from '../openshift/layer-parts.ts'
import { traitNames } from '../kubevirt/vm-traits.ts'

/** In the order in which they are printed. */
const groups = [
  'path',
  'installation',
  'operator',
  'platform',
  'rights',
  'machinery',
  'nodes',
  'workloads',
  'backup',
] as const
export type Group = (typeof groups)[number]

/** KubeVirt, and of the layers above and below it those that this cluster has and that were looked at. */
export type CheckedSnapshot = FullSnapshot & Partial<LayerParts>

/** The name of a part, for a check's needs. */
export type NeededPart = SnapshotPart | LayerPart

/** Whoever has none of them is not judged by what only they have: `olm` is a Subscription of HyperConverged, `operator` HyperConverged itself. */
export type CheckedLayer = 'platform' | 'operator' | 'olm'

/** All that a check is judged by; no cluster, no clock. */
export interface Question {
  snapshot: CheckedSnapshot
  installation: Installation
  rolloutStatus: RolloutStatus
  /** Absent: `kvup check` without --to; checks that need a target pass over it (`needsTarget`). */
  target?: Version
  /** Why there is no one target although a version was asked about. */
  noOneTarget?: string
  /** How it would be done. */
  method?: Method
  releases: Releases
  /** The line that asked, for one that asks again with more; absent where a plan asks. */
  asked?: string
  /** The target's operator manifest, where it was given or may be fetched. */
  manifest?: readonly KubeObject[]
  /** A flag names where the manifest is: a person says that there is such a release. */
  isManifestNamed?: boolean
  /** That it could not be fetched. */
  manifestUnread?: Finding
  at: Date
  /** By how many ms this machine's clock is ahead of the cluster's; absent where they agree, and of a saved cluster. */
  ahead?: number
  /** It was read from a file. */
  isSaved?: true
  /** An upgrade by kvup that ended early: what became of it in a sentence, and the lines that continue it or leave it. */
  unfinished?: { sentence: string; remedy: readonly string[] } | undefined
  /** What the plan says of VMs that KubeVirt evicts once automatic VM updates resume. */
  evicted?: readonly Finding[]
  /** The update methods that are in effect at the end, none where VM updates stay paused; absent: those of the KubeVirt. */
  methodsAtEnd?: readonly string[]
  /** The line that upgrades and leaves VM updates paused, where there is one. */
  leavingPaused?: string
}

export interface Check {
  /** Also the --accept name, the heading in docs/checks.md and what `kvup explain` takes. */
  readonly id: string
  /** Ids of its findings, where they are not its own: each is a name to accept, and a heading. `any`: the release data names them. */
  readonly findings?: readonly string[] | 'any'
  readonly group: Group
  /** A sentence that is true when it passes. */
  readonly title: string
  /** What was not done where it could not be made, as a clause: `permissions were not compared`. Why not follows behind a colon. */
  readonly unchecked: string
  /** An unknown need makes it `not-checked`. */
  readonly needs: readonly NeededPart[]
  /** What it needs besides, of this hop and this cluster. */
  readonly alsoNeeds?: (question: Question) => readonly NeededPart[]
  /** Layers without which it is not made, and not told of. */
  readonly layers?: readonly CheckedLayer[]
  /** What helps where it is not checked, in place of a right to read or a snapshot that holds all. */
  readonly toSee?: (question: Question) => readonly string[]
  /** What is missing inside of its needs, or beside them, so that nothing found is no pass; undefined where all is there. Pure. */
  lacks?(question: Question): string | undefined
  readonly needsTarget?: true
  /** Made only where images were tried (`--probe-images`). */
  readonly needsProbes?: true
  /** What the public runbook of it is called, where kubevirt/monitoring has one. */
  readonly runbook?: string
  /** Whether a `not-checked` of it blocks: true where the check can block. */
  readonly blocks: boolean
  /** Pure; empty is a pass. */
  assess(question: Question): readonly Finding[]
}

/** What a check found; declared in releases, which knows of nothing above it. */
export type Finding = HopFinding

/** A finding in the row of its check, whose id it has unless it names another. */
export type Found = Omit<Finding, 'id'> & { id?: string }

/** What one row says: nothing, a finding, or several. */
type Answer = Found | undefined | readonly Answer[]

interface CheckRow extends Omit<Check, 'assess' | 'blocks' | 'id' | 'group'> {
  readonly blocks?: true
  assess(question: Question): Answer
}

/** Makes checks of rows of the table of a group. */
export const checksOf =
  (group: Group) =>
  (id: string, row: CheckRow): Check => ({
    blocks: false,
    id,
    group,
    ...row,
    assess: (question) => listed(row.assess(question), id),
  })

function listed(answer: Answer, id: string): readonly Finding[] {
  if (answer === undefined) return []
  return 'level' in answer ? [{ id, ...answer }] : answer.flatMap((one) => listed(one, id))
}

/** From what is installed completely to what is asked for; undefined where either is missing. */
export function hopOf({ rolloutStatus, target }: Question): { from: Version; to: Version } | undefined {
  const from = versionOf(rolloutStatus.observed.version)
  return from === undefined || target === undefined ? undefined : { from, to: target }
}

/** The way from what is installed to that version, with the steps of Kubernetes in between; undefined where nothing was ever installed completely. */
export function pathFromHere(to: Version, { rolloutStatus, snapshot, releases }: Question): Path | undefined {
  const from = versionOf(rolloutStatus.observed.version)
  if (from === undefined) return undefined
  const runs = kubernetesMinor(snapshot.serverVersion)
  return pathTo(from, to, runs === undefined ? undefined : `1.${runs}`, releases)
}

/** Its steps as lines to type; or why there is no way, and what comes nearest. */
export function hopPath(
  to: Version,
  question: Question,
  otherwise: readonly string[] = [],
): readonly string[] {
  const path = pathFromHere(to, question)
  if (path === undefined) return []
  if (path.is === 'none') return [`no supported upgrade path: ${path.why}`, ...otherwise]
  return path.steps.map((step) =>
    step.is === 'kubevirt'
      ? `kvup upgrade --to ${step.to}`
      : `upgrade Kubernetes to ${step.to} (${step.why})`,
  )
}

/** Why nothing can be said of the hop: there is no release to come from, or the release data do not know the minor to go to. */
export const lacksHop = (question: Question): string | undefined =>
  lacksVersion(question) ?? lacksRelease(question)

/** Why nothing can be said of the target by the release data. */
export function lacksRelease({
  target,
  releases,
}: Pick<Question, 'target' | 'releases'>): string | undefined {
  const isKnown = target === undefined || releases.minors[minorOf(target)] !== undefined
  return isKnown ? undefined : `the release data of ${releases.asOf} do not contain ${minorOf(target)}`
}

/** Why nothing can be said of what is installed. */
export const lacksVersion = ({ rolloutStatus }: Pick<Question, 'rolloutStatus'>): string | undefined =>
  versionOf(rolloutStatus.observed.version) === undefined
    ? 'no version was ever completely installed'
    : undefined

/** 35 of `v1.35.4+k3s1`: `minor` is `35+` on some providers. */
export function kubernetesMinor(version: ServerVersion | undefined): number | undefined {
  const found = /^v?\d+\.(\d+)/u.exec(version?.gitVersion ?? '')?.[1]
  return found === undefined ? undefined : Number(found)
}

/** What a known issue or a change of a release asks of a cluster before it concerns it. */
type Concern = Pick<KnownBad, 'hits' | 'vmsAtLeast' | 'kubernetes' | 'where'>

/** What is said of whom an issue or a change concerns, behind its summary; undefined where it concerns nobody here. */
export function concerned(
  concern: Concern,
  question: Pick<Question, 'snapshot' | 'installation'>,
): { text: string; objects?: readonly string[] } | undefined {
  const { where } = concern
  if (where !== undefined && valueIn(question.installation.kubevirt, where.field) !== where.is)
    return undefined
  const kubernetes = concernsKubernetes(concern, question)
  if (kubernetes === undefined) return undefined
  const vms = concernedVms(concern, question)
  return vms && { ...vms, text: `${kubernetes}${vms.text}` }
}

function concernsKubernetes(
  { kubernetes }: Concern,
  { snapshot }: Pick<Question, 'snapshot'>,
): string | undefined {
  if (kubernetes === undefined) return ''
  const runs = kubernetesMinor(snapshot.serverVersion)
  if (runs === undefined) return `; it applies from Kubernetes ${kubernetes} on, and this version is unknown`
  return runs < minorNumber(kubernetes) ? undefined : ''
}

function concernedVms(
  { hits, vmsAtLeast }: Concern,
  { snapshot: { instances } }: Pick<Question, 'snapshot'>,
): { text: string; objects?: readonly string[] } | undefined {
  if (hits === undefined && vmsAtLeast === undefined) return { text: '' }
  if (!instances.known) return unknownVms(instances.why)
  const [tally] = instances.items
  if (tally === undefined) return unknownVms('none were read')
  if (vmsAtLeast !== undefined)
    return tally.running < vmsAtLeast
      ? undefined
      : { text: `; ${counted(tally.running, 'VM', ['runs', 'run'])} here` }
  const trait = traitNames.find((name) => name === hits)
  if (trait === undefined) return unknownVms(`kvup knows no trait ${hits}`)
  const found = tally.traits[trait]
  return found && affected(found)
}

/** As `concerned` says it. */
export const affected = ({ count, names }: Named) => ({
  text: `; it affects ${counted(count, 'running VM')} here (${someOf(names, count)})`,
  objects: names,
})

const unknownVms = (why: string) => ({ text: `; kvup does not know which VMs it affects: ${why}` })

/** What lies at a dotted path (`spec.configuration.vmRolloutStrategy`); undefined where there is nothing, or null. */
export function valueIn(object: unknown, path: string): unknown {
  const found = path.split('.').reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), object)
  return found ?? undefined
}

/** The tally of all VMIs; only for checks that need `instances`. */
export function instancesOf({ snapshot }: Pick<Question, 'snapshot'>): InstanceTally {
  return itemsOf(snapshot.instances)[0] ?? emptyTally()
}

/** The id of the override that pauses workload updates. */
const override = 'workload-updates'

/** Whether kvup has borrowed the workload update methods: empty as they are now, they come back at the end of its run (contract "Temporary changes"). */
export const isPausedByKvup = ({ overrides }: FullSnapshot): boolean =>
  itemsOf(overrides ?? { known: true, items: [] }).some(({ id }) => id === override)

/** How risks are taken by name, with the flags of the command itself unless it says otherwise. */
export type Accepting = (ids: readonly string[], risks: readonly Pick<Finding, 'summary'>[]) => string

const byFlags: Accepting = (ids) => `to accept: ${ids.map((id) => `--accept ${id}`).join(' ')}`

/** A name that `--accept` does not take: what kvup would write would not last. */
const isRefused = (id: string): boolean => explanations.some((one) => one.id === id && isRefusal(one))

/** Whether to accept it is no way on: it is refused, or the upgrade would not end. What is typed by hand may know better: a node may be back in an hour. */
export const isNotOffered = ({ id, standsAt }: Pick<Finding, 'id' | 'standsAt'>): boolean =>
  standsAt !== undefined || isRefused(id)

/** Throws `unreachable` where only a manifest that could not be fetched is in the way, else `blocked` (exit 3) with every blocker that was not accepted, each with its remedy. How to accept them is said only where that is enough. */
export function passGate(
  findings: readonly Finding[],
  accepted: readonly AcceptedRisk[],
  accepting: Accepting = byFlags,
): void {
  const all = openFindings(findings, accepted)
  const [first] = all
  if (!first) return
  ensureFetched(all)
  const ids = all.map(({ id }) => id)
  const given = all.flatMap(({ remedy }) => remedy)
  const mends = given.filter((line) => !takesRisk(line, ids))
  const paths = all.some(isNotOffered) ? [] : [accepting(ids, all)]
  // The whole line accepts these risks: without what was typed besides, they are not offered once more.
  const further = given.filter(
    (line) =>
      takesRisk(line, ids) &&
      !all.some(isNotOffered) &&
      !(paths[0]?.startsWith('kvup ') && ids.some((id) => commandOf(line).endsWith(`--accept ${id}`))),
  )
  throw blocked(first.id, all.map(({ id, summary }) => ownLine(`${summary} (${id})`)).join('\n  '), {
    ...(first.objects && { object: first.objects.join(', ') }),
    remedy: [...new Set([...(mends.length > 0 ? mends : [explainLine(first.id)]), ...further, ...paths])],
  })
}

/** The same behind a plan, which has each finding and what helps already. `isShown`: a page, whose next line says what to do. */
export function passGateOfPlan(
  findings: readonly Finding[],
  accepted: readonly AcceptedRisk[],
  { command, accepting, isShown = false }: { command: string; accepting: Accepting; isShown?: boolean },
): void {
  const all = openFindings(findings, accepted)
  const [first] = all
  if (!first) return
  const ids = all.map(({ id }) => id)
  const throwing = isUnfetched(first) ? unreachable : blocked
  throw throwing(
    isUnfetched(first) ? unfetched : first.id,
    `${command} would be refused because of ${all.length === 1 ? 'this finding' : `these ${all.length} findings`} (${ids.join(', ')})`,
    {
      remedy: [
        ...(isShown ? [] : [explainLine(first.id)]),
        ...(all.some(isNotOffered) ? [] : [accepting(ids, all)]),
      ],
    },
  )
}

const unfetched = 'manifest-unreachable'

/** Its manifest could not be fetched; of no other finding that is open. */
const isUnfetched = ({ id }: Finding): boolean => id === 'manifest-not-read'

/** What nobody accepted; a manifest that could not be fetched last, for what the cluster forbids weighs more. */
const openFindings = (findings: readonly Finding[], accepted: readonly AcceptedRisk[]): readonly Finding[] =>
  unaccepted(findings, accepted).toSorted((a, b) => Number(isUnfetched(a)) - Number(isUnfetched(b)))

/** Throws `unreachable` where nothing but a manifest that could not be fetched is in the way of what was asked. */
export function ensureFetched(findings: readonly Finding[], accepted: readonly AcceptedRisk[] = []): void {
  const [first] = openFindings(findings, accepted)
  if (first && isUnfetched(first)) throw unreachable(unfetched, first.summary, { remedy: first.remedy })
}

const explainLine = (id: string): string => `kvup explain ${id}     what it means, and how to fix it`

/** A newline in it is the cluster's, and not the end of a finding. */
