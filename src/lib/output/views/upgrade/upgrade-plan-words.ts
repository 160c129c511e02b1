import type { ManifestDiff } from '../../../manifests/manifest-diff.ts'
import type { KeptValue } from '../../../engine/procedure-dry-run.ts'
import type { PathStep } from '../../../upgrade/path-procedure.ts'
import { spanText } from '../../../kube/duration.ts'
import { counted } from '../../../kube/text.ts'
import type { PlanDocument, PlannedStep } from '../../../upgrade/plan/plan-document.ts'
import { restoringLine } from '../../../engine/overrides.ts'
import { count, fenced, inlineCode, markdownText } from '../../text.ts'

/** What a page says of a step, whichever format it is in. */
interface StepWords {
  state: string
  /** A label and a text each: what is kept, how it is undone, how long it takes. */
  entries: readonly (readonly [label: string, text: string])[]
}

export function stepWords(step: PlannedStep, plan: PlanDocument): StepWords {
  return {
    state: words[step.state](step, plan),
    entries: [
      ...(step.overrides ?? []).map((kept) => ['saves', keptText(kept, plan)] as const),
      ...(step.canBeHeld ? entry('can be held', `--pause-before ${step.id}`) : []),
      ...(step.state === 'already-so' ? [] : [...riskEntries(step, plan), ...timeEntries(step)]),
    ],
  }
}

const words: { [S in PlannedStep['state']]: (step: PlannedStep, plan: PlanDocument) => string } = {
  'would-change': ({ change }) => `would change: ${change ?? ''}`,
  'already-so': () => 'already so',
  waits: ({ on, refused }) =>
    on === undefined && refused ? 'cannot go on' : `waits for ${on ?? 'the cluster'}`,
  depends: ({ dependsOn }, plan) => `after step ${numberOf(dependsOn, plan)} (no dry run possible)`,
}

function numberOf(id: string | undefined, { steps }: PlanDocument): number {
  return steps.findIndex((step) => step.id === id) + 1
}

function keptText({ override, path, value, restoredBy }: KeptValue, plan: PlanDocument): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const back =
    restoredBy === undefined
      ? `not restored by this plan: ${restoringLine(override)} does it`
      : `step ${numberOf(restoredBy, plan)} restores it`
  return `${name} (${value === undefined ? 'absent' : valueText(value)}); ${back}`
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(', ')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([key, inner]) => `${key} ${valueText(inner)}`)
    .join(', ')
}

/** Of a step that only waits: not `none` and `always`, which a person expects, nor what was said of the step before it. */
function riskEntries(step: PlannedStep, { steps }: PlanDocument): [string, string][] {
  const { undo, safeToLeave } = step.risk
  const isChange = step.state === 'would-change'
  const before = steps[steps.indexOf(step) - 1]
  return [
    ...(isChange || !['none', before?.risk.undo].includes(undo) ? entry('undo', undo) : []),
    ...(isChange || !['always', before?.risk.safeToLeave].includes(safeToLeave)
      ? entry('safe to leave', safeToLeave)
      : []),
  ]
}

const entry = (label: string, text: string): [string, string][] => [[label, text]]

function timeEntries({ time }: PlannedStep): [string, string][] {
  if (time === undefined) return []
  return entry('takes', `${rangeText(time)}, gives up after ${spanText(time.atMostSeconds * 1000)}`)
}

/** A step that ends when somebody else is through has no range. */
function rangeText({ lowSeconds, highSeconds }: { lowSeconds: number; highSeconds: number }): string {
  if (highSeconds === 0) return 'duration unknown'
  const [low, high] = [lowSeconds, highSeconds].map((seconds) => spanText(seconds * 1000))
  return low === high ? `about ${low}` : `${low} to ${high}`
}

/** What has been reached, where nothing is left to be done. */
export const whyDone = ({ pending, to }: PlanDocument): string | undefined =>
  pending ? undefined : `KubeVirt ${to} is healthy`

/** Why there is nothing to type: it is done, or it would be refused. Undefined where it may begin. */
export function whyNot(plan: PlanDocument): string | undefined {
  const done = whyDone(plan)
  if (done !== undefined) return `${done}: nothing to do`
  const stops = stopsOf(plan)
  return stops.length === 0 ? undefined : `refused as it stands: ${stops.join(', ')}`
}

