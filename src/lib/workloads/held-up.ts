import type { Reader } from '../cluster/cluster.ts'
import { type Event, Events } from '../cluster/kinds/core.ts'
import type { VirtualMachineInstanceMigration } from '../cluster/kinds/virtual-machines.ts'
import { condition } from '../cluster/object.ts'
import { earliest, since } from '../facts/elapsed.ts'
import { known, itemsOf } from '../facts/known.ts'
import { unfinishedMigrations } from '../facts/migrations.ts'
import { minutes } from '../system/units.ts'

/** VMs that KubeVirt tries to move again and again, and why it cannot. */
export interface HeldUp {
  /** `namespace/name`. */
  vms: readonly string[]
  sentence: string
  /** Commands that show it. */
  look: readonly string[]
  /** RFC 3339; "at least". */
  since?: string
}

/** An event that is older says nothing of now: KubeVirt tries each batch again within minutes (facts 3.2). */
const fresh = 10 * minutes

/**
 * Migrations whose second pod a ResourceQuota refuses (facts 3.3, issue 14957), and evictions that a PodDisruptionBudget forbids; the
 * latter only events tell, and where these may not be read nothing is said. Throws what the Reader throws for anything but 403 and 404.
 */
export async function heldUpVms(reader: Reader, at: Date): Promise<readonly HeldUp[]> {
  const [migrations, events] = await Promise.all([
    known(unfinishedMigrations(reader)),
    known(reader.list(Events, { fields: 'reason=FailedEvict' })),
  ])
  return [...refusedByQuota(itemsOf(migrations)), ...protectedPods(itemsOf(events), at)]
}

function refusedByQuota(migrations: readonly VirtualMachineInstanceMigration[]): HeldUp[] {
  const refused = migrations.filter(
    (one) => condition(one, 'migrationRejectedByResourceQuota')?.status === 'True',
  )
  const [first] = refused
  if (!first) return []
  return [
    heldUp({
      vms: refused.map(({ metadata, spec }) => `${metadata.namespace}/${spec?.vmiName ?? metadata.name}`),
      why: 'cannot migrate: a ResourceQuota leaves no room for the second pod',
      look: `kubectl -n ${first.metadata.namespace} get resourcequotas`,
      times: refused.map((one) => condition(one, 'migrationRejectedByResourceQuota')?.lastTransitionTime),
    }),
  ]
}

function protectedPods(events: readonly Event[], at: Date): HeldUp[] {
  const last = new Map<string, Event>()
  for (const event of events) {
    const { namespace, name } = event.involvedObject ?? {}
    if (/disruption budget/i.test(event.message ?? '') && isFresh(event, at))
      last.set(`${namespace}/${name}`, event)
  }
  const [first] = last.values()
  if (!first) return []
  return [
    heldUp({
      vms: [...last.keys()],
      why: 'cannot be evicted: a PodDisruptionBudget does not allow it',
      look: `kubectl -n ${first.involvedObject?.namespace} get poddisruptionbudgets`,
      times: [...last.values()].map(({ firstTimestamp, eventTime }) => firstTimestamp ?? eventTime),
    }),
  ]
}

const isFresh = ({ lastTimestamp, eventTime, firstTimestamp }: Event, at: Date): boolean =>
  (since(lastTimestamp ?? eventTime ?? firstTimestamp, at) ?? 0) < fresh

interface Told {
  vms: readonly string[]
  why: string
  look: string
  times: readonly (string | null | undefined)[]
}

function heldUp({ vms, why, look, times }: Told): HeldUp {
  const names = vms.slice(0, 3).join(', ')
  const who = vms.length === 1 ? `VM ${names}` : `${vms.length} VMs (${names}${vms.length > 3 ? ', …' : ''})`
  const from = earliest(times)
  return { vms, sentence: `${who} ${why}`, look: [look], ...(from !== undefined && { since: from }) }
}
