import { formatDuration } from '../../system/duration.ts'
import type { KeptValue } from '../../procedure/rehearse.ts'
import type { PlanDocument, PlannedStep } from './upgrade-plan-document.ts'

/** What a page says of a step, whichever format it is in. */
export interface StepWords {
  state: string
  /** A label and a text each: what is kept, how it is undone, how long it takes. */
  entries: readonly (readonly [label: string, text: string])[]
}

export function stepWords(step: PlannedStep, plan: PlanDocument): StepWords {
  return {
    state: words[step.state](step, plan),
    entries: [
      ...(step.keeps ?? []).map((kept) => ['keeps', keptText(kept, plan)] as const),
      ...(step.state === 'already-so' ? [] : [...riskEntries(step, plan), ...timeEntries(step)]),
    ],
  }
}

const words: { [S in PlannedStep['state']]: (step: PlannedStep, plan: PlanDocument) => string } = {
  'would-change': ({ change }) => `would change: ${change ?? ''}`,
  'already-so': () => 'already so',
  waits: ({ on, refused }) =>
    on === undefined && refused ? 'cannot go on' : `waits for ${on ?? 'the cluster'}`,
  depends: ({ dependsOn }, plan) => `depends on step ${numberOf(dependsOn, plan)}, cannot be rehearsed`,
}

function numberOf(id: string | undefined, { steps }: PlanDocument): number {
  return steps.findIndex((step) => step.id === id) + 1
}

function keptText({ path, value, givenBackBy }: KeptValue, plan: PlanDocument): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const back =
    givenBackBy === undefined
      ? 'not given back by this plan: kvup workloads restore does it'
      : `given back by step ${numberOf(givenBackBy, plan)}`
  return `${name} ${value === undefined ? 'absent' : valueText(value)}, ${back}`
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
  return entry('takes', `${rangeText(time)}, given up after ${formatDuration(time.atMostSeconds * 1000)}`)
}

/** A step that ends when somebody else is through has no range. */
function rangeText({ lowSeconds, highSeconds }: { lowSeconds: number; highSeconds: number }): string {
  if (highSeconds === 0) return 'nobody can tell how long'
  const [low, high] = [lowSeconds, highSeconds].map((seconds) => formatDuration(seconds * 1000))
  return low === high ? `about ${low}` : `${low} to ${high}`
}

/** Why there is nothing to type: it is done, or it would be refused. Undefined where it may begin. */
export function whyNot(plan: PlanDocument): string | undefined {
  if (!plan.pending) return `KubeVirt is at ${plan.to} and settled: nothing to do`
  const stops = judgedFindings(plan).filter(({ finding, accepted }) => !accepted && isStop(finding))
  if (stops.length === 0) return undefined
  return `refused as it stands: ${stops.map(({ finding: { id } }) => id).join(', ')}`
}

/** What has to be mended, or accepted by name. */
export const isStop = ({ level }: PlanFinding): boolean => level === 'blocker' || level === 'not-checked'

/** Of all steps, and what it was worked out from. */
export function wholeTime({ time, steps }: PlanDocument): string {
  if (time) return `takes ${time.says}`
  const sum = steps.reduce((total, { estimate }) => total + estimate, 0)
  return `estimate ${formatDuration(sum)}; kvup guesses, it has not seen this cluster update yet`
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

/** What stops it first, then what was accepted, then warnings and notes. */
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
