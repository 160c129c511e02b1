import { spanText } from '../../../kube/duration.ts'
import { takesRisk } from '../../../kube/shell-line.ts'
import { seconds } from '../../../kube/clock.ts'
import type { PlanDocument } from '../../../upgrade/plan/plan-document.ts'
import type { Paint, Size } from '../../printer.ts'
import { count, displayWidth, pad, wrap } from '../../text.ts'
import { toType } from '../../terminal.ts'
import { findingSections, newerText } from '../check-report.ts'
import { around, height } from '../cluster-state.ts'
import { acceptanceText, judgedFindings, type JudgedFinding } from './upgrade-plan-words.ts'

/** A plan as a person reads it: the verdict, what stops it, its steps, what else was found, and what to type. */
interface PlanPage {
  /** `KubeVirt v1.7.4 → v1.8.4` */
  what: string
  /** `11 steps`; undefined where they are not known. */
  steps?: string | undefined
  /** `45 s to 6 min` */
  time?: string | undefined
  /** Why nothing is left to be done. */
  done?: string | undefined
  /** Sections, the first of which are the steps. */
  parts: readonly (readonly string[])[]
  /** Sections of `-o wide`, behind the steps. */
  details: readonly (readonly string[])[]
}

type Judged = Pick<PlanDocument, 'findings' | 'accepted' | 'next'>

/**
 * The whole page. Where it is taller than the terminal its blank lines go, and then it begins with the steps and ends with the verdict, what stops the plan, and the next line: what is read last
 * is what is seen.
 */
export function planPage(
  page: PlanPage,
  { findings, accepted, next = [] }: Judged,
  { paint, size }: { paint: Paint; size: Size },
): readonly string[] {
  const { columns, rows = Infinity, wide } = size
  const judged = judgedFindings({ findings, accepted })
  const { stops, others } = findingSections(judged.map(asReported), { paint, size })
  const fitted = (lines: readonly string[]) => lines.flatMap((line) => wrap(line, columns))
  const verdict = fitted([verdictLine(page, judged, paint)])
  const against = fitted(stops)
  const body = [...page.parts, ...(wide ? page.details : []), others]
    .map(fitted)
    .filter((lines) => lines.length > 0)
  const end = fitted(nextLines(page, judged, next))
  const head = [...verdict, ...against]
  const room = rows - around - (stops.length > 0 ? refusal : 0)
  const fits = (lines: readonly string[]) => height(lines, columns) <= room
  const layouts = [apart([head, ...body, end]), [...head, ...body.flat(), ...end]]
  const last = [...head, ...end]
  return layouts.find(fits) ?? apart(fits(last) ? [...body, last] : [...body, against, [...verdict, ...end]])
}

/** With a blank line between two. */
function apart(parts: readonly (readonly string[])[]): readonly string[] {
  const lines: string[] = []
  for (const part of parts.filter(({ length }) => length > 0))
    lines.push(...(lines.length === 0 ? [] : ['']), ...part)
  return lines
}

/** Rows of what stands below a plan that is refused: that it is, and the lines that show more or accept it. */
const refusal = 5

const isStop = ({ finding: { level }, accepted }: JudgedFinding): boolean =>
  !accepted && (level === 'blocker' || level === 'not-checked')

/** `Plan: KubeVirt v1.7.4 → v1.8.4, 11 steps, 45 s to 6 min, 3 infos. Nothing was changed.` */
function verdictLine(
  { what, steps, time, done }: PlanPage,
  judged: readonly JudgedFinding[],
  paint: Paint,
): string {
  const level = (wanted: string) =>
    judged.filter(({ finding, accepted }) => !accepted && finding.level === wanted).length
  const counted = (wanted: string, noun: string) => (level(wanted) > 0 ? [count(level(wanted), noun)] : [])
  const stops = [
    ...counted('blocker', 'blocker'),
    ...(level('not-checked') > 0 ? [`${level('not-checked')} not checked`] : []),
  ]
  const taken = judged.filter(({ accepted }) => accepted).length
  const others = [
    ...counted('warning', 'warning'),
    ...(taken > 0 ? [`${taken} accepted`] : []),
    ...counted('info', 'info'),
  ]
  const nothing = 'Nothing was changed.'
  if (done !== undefined)
    return `Plan: ${paint.strong('nothing to do')}: ${[done, ...others].join(', ')}. ${nothing}`
  const parts = [
    paint.strong(what),
    ...(steps === undefined ? [] : [steps]),
    ...(time === undefined ? [] : [time]),
  ]
  const isBlocked = judged.some(isStop)
  const blocked = isBlocked ? `${paint.bad('BLOCKED')} by ${stops.join(', ')}: ` : ''
  const newer = newerText(
    judged.map(({ finding }) => finding),
    paint,
  )
  return `Plan: ${blocked}${[...parts, ...others].join(', ')}${newer}. ${nothing}`
}

function asReported({ finding, accepted }: JudgedFinding) {
  const reason = accepted && acceptanceText(accepted)
  return { ...finding, ...(accepted && { accepted: true as const }), ...(reason && { reason }) }
}

/** What carries the plan out; where it is blocked, what helps against the first that blocks it. */
function nextLines(
  { done }: PlanPage,
  judged: readonly JudgedFinding[],
  next: readonly string[],
): readonly string[] {
  const [first, ...more] = next
  if (first !== undefined) return [toType('Next:', first), ...more.map((line) => toType('Or:', line))]
  const stops = judged.filter(isStop).map(({ finding }) => finding)
  const worst = stops.find(({ level }) => level === 'blocker') ?? stops[0]
  if (done !== undefined || worst === undefined) return []
  // What another tool changes is weighed where it stands, below the finding. An upgrade would be refused where what was accepted for this plan is not on its line.
  const isSafe = (line: string) =>
    line.startsWith('kvup ') &&
    !takesRisk(line, [worst.id]) &&
    !(line.startsWith('kvup upgrade ') && judged.some(({ accepted }) => accepted))
  const helps = worst.remedy.find(isSafe)
  return [toType('Next:', helps ?? `kvup explain ${worst.id}`)]
}

/** A row of a list of steps; the times stand below each other where there is room. */
export interface PlanRow {
  title: string
  /** How long it takes, or that it is done. */
  time: string
  isDim?: boolean
  /** Lines below it. */
  below: readonly string[]
}

/** `  1 pause automatic VM updates    up to 5 s` */
export function rowLines(
  rows: readonly PlanRow[],
  { paint, size }: { paint: Paint; size: Size },
): readonly string[] {
  const width = size.columns < 60 ? 0 : Math.max(0, ...rows.map(({ title }) => displayWidth(title)))
  return rows.flatMap(({ title, time, isDim, below }, index) => {
    const head = `${String(index + 1).padStart(3)} ${time === '' ? title : `${pad(title, width)}   ${time}`}`
    return [isDim ? paint.dim(head) : head, ...below]
  })
}

interface Span {
  lowSeconds: number
  highSeconds: number
}

/** Of a whole plan: `45 s to 6 min`, without what that is made from. */
export const wholeText = ({ says }: { says: string }): string => says.split(',', 1)[0] ?? ''

/** Of one step. One that ends when somebody else is through has no range. */
export function stepTime({ lowSeconds, highSeconds }: Span): string {
  if (highSeconds === 0) return 'duration unknown'
  const [low, high] = [lowSeconds, highSeconds].map((one) => spanText(one * seconds))
  if (lowSeconds === 0) return `up to ${high}`
  return low === high ? `about ${low}` : `${low} to ${high}`
}
