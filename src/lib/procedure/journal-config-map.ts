import type { Cluster } from '../cluster/cluster.ts'
import { type ConfigMap, ConfigMaps } from '../cluster/kinds/core.ts'
import type { Clock } from '../system/clock.ts'
import { blocked, isConflict } from '../system/errors.ts'
import type { Journal } from './journal.ts'
import { OwedLoans } from './owed-loans.ts'
import { bounded, emptyJournal, type JournalContent } from './journal-content.ts'
import { journalOn, type JournalStore } from './journal-on.ts'
import { type JournalText, readJournal, writeJournal } from './journal-text.ts'

type ReadWrite = Pick<Cluster, 'reader' | 'writer'>
type Change = (content: JournalContent) => JournalContent

/** Its name; the namespace is KubeVirt's own. */
const journalName = 'kvup-journal'

const labels = { 'app.kubernetes.io/managed-by': 'kvup' }
const mostTries = 8

export interface JournalPlace {
  namespace: string
  /** user@host, for the entries that giving back leaves. */
  who: string
  clock: Clock
}

/**
 * The journal in ConfigMap `kvup-journal`, made at the first write. Every write is refused by the server when somebody
 * else wrote first, and is then made anew on what they wrote. Where the ConfigMap is deleted meanwhile, the loans that were open in
 * it are open still, and the next write has them. Throws `blocked` when the ConfigMap holds something else.
 */
export function configMapJournal(cluster: ReadWrite, { namespace, who, clock }: JournalPlace): Journal {
  const find = async () => {
    const found = await cluster.reader.find(ConfigMaps, { name: journalName, namespace })
    return found.is === 'object' ? found.object : undefined
  }
  const owed = new OwedLoans()
  const once = async (change: Change, confirm: () => Promise<void>): Promise<JournalContent> => {
    const found = await find()
    const there = contentOf(found, namespace)
    const after = change(owed.addedTo(there, found))
    if (after === there) return there
    const fitting = bounded(after)
    await confirm()
    owed.remember(fitting, await write(cluster, found ?? namespace, writeJournal(fitting)))
    return fitting
  }
  const store: JournalStore = {
    async read() {
      const found = await find()
      return owed.addedTo(contentOf(found, namespace), found)
    },
    async update(change, confirm) {
      for (let tries = 1; ; tries++)
        try {
          return await once(change, confirm)
        } catch (error) {
          if (!isConflict(error) || tries >= mostTries) throw error
          await clock.sleep(50 * tries)
        }
    },
  }
  return journalOn(store, () => ({ by: who, at: clock.now().toISOString() }))
}

/** Refused (409) when it was changed, or made, by somebody else meanwhile. */
function write({ writer }: ReadWrite, over: ConfigMap | string, text: JournalText): Promise<ConfigMap> {
  const { apiVersion, kind } = ConfigMaps
  const data: Record<string, string> = { ...text }
  if (typeof over === 'string') {
    const metadata = { name: journalName, namespace: over, labels }
    return writer.create(ConfigMaps, { apiVersion, kind, metadata, data })
  }
  const { name, namespace, resourceVersion = '' } = over.metadata
  return writer.mergePatch(ConfigMaps, { name, namespace }, { metadata: { resourceVersion, labels }, data })
}

function contentOf(found: ConfigMap | undefined, namespace: string): JournalContent {
  if (found === undefined) return emptyJournal
  try {
    return readJournal(found.data ?? {})
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw blocked('journal-unreadable', `the journal cannot be read: ${why}. Nothing was changed`, {
      object: `configmaps/${journalName} in namespace ${namespace}`,
      remedy: [
        `kubectl -n ${namespace} edit configmap ${journalName}      mend or take out that line`,
        `kubectl -n ${namespace} get configmap ${journalName} -o yaml >kvup-journal.yaml && kubectl -n ${namespace} delete configmap ${journalName}      begin anew; open loans are then only in the file`,
      ],
      cause: error,
    })
  }
}
