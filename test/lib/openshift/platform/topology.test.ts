import { expect, test } from 'vitest'
import type { ClusterOperator, Infrastructure } from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import { type PlatformSnapshot, unreadPlatform } from '../../../../src/lib/openshift/platform-status.ts'
import { topologyOf } from '../../../../src/lib/openshift/eus-window.ts'
import { node, pool } from './pools.ts'

const known = <T>(...items: T[]) => ({ known: true, items }) as const

const infrastructure = (status: Infrastructure['status']): Infrastructure => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'Infrastructure',
  metadata: { name: 'cluster' },
  ...(status && { status }),
})

const aro: ClusterOperator = {
  apiVersion: 'config.openshift.io/v1',
  kind: 'ClusterOperator',
  metadata: { name: 'aro' },
}
const tagged = (key: string, value: string) =>
  known(infrastructure({ platformStatus: { aws: { resourceTags: [{ key, value }] } } }))
const nodes = known(...['a', 'b', 'c'].map((name) => node(name, ['master'])))
const masters = [pool('master'), pool('worker', [], { machines: 0 })]

test.each<readonly [string, Partial<PlatformSnapshot>, string]>([
  ['workers', { pools: known(pool('master'), pool('worker')), nodes }, 'usual'],
  ['a custom pool alone has machines', { pools: known(...masters, pool('gpu')), nodes }, 'usual'],
  ['masters only', { pools: known(...masters), nodes }, 'compact'],
  ['one node', { pools: known(...masters), nodes: known(node('a', ['master'])) }, 'single-node'],
  [
    'one replica, nodes unread',
    { infrastructure: known(infrastructure({ controlPlaneTopology: 'SingleReplica' })) },
    'single-node',
  ],
  [
    'External',
    { infrastructure: known(infrastructure({ controlPlaneTopology: 'External' })), nodes },
    'hosted',
  ],
  [
    'ROSA',
    { infrastructure: tagged('red-hat-clustertype', 'rosa'), pools: known(pool('worker')), nodes },
    'managed',
  ],
  ['managed, of whatever kind', { infrastructure: tagged('red-hat-managed', 'true'), nodes }, 'managed'],
  ['ARO', { clusterOperators: known(aro), pools: known(pool('worker')), nodes }, 'managed'],
  ['other tags', { infrastructure: tagged('team', 'rosa'), pools: known(pool('worker')), nodes }, 'usual'],
  ['nothing may be read', {}, 'unknown'],
])('%s', (_name, parts, is) => {
  const found = topologyOf({ ...unreadPlatform, ...parts })
  expect(found.is).toBe(is)
  expect(found.because).not.toBe('')
  expect(found.owner !== undefined).toBe(is === 'managed' || is === 'hosted')
})