/** Ids of what has to be mended, or accepted by name. */
export const stopsOf = (plan: Pick<PlanDocument, 'findings' | 'accepted'>): readonly string[] =>
  judgedFindings(plan).flatMap(({ finding, accepted }) => (accepted || !isStop(finding) ? [] : [finding.id]))

const isStop = ({ level }: PlanFinding): boolean => level === 'blocker' || level === 'not-checked'

/** A finding on a Markdown page, with what helps. */
export function findingMarkdown({ finding, accepted }: JudgedFinding): readonly string[] {
  const { id, level, summary, remedy } = finding
  const taken = accepted ? ` (${['accepted', acceptanceText(accepted)].filter(Boolean).join(', ')})` : ''
  return [
    `- **${level}** ${inlineCode(id)}${markdownText(taken)}: ${markdownText(summary)}`,
    ...(remedy.length > 0 && !accepted ? ['', ...fenced(remedy).map((line) => `  ${line}`), ''] : []),
  ]
}

/** Why it may not begin, and what to type, on a Markdown page. */
export const endMarkdown = (why: string | undefined, next: readonly string[] = []): readonly string[] => [
  ...(why === undefined ? [] : [`${markdownText(why)}.`]),
  ...(next.length > 0 ? fenced(next) : []),
]

/** Of all steps, and what it was worked out from. */
export function wholeTime({ time, steps }: PlanDocument): string {
  if (time) return `takes ${time.says}`
  const sum = steps.reduce((total, { estimate }) => total + estimate, 0)
  return `estimate ${spanText(sum)}; kvup guesses, it has not seen this cluster update yet`
}

export function dryRunText({ dryRun }: PlanDocument): string {
  const by = dryRun === 'auto' ? 'dry run, by the server where it may be asked' : `${dryRun} dry run`
  return `${by}: nothing was changed`
}

export function sealText({ at, by, cluster }: NonNullable<PlanDocument['seal']>): string {
  return `sealed ${at} by ${by} for cluster ${cluster}`
}

/** Worked out without the server although it was to be asked. */
export function isOnlyWorkedOut({ changes = [] }: PlannedStep, { dryRun }: PlanDocument): boolean {
  return dryRun !== 'client' && changes.some(({ by }) => by === 'client')
}

/** The server could not be asked; said of such a step. */
export const workedOut = 'worked out by kvup: the server may not be asked here'

type PlanFinding = PlanDocument['findings'][number]
type Acceptance = PlanDocument['accepted'][number]

export interface JudgedFinding {
  finding: PlanFinding
  accepted?: Acceptance
}

/** What stops it first, then what was accepted, then warnings and infos. */
export function judgedFindings({
  findings,
  accepted,
}: Pick<PlanDocument, 'findings' | 'accepted'>): readonly JudgedFinding[] {
  const judged = findings.map((finding): JudgedFinding => {
    const risk = accepted.find(({ id }) => id === finding.id)
    return risk === undefined ? { finding } : { finding, accepted: risk }
  })
  return judged.toSorted((a, b) => placeOf(a) - placeOf(b))
}

function placeOf({ finding: { level }, accepted }: JudgedFinding): number {
  if (accepted) return 1
  return { blocker: 0, 'not-checked': 0, warning: 2, info: 3 }[level]
}

/** `"known bug" by jane@here` */
export function acceptanceText({ reason, by }: Acceptance): string {
  return [...(reason === undefined ? [] : [`"${reason}"`]), ...(by === undefined ? [] : [`by ${by}`])].join(
    ' ',
  )
}

/** From where to where; by OLM it is HyperConverged that moves, and KubeVirt with it. */
interface Versions {
  from?: string | undefined
  to: string
  operator?: { from: string; to: string } | undefined
}

/** `KubeVirt v1.7.4 → v1.8.4`; where both are one it is said once. By OLM: `HyperConverged 1.17.3 → 1.18.1, KubeVirt v1.7.4 → v1.8.4`. */
export function hopText({ from, to, operator }: Versions, arrow = '→'): string {
  const kubevirt = from === to ? `KubeVirt ${to}` : `KubeVirt ${from ?? 'unknown'} ${arrow} ${to}`
  if (operator === undefined) return kubevirt
  const { from: before, to: after } = operator
  const moves = before === after ? `HyperConverged ${after}` : `HyperConverged ${before} ${arrow} ${after}`
  return isOfKubeVirt(to) ? `${moves}, ${kubevirt}` : moves
}

