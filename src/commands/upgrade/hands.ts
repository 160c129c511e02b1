import type { Context } from '../../context.ts'
import type { Cluster } from '../../lib/cluster/cluster.ts'
import type { Hands } from '../../lib/run/carry-out.ts'
import { configMapJournal } from '../../lib/procedure/journal-config-map.ts'
import { remembering } from '../../lib/procedure/known-loans.ts'
import { leaseLock } from '../../lib/procedure/lease-lock.ts'

/** Journal, lock and the rest of what a changing command works with, in KubeVirt's namespace. */
export function handsOf(
  { clock, printer, prompt, signal, world }: Context,
  cluster: Cluster,
  { namespace, takeOver }: { namespace: string; takeOver?: string | undefined },
): Omit<Hands, 'announce'> {
  return {
    cluster,
    clock,
    prompt,
    signal,
    who: world.who,
    journal: remembering(
      configMapJournal(cluster, {
        namespace,
        who: world.who,
        clock,
        warn: (line) => printer.warn(line),
      }),
    ),
    lock: leaseLock(cluster, { namespace, holder: world, clock, takeOver }),
    emit: (event) => printer.event(event),
    warn: (line) => printer.warn(line),
  }
}
