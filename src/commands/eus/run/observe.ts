import type { Cluster } from '../../../lib/cluster/cluster.ts'
import { alertsBefore } from '../../../lib/eus/steps/kept-alerts.ts'
import { hyperConvergedBefore, rewrittenFields } from '../../../lib/eus/steps/kept-hyperconverged.ts'
import { changedNodes, nodesBefore } from '../../../lib/eus/steps/kept-nodes.ts'
import { changedVolumes, volumesBefore } from '../../../lib/eus/steps/kept-volumes.ts'
import type { EusReportDocument, EusStepReport } from '../../../lib/output/views/eus-report.ts'
import { newAlerts } from '../../../lib/facts/openshift/new-alerts.ts'
import type { RunEvent } from '../../../lib/procedure/events.ts'
import type { JournalReader } from '../../../lib/procedure/journal.ts'
import { KvupError } from '../../../lib/system/errors.ts'
import type { Seen } from '../../../lib/workloads/census-changes.ts'
import type { Compared, RunCensus } from '../../../lib/workloads/run-census.ts'

/** What a report of a window needs: the steps as they end, VMs and volumes before and after. */
export interface ObservedWindow {
  /** Before the first write. */
  before(): Promise<void>
  event(event: RunEvent): void
  readonly steps: readonly EusStepReport[]
  after(): Promise<
    Pick<
      EusReportDocument,
      | 'comparedWith'
      | 'unread'
      | 'changes'
      | 'counts'
      | 'differences'
      | 'nodes'
      | 'volumes'
      | 'rewritten'
      | 'alerts'
    >
  >
}

/**
 * Alerts, nodes, volumes and the spec of the HyperConverged are compared with what was kept when the window was opened, VMs with what they were when this run
 * began, or the run that was killed before it: in a window of days they come and go.
 */
export function observeWindow(
  { reader }: Pick<Cluster, 'reader'>,
  journal: JournalReader,
  { name, census, evicted }: { name: string; census: RunCensus; evicted: Seen['evicted'] },
): ObservedWindow {
  const steps: EusStepReport[] = []
  let marks: Kept | undefined
  return {
    steps,
    async before() {
      marks = await keptBefore({ reader, journal }, name)
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
      return {
        ...(await whatChanged(census.compare(reader, evicted))),
        ...(marks && (await comparedWith(reader, marks))),
      }
    },
  }
}

/** What was done is done; that its VMs could not be compared is said. */
async function whatChanged(comparing: Promise<Compared | undefined>) {
  try {
    const compared = await comparing
    return compared && toldOf(compared)
  } catch (error) {
    if (error instanceof KvupError) return { unread: ['VMs and volumes'] }
    throw error
  }
}

function toldOf({ since, changes, counts, differences, unread }: Compared) {
  return {
    comparedWith: since,
    ...(unread.length > 0 && { unread }),
    changes,
    ...(counts && { counts }),
    ...(differences && { differences }),
  }
}

type Kept = Awaited<ReturnType<typeof keptBefore>>

async function keptBefore(cx: { reader: Cluster['reader']; journal: JournalReader }, name: string) {
  return {
    nodes: await asFarAsRead(nodesBefore(cx, name)),
    volumes: await asFarAsRead(volumesBefore(cx, name)),
    alerts: await asFarAsRead(alertsBefore(cx, name)),
    spec: await asFarAsRead(hyperConvergedBefore(cx, name)),
  }
}

async function comparedWith(
  reader: Cluster['reader'],
  kept: Kept,
): Promise<Pick<EusReportDocument, 'nodes' | 'volumes' | 'rewritten' | 'alerts'>> {
  const nodes = kept.nodes && (await asFarAsRead(changedNodes(reader, kept.nodes)))
  const volumes = kept.volumes && (await asFarAsRead(changedVolumes(reader, kept.volumes)))
  const rewritten = kept.spec && (await asFarAsRead(rewrittenFields(reader, kept.spec)))
  const alerts = kept.alerts && (await asFarAsRead(newAlerts(reader, kept.alerts)))
  return {
    ...(alerts && { alerts }),
    ...(nodes && { nodes }),
    ...(volumes && { volumes }),
    ...(rewritten && { rewritten }),
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
