import { expect, it } from 'vitest'
import type { Deployment, ReplicaSet } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { nextMoves } from '../../../../src/simulator/machinery/apps-controllers.ts'
import { share } from '../../../../src/simulator/machinery/owned-pods.ts'

const set = (name: string, replicas: number, availableReplicas = replicas): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name },
  spec: { replicas },
  status: { availableReplicas },
})
const deployment = (replicas: number, rollingUpdate?: object): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'it' },
  spec: { replicas, ...(rollingUpdate && { strategy: { rollingUpdate } }) },
})
const named = (...args: Parameters<typeof nextMoves>) =>
  nextMoves(...args).map(({ set: s, to }) => `${s.metadata.name} ${to}`)

it.each([
  ['one more before any fewer', deployment(2), set('new', 0), [set('old', 2)], ['new 1']],
  ['nothing while the new one is not available', deployment(2), set('new', 1, 0), [set('old', 2)], []],
  ['an old one for each new one that is', deployment(2), set('new', 1), [set('old', 2)], ['old 1']],
  ['the next new one', deployment(2), set('new', 1), [set('old', 1)], ['new 2']],
  ['the last old one', deployment(2), set('new', 2), [set('old', 1)], ['old 0']],
  ['through', deployment(2), set('new', 2), [set('old', 0)], []],
  ['broken old ones first', deployment(2), set('new', 1), [set('old', 1), set('broken', 1, 0)], ['broken 0']],
  [
    'maxUnavailable without surge',
    deployment(4, { maxSurge: 0, maxUnavailable: '50%' }),
    set('new', 0),
    [set('old', 4)],
    ['old 2'],
  ],
  ['fewer replicas', deployment(1), set('new', 3), [], ['new 1']],
])('%s', (...[, wanted, current, old, moves]) => {
  expect(named(wanted, current, old)).toEqual(moves)
})

it('percentages are rounded as the field asks', () => {
  expect([
    share('10%', 3, 'up'),
    share('25%', 2, 'down'),
    share(2, 9, 'up'),
    share(undefined, 9, 'up'),
  ]).toEqual([1, 0, 2, 1])
})
