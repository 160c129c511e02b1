import type { Cluster } from '../../../lib/cluster/cluster.ts'
import { changedNodes, nodesBefore } from '../../../lib/eus/steps/kept-nodes.ts'
import type { EusReportDocument, EusStepReport } from '../../../lib/output/views/eus-report.ts'
import type { RunEvent } from '../../../lib/procedure/events.ts'
import type { JournalReader } from '../../../lib/procedure/journal.ts'
import { KvupError } from '../../../lib/system/errors.ts'
import { type Census, takeCensus } from '../../../lib/workloads/census.ts'
import { compareCensus } from '../../../lib/workloads/census-differences.ts'

/** What a report of a window needs: the steps as they end, VMs and volumes before and after. */
export interface ObservedWindow {
  /** Before the first write. */
  before(): Promise<void>
  event(event: RunEvent): void
  readonly steps: readonly EusStepReport[]
  after(): Promise<Pick<EusReportDocument, 'differences' | 'nodes'>>
}

/** Nodes are compared with what was kept when the window was opened, VMs and volumes with what they were when this run began. */
export function observeWindow(
  { reader }: Pick<Cluster, 'reader'>,
  journal: JournalReader,
  name: string,
): ObservedWindow {
  const steps: EusStepReport[] = []
  let census: Census | undefined
  let marks: Awaited<ReturnType<typeof nodesBefore>> | undefined
  return {
    steps,
    async before() {
      census = await takeCensus(reader)
      marks = await asFarAsRead(nodesBefore({ reader, journal }, name))
    },
    event(event) {
      if (event.kind !== 'step-done') return
      const { step, changed, tookMs, note } = event
      const { id, title } = step
      steps.push({
        id,
        title,
        changed,
        seconds: Math.round(tookMs / 1000),
        ...(note !== undefined && { note }),
      })
    },
    async after() {
      const now = await asFarAsRead(takeCensus(reader))
      const compared = marks && (await asFarAsRead(changedNodes(reader, marks)))
      return {
        ...(census && now && { differences: compareCensus(census, now) }),
        ...(compared && { nodes: compared }),
      }
    },
  }
}

/** What was done is done, whatever becomes of its report. */
async function asFarAsRead<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof KvupError) return undefined
    throw error
  }
}
