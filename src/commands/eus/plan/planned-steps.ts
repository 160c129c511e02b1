import { atVersion } from '../../../lib/cluster/kind.ts'
import { KubeVirts } from '../../../lib/cluster/kinds/kubevirt.ts'
import { eusProcedure } from '../../../lib/eus/run/procedure.ts'
import { windowOf } from '../../../lib/eus/run/window.ts'
import { itemsOf } from '../../../lib/facts/known.ts'
import { managerOf } from '../../../lib/facts/ownership.ts'
import type { JournalReader } from '../../../lib/procedure/journal.ts'
import type { Clock } from '../../../lib/system/clock.ts'
import { KvupError } from '../../../lib/system/errors.ts'
import { seconds } from '../../../lib/system/units.ts'
import type { PlannedEus } from '../planned.ts'

/** The steps of `kvup eus run`, as far as they are known before it, and the minor that they lead to; or why they are not. */
export async function plannedSteps(
  { plan, evidence, accepted, releases, reader }: PlannedEus,
  { clock }: { clock: Clock },
): Promise<{ steps: readonly { id: string; title: string }[]; to: string } | { why: string }> {
  const [kubevirt] = itemsOf(evidence.kubevirts)
  if (kubevirt === undefined) return { why: 'there is no KubeVirt' }
  const { name, namespace = '', uid = '' } = kubevirt.metadata
  const window = windowOf(plan, {
    who: '',
    kubevirt: {
      kind: atVersion(KubeVirts, kubevirt.apiVersion.split('/').at(-1) ?? 'v1'),
      ref: { name, namespace },
      uid,
    },
    manager: managerOf(kubevirt) ?? { kind: 'plain' },
    releases,
    request: {
      accepted: accepted.map(({ id }) => id),
      approve: false,
      approveAlso: [],
      poolOrder: [],
      leaveRequested: false,
      settleMs: 30 * seconds,
      command: 'kvup eus run',
    },
  })
  try {
    const steps = await eusProcedure(window).steps({ reader, clock, journal: journalOf(evidence) })
    return { steps: steps.map(({ id, title }) => ({ id, title })), to: window.to }
  } catch (error) {
    if (error instanceof KvupError) return { why: error.message }
    throw error
  }
}

/** What was read of it already; of a saved cluster nothing is written. */
function journalOf({ loans }: PlannedEus['evidence']): JournalReader {
  return {
    entries: async () => [],
    loans: async () => itemsOf(loans),
    kept: async () => undefined,
  }
}
