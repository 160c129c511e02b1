import type { LeftCluster } from '../../kube/errors.ts'
import type { ClusterState, StateName } from '../../status/cluster-state.ts'
import type { Document, Paint, Size, Tone, View } from '../printer.ts'
import { brief, displayWidth, wrap } from '../text.ts'

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

/**
 * Where the cluster stands, why, and what to type: the head of `kvup status`, all of a bare `kvup`, and the end of every screen that says how the cluster was left. Lines fit `columns`; a command
 * is broken so that it can be pasted.
 */
export function stateLines(
  state: LeftCluster,
  paint: Paint,
  { columns }: Pick<Size, 'columns'>,
): readonly string[] {
  const { is, headline, why } = state
  return [
    ...wrap(paint[tones[is as StateName]](brief(headline)), columns),
    ...why.flatMap((line) => wrap(`  ${brief(line)}`, columns)),
    ...commandLines(state, columns),
    ...(state.commands ?? []).flatMap((line) => wrap(`${paint.mark.next} ${line}`, columns)),
  ]
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
  const lines = labelled.flatMap(([label, line]) => (line === undefined ? [] : [`${label} ${line}`]))
  const inOne = lines.join(between)
  const fits =
    displayWidth(inOne) <= Math.min(columns, lineAtMost) && lines.every((line) => !/\S {3,}\S/u.test(line))
  return (fits && lines.length > 0 ? [inOne] : lines).flatMap((line) => wrap(line, columns))
}
