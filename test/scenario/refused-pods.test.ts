import { expect, test } from 'vitest'
import { type Event, Events } from '../../src/lib/kube/kinds/core-kinds.ts'
import type { ApiFault } from '../../src/simulator/api/api-faults.ts'
import { byTag, minute, play } from './stage.ts'

const policy: ApiFault = {
  is: 'webhook-refuses',
  resource: 'pods',
  webhook: 'policy.example.com',
  message: 'no pods today',
  operations: ['CREATE'],
}

test('the pod of the strategy Job is refused: only an event says so, and it is named while it waits', async () => {
  await play(byTag, async (stage) => {
    stage.api.add(policy)
    const ended = await stage.upgrade('v1.8.4', { timeout: '3m' })
    expect(ended).toMatchObject({ code: 4 })
    const waits = ended.events.flatMap((e) => (e.kind === 'step-waiting' ? [e.state] : []))
    expect(JSON.stringify(waits.at(-1))).toContain(
      'pods of the install strategy cannot be created: the webhook policy.example.com refuses it: no pods today',
    )
    expect(ended.error?.remedy).toContain(
      'kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations',
    )
  })
})

test('once the pod could be made, the event of before is not told any more', async () => {
  await play(byTag, async (stage) => {
    const lift = stage.api.add(policy)
    stage.later(minute, lift)
    const ended = await stage.upgrade('v1.8.4')
    expect(ended).toMatchObject({ code: 0 })
    const events: readonly Event[] = stage.simulated.store.list(Events).items
    expect(events.map(({ reason }) => reason)).toContain('FailedCreate')
    const said = ended.events.findLast((e) => JSON.stringify(e).includes('cannot be created'))
    const began = stage.now - ended.took
    expect(Date.parse(said?.at ?? '') - began).toBeLessThan(1.5 * minute)
  })
})