/** Where no table says which KubeVirt a release of HyperConverged brings, its own version stands in the place. */
const isOfKubeVirt = (to: string): boolean => to.startsWith('v')

/** How far it goes, where that is not the target: the first thing that is said. */
export function endText({ path }: PlanDocument): string | undefined {
  const { ends, steps = [] } = path ?? {}
  return ends && `goes as far as ${steps.at(-1)?.to ?? 'here'}: then ${ends.before} is refused: ${ends.why}`
}

/** `v1.6.6 by operator-manifest; Kubernetes 1.31 to 1.33; VMs: migrates 6` */
export function pathStepText({ to, method, kubernetes, vms, manifest }: PathStep): string {
  return [
    `${to} by ${method}${manifest ? ` from ${manifest.origin}` : ''}`,
    ...(kubernetes ? [`Kubernetes ${kubernetes.min} to ${kubernetes.max}`] : []),
    `KubeVirt ${vms}`,
  ].join('; ')
}

/** The steps of one release of the path, shown in a word: they are planned anew when its turn comes. */
interface RemainingSteps {
  text: string
}

/** Steps are shown for the first release that is ahead; what comes after is one line for each. */
export function shownSteps({ path, steps }: PlanDocument): readonly (PlannedStep | RemainingSteps)[] {
  const [, ...later] = path?.steps ?? []
  if (later.length === 0) return steps
  const hopOf = ({ id }: PlannedStep) => later.find(({ to }) => id.endsWith(`-${to}`))
  return [
    ...steps.filter((step) => hopOf(step) === undefined),
    ...later.map((step) => ({
      text: `${step.to}: ${counted(steps.filter((one) => hopOf(one) === step).length, 'step')}, planned again once KubeVirt is at ${step.from}`,
    })),
  ]
}

type Role = ManifestDiff['rights'][number]
type Crd = ManifestDiff['crds'][number]

/** A diff with its heading: the lines begin with `+`, `-` or a blank. */
export interface Headed {
  heading: string
  lines: readonly string[]
}

/** `3 objects change; new: ClusterRole a, Role b` */
export function objectsText({ objects }: ManifestDiff): string {
  const changed = objects.filter(({ is }) => is === 'changed').length
  const created = objects.filter(({ is }) => is === 'created').map(({ kind, name }) => `${kind} ${name}`)
  const parts = [
    ...(changed > 0 ? [`${count(changed, 'object')} change${changed === 1 ? 's' : ''}`] : []),
    ...(created.length > 0 ? [`new: ${created.join(', ')}`] : []),
  ]
  return parts.length === 0 ? 'nothing: it is applied already' : parts.join('; ')
}

/** Lost rights first, and of these the ones that the running operator misses. At most so many lines. */
export function rightsOf(
  { kind, role, namespace, gained, lost, narrowed = [], lostWhileRunning }: Role,
  most: number,
): Headed {
  const missed = new Set(lostWhileRunning)
  const all = [
    ...lostWhileRunning.map((right) => `- ${right} ! virt-operator loses it before it is replaced`),
    ...lost.filter((right) => !missed.has(right)).map((right) => `- ${right}`),
    ...narrowed.map((right) => `~ ${right}: in the namespace of virt-operator only from then on`),
    ...gained.map((right) => `+ ${right}`),
  ]
  const place = namespace === undefined ? role : `${namespace}/${role}`
  return {
    heading: `${kind} ${place}: gains ${gained.length}, loses ${lost.length}${narrowed.length > 0 ? `, narrows ${narrowed.length}` : ''}`,
    lines: [
      ...all.slice(0, most),
      ...(all.length > most ? [`… and ${all.length - most} more (-o yaml)`] : []),
    ],
  }
}

export function crdOf({
  name,
  versionsAdded,
  versionsRemoved,
  storageFrom,
  storageTo,
  schemas,
}: Crd): Headed {
  return {
    heading: `CustomResourceDefinition ${name}`,
    lines: [
      ...versionsRemoved.map((version) => `- version ${version}`),
      ...versionsAdded.map((version) => `+ version ${version}`),
      ...(storageFrom === undefined ? [] : [`- stored as ${storageFrom}`, `+ stored as ${storageTo ?? ''}`]),
      ...schemas.flatMap(({ version, from, to }) => [`- ${version}: ${from}`, `+ ${version}: ${to}`]),
    ],
  }
}
