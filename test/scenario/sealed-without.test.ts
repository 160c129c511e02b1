import { expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { ApiError } from '../../src/lib/kube/errors.ts'
import { byTag, play } from './stage.ts'

/** Whoever asks it for nodes is refused. */
function withoutNodes(cluster: Cluster): Cluster {
  const reader = new Proxy(cluster.reader, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...call: { plural?: string }[]) => {
        if (call[0]?.plural === 'nodes')
          return Promise.reject(new ApiError(403, 'Forbidden', 'nodes is forbidden'))
        return Reflect.apply(member, target, call) as unknown
      }
    },
  })
  return { ...cluster, reader }
}

test('contract: sealed plan: what could not be sealed is said, when the plan is made and when it takes effect', async () => {
  await play(byTag, async (stage) => {
    const made = await stage.plan('v1.8.4', {}, { cluster: withoutNodes(stage.cluster) })
    expect({ code: made.code, error: made.error?.message }).toEqual({ code: 0 })
    expect(made.text).toContain('the seal is without nodes: kvup does not notice a change of it: ')
    const ended = await stage.upgrade(undefined, { plan: 'plan.yaml' })
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.text).toContain('plan.yaml is sealed without nodes: kvup does not notice a change of it: ')
  })
})
