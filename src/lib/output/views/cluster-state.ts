import type { LeftCluster } from '../../kube/errors.ts'
import type { ClusterState, StateName } from '../../status/cluster-state.ts'
import type { Document, Paint, Tone, View } from '../printer.ts'
import { brief, displayWidth, paintedWidth, wrap, helpLine } from '../text.ts'
import { toType } from '../terminal.ts'

const tones: Record<StateName, Tone> = {
  NoCluster: 'warn',
  NotInstalled: 'warn',
  Degraded: 'bad',
  Stalled: 'bad',
  Running: 'strong',
  Interrupted: 'warn',
  Updating: 'strong',
  Waiting: 'warn',
  OutOfStep: 'bad',
  CanaryFailed: 'bad',
  MigrationsFailing: 'bad',
  NotChecked: 'warn',
  Healthy: 'good',
}

interface StateDocument extends Document {
  kind: 'Status'
  state: ClusterState
}

/** The state and nothing else. */
export const stateView: View<StateDocument> = {
  text: ({ state }, paint, size) => stateLines(state, paint, size),
  names: ({ state }) => [`state/${state.is}`],
}

/** The terminal that lines have to fit. */
export interface Room {
  columns: number
  rows?: number | undefined
}

/**
 * Where the cluster stands, why, and what to type: the head of `kvup status`, all of a bare `kvup`, and the end of every screen that says how the cluster was left. Lines fit `columns`; a command
 * is broken so that it can be pasted. Of more lines than a terminal has `rows` the verdict and the next line are the last to go: further commands stand above them, and reasons are left out.
 */
export function stateLines(
  state: LeftCluster,
  paint: Paint,
  { columns, rows = Infinity }: Room,
): readonly string[] {
  const { is, headline, why } = state
  const verdict = wrap(paint[tones[is as StateName]](brief(headline)), columns)
  const reasons = why.map((line) => wrap(`  ${brief(line)}`, columns))
  const next = commandLines(state, columns)
  const further = (state.commands ?? []).flatMap((line) => wrap(helpLine(line, paint), columns))
  const whole = [...verdict, ...reasons.flat(), ...next, ...further]
  const room = rows - around
  if (height(whole, columns) <= room) return whole
  const left = room - height([...verdict, ...next], columns)
  return [...further, ...verdict, ...lastOf(reasons, left, columns), ...next]
}

/** The line that was typed above them, and the prompt below. */
export const around = 2

/** In rows of a terminal, which breaks words that are too long for it. */
export const height = (lines: readonly string[], columns: number): number =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(paintedWidth(line) / columns)), 0)

/** What is paused, and that there is no way back, come last: the first ones give way. */
function lastOf(reasons: readonly (readonly string[])[], room: number, columns: number): readonly string[] {
  const all = height(reasons.flat(), columns)
  if (all <= room) return reasons.flat()
  const first = reasons.findIndex((_, index) => height(reasons.slice(index).flat(), columns) < room)
  const kept = first < 0 ? [] : reasons.slice(first).flat()
  return [`  … ${all - height(kept, columns)} more lines in a taller terminal`, ...kept]
}

/** Details below the head, as long as a terminal shows both; else the head is last, where it is seen. */
export function headAndDetails(
  head: readonly string[],
  details: readonly string[],
  { columns, rows = Infinity }: Room,
): readonly string[] {
  if (details.length === 0) return head
  const inOrder = [...head, '', ...details]
  return height(inOrder, columns) <= rows - around ? inOrder : [...details, '', ...head]
}

const between = '        '
/** A longer line is read as one command, where nothing breaks it. */
const lineAtMost = 100

/** `Next: kvup upgrade --to v1.8.4        Details: kvup check --to v1.8.4`, below each other where they do not fit, or where something is said of one. */
function commandLines(
  { next, afterwards, instead, details, back }: LeftCluster,
  columns: number,
): readonly string[] {
  const labelled = [
    ['Next:', next],
    ['Then:', afterwards],
    ['Or:', instead],
    ['Details:', details],
    ['Back:', back],
  ] as const
  const lines = labelled.flatMap(([label, line]) => (line === undefined ? [] : [toType(label, line)]))
  const inOne = lines.join(between)
  const fits =
    displayWidth(inOne) <= Math.min(columns, lineAtMost) && lines.every((line) => !/\S {3,}\S/u.test(line))
  return (fits && lines.length > 0 ? [inOne] : lines).flatMap((line) => wrap(line, columns))
}
