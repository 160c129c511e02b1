import { expect, test } from 'vitest'
import { Jobs } from '../../src/lib/cluster/kinds/apps.ts'
import { Events } from '../../src/lib/cluster/kinds/core.ts'
import type { ApiFault } from '../../src/lib/simulator/faults.ts'
import { byTag, play, second, type Stage } from './stage.ts'

const policy: ApiFault = {
  is: 'webhook-refuses',
  resource: 'pods',
  webhook: 'policy.example.com',
  message: 'quota is used up',
  operations: ['CREATE'],
}

/** What kube-controller-manager says then: its Job controller in the simulator only tries again. */
async function tells({ cluster, clock }: Stage, name: string): Promise<void> {
  const at = clock.now().toISOString()
  await cluster.writer.create(Events, {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'refused.1', namespace: 'kubevirt' },
    involvedObject: { kind: 'Job', name },
    type: 'Warning',
    reason: 'FailedCreate',
    message: 'Error creating: quota is used up',
    firstTimestamp: at,
    lastTimestamp: at,
  })
}

test('the pod of the strategy Job is refused: only an event says so, and it is named while it waits', async () => {
  await play(byTag, async (stage) => {
    stage.api.add(policy)
    stage.later(20 * second, () => {
      const [job] = stage.simulated.store.list(Jobs, {}).items
      void tells(stage, job?.metadata.name ?? '')
    })
    const ended = await stage.upgrade('v1.8.4', { timeout: '3m' })
    expect(ended).toMatchObject({ code: 4 })
    const waits = ended.events.flatMap((e) => (e.kind === 'step-waiting' ? [e.state] : []))
    expect(JSON.stringify(waits.at(-1))).toContain(
      'pods of the install strategy cannot be created: quota is used up',
    )
  })
})
