import { describe, expect, test } from 'vitest'
import type { MachineConfigPool } from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import { condition } from '../../../../src/lib/kube/object.ts'
import { poolOf, assessPool } from '../../../../src/lib/openshift/machine-config-pools.ts'
import { conditions, type Said } from './cluster-version.ts'
import { node, pool } from './pools.ts'

const updating: Said[] = [
  ['Updated', 'False'],
  ['Updating', 'True', '', 'All nodes are updating to rendered-worker-b'],
]

describe('trap 18: what Updated and Updating of a pool say is not what they seem', () => {
  test.each<readonly [string, MachineConfigPool, string]>([
    ['at rest', pool('worker'), 'updated'],
    ['rolling', pool('worker', updating, { wants: 'b' }), 'updating'],
    ['wanted and not begun', pool('worker', [], { wants: 'b' }), 'pending'],
    ['its controller has not seen the spec', pool('worker', [], { generation: 9 }), 'pending'],
    ['degraded', pool('worker', [['Degraded', 'True', '', 'x'], ...updating], { wants: 'b' }), 'degraded'],
    ['a node degraded', pool('worker', [['NodeDegraded', 'True', '', 'failed to drain']]), 'degraded'],
    ['paused with nothing to do', pool('worker', [], { paused: true }), 'updated'],
    ['fewer updated than there are', pool('worker', [], { updated: 2 }), 'pending'],
  ])('%s', (_name, one, state) => {
    expect(assessPool(one).state).toBe(state)
  })

  test('paused and pending: neither Updated nor Updating, for days; who waits for Updated waits for ever', () => {
    const paused: Said[] = [
      ['Updated', 'False'],
      ['Updating', 'False', '', 'Pool is paused; will not update to rendered-worker-b'],
    ]
    const one = pool('worker', paused, { paused: true, wants: 'b' })
    expect(condition(one, 'Updated')?.status).toBe('False')
    expect(assessPool(one)).toMatchObject({
      state: 'paused-pending',
      paused: true,
      message: 'Pool is paused; will not update to rendered-worker-b',
    })
  })

  test('a paused image-mode pool says Updating=True, and does not update', () => {
    const one = pool('worker', updating, { paused: true, wants: 'b' })
    expect(condition(one, 'Updating')?.status).toBe('True')
    expect(assessPool(one).state).toBe('paused-pending')
  })

  test('just unpaused, its old Updated lingers: the naive reading is done before anything began', () => {
    const one = pool('worker', [], { generation: 9, wants: 'b' })
    expect(condition(one, 'Updated')?.status).toBe('True')
    expect(assessPool(one)).toMatchObject({ state: 'pending', current: false })
  })
})

test('master is known by its name, and any other by the label that says the update needs it', () => {
  const arbiter = pool('arbiter')
  arbiter.metadata.labels = { 'operator.machineconfiguration.openshift.io/required-for-upgrade': '' }
  expect(
    [pool('master'), arbiter, pool('worker'), pool('gpu')].map((one) => assessPool(one).isMaster),
  ).toEqual([true, true, false, false])
})

test('what a pool without a status is: pending, of no machines', () => {
  const bare: MachineConfigPool = { ...pool('worker'), status: { conditions: conditions([]) } }
  expect(assessPool(bare)).toMatchObject({ state: 'pending', machines: 0, message: '' })
})

function by(operator: string, values: string[]): MachineConfigPool {
  const one = pool('zone')
  one.spec = { ...one.spec, nodeSelector: { matchExpressions: [{ key: 'zone', operator, values }] } }
  return one
}

describe('the pool of a node', () => {
  const custom = pool('gpu')
  custom.spec = {
    ...custom.spec,
    nodeSelector: { matchExpressions: [{ key: 'node-role.kubernetes.io/gpu', operator: 'Exists' }] },
  }
  const second = pool('edge')
  const pools = [pool('master'), pool('worker'), custom, second]
  test.each([
    [['worker'], 'worker'],
    [['worker', 'gpu'], 'gpu'],
    [['worker', 'master'], 'master'],
    [['master', 'gpu'], 'master'],
    [['worker', 'gpu', 'edge'], undefined],
    [[], undefined],
  ])('%j is of %s', (roles, name) => {
    expect(poolOf(node('a', roles), pools)?.metadata.name).toBe(name)
  })

  test('a selector may name values', () => {
    const at = node('a', [])
    at.metadata.labels = { zone: 'b' }
    expect(poolOf(at, [by('In', ['b'])])).toBeDefined()
    expect(poolOf(at, [by('In', ['c'])])).toBeUndefined()
    expect(poolOf(at, [by('NotIn', ['c'])])).toBeDefined()
    expect(poolOf(at, [by('DoesNotExist', [])])).toBeUndefined()
  })
})
