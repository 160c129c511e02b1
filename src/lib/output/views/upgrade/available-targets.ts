import type { ClusterState } from '../../../status/cluster-state.ts'
import type { AvailableTarget } from '../../../upgrade/plan/available-targets.ts'
import type { Document, View } from '../../printer.ts'
import { table } from '../../table.ts'
import { wrap } from '../../text.ts'
import { stateLines } from '../cluster-state.ts'

/** What `kvup upgrade` without a version says: where the cluster stands, and what can be reached. */
export interface AvailableTargetsDocument extends Document {
  kind: 'AvailableTargets'
  state: ClusterState
  /** What is upgraded, and its version. Absent, as `items`, where an upgrade has begun that comes first. */
  stands?: string
  /** Where the targets are known from. */
  source?: string
  /** The oldest first. */
  items?: readonly AvailableTarget[]
  /** Why there is none. */
  none?: string
  /** Lines that make more of them known. */
  commands?: readonly string[]
}

export const availableTargetsView: View<AvailableTargetsDocument> = {
  text({ state, source, items = [], none, commands = [] }, paint, size) {
    const rows = table(
      [
        { name: 'VERSION', cell: ({ version }) => version },
        {
          name: 'NOTE',
          holds: 'text',
          cell: ({ isRecommended, note }) => (isRecommended ? 'recommended' : (note ?? '')),
        },
        { name: 'COMMAND', holds: 'command', cell: ({ next }) => next },
      ],
      items,
      { ...size, paint },
    )
    return [
      ...stateLines(state, paint, size),
      ...(items.length > 0 ? ['', ...wrap(`Known from ${source}:`, size.columns), ...rows] : []),
      ...(none === undefined ? [] : ['', ...wrap(`No release to upgrade to: ${none}`, size.columns)]),
      ...commands.flatMap((line) => wrap(`${paint.mark.next} ${line}`, size.columns)),
    ]
  },
  names: ({ items = [] }) => items.map(({ version }) => `release/${version}`),
}
