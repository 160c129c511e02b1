import { expect, test } from 'vitest'
import { ensureRights } from '../../../src/lib/engine/change.ts'
import { FakeCluster } from './fake-cluster.ts'

const role = 'kvup-upgrade'
const patch = { verb: 'patch', group: 'kubevirt.io', resource: 'kubevirts', namespace: 'kubevirt' }
const lease = { verb: 'create', group: 'coordination.k8s.io', resource: 'leases', namespace: 'kubevirt' }
const log = { verb: 'get', group: '', resource: 'pods', subresource: 'log' }

test('every right there: no warning', async () => {
  const { reviewer } = new FakeCluster().cluster()
  expect(await ensureRights(reviewer, { required: [patch], optional: [log], role })).toEqual([])
})

test('a missing required right is exit 7: verb, resource, namespace, as whom, and the role', async () => {
  const fake = new FakeCluster()
  fake.denied = () => true
  await expect(
    ensureRights(fake.cluster().reviewer, { required: [patch, lease], optional: [log], role }),
  ).rejects.toMatchObject({
    exitCode: 7,
    message:
      'jane may not patch kubevirts.kubevirt.io in namespace kubevirt, nor create leases.coordination.k8s.io in namespace kubevirt. Nothing was changed',
    remedy: [expect.stringContaining('kvup rbac kvup-upgrade | kubectl apply -f -')],
  })
})

test('a missing optional right is a warning', async () => {
  const fake = new FakeCluster()
  fake.denied = (_, resource) => resource === 'pods'
  expect(await ensureRights(fake.cluster().reviewer, { required: [patch], optional: [log], role })).toEqual([
    'not allowed to get pods/log: going on without',
  ])
})
