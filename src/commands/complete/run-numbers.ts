import { configMapJournal } from '../../lib/engine/journal-config-map.ts'
import { journalRuns } from '../../lib/engine/journal-runs.ts'
import { listKubeVirts } from '../../lib/kubevirt/snapshot.ts'
import { clusterOf, type Source } from './asked.ts'

/** The runs that the journal of this cluster holds, the newest first. Throws where there is no KubeVirt. */
export const runNumbers: Source = async (asked, offer) => {
  const { clock, world } = asked.cx
  const cluster = await clusterOf(asked)
  const found = await listKubeVirts(cluster.reader)
  const [kubevirt] = found.known ? found.items : []
  if (kubevirt === undefined) throw new Error('no KubeVirt was seen')
  const { namespace = '' } = kubevirt.metadata
  const entries = await configMapJournal(cluster, { namespace, who: world.who, clock }).entries()
  const runs = journalRuns(entries, { asOf: clock.now().toISOString() })
  for (const { run, procedure, result } of runs.toReversed())
    offer({ value: String(run), description: `${procedure}: ${result}` })
}
