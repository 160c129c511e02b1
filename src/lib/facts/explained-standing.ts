import type { Reader } from '../cluster/cluster.ts'
import type { Clock } from '../system/clock.ts'
import type { LastLines } from './last-lines.ts'
import type { Snapshot } from './snapshot.ts'
import { type Standing, standing } from './standing.ts'

/** The verdict over a look that has the cause parts, with the last log lines of what keeps ending. Throws what `standing` throws. */
export async function explainedStanding(
  snapshot: Snapshot,
  from: { reader: Pick<Reader, 'log'>; clock: Clock },
  logs: LastLines,
): Promise<Standing> {
  const judged = standing(snapshot, from.clock.now())
  const lines = await logs.of(from, snapshot, judged.why)
  return lines.length === 0 ? judged : standing(snapshot, from.clock.now(), lines)
}
