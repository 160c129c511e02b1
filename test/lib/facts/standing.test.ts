import { describe, expect, test } from 'vitest'
import { standing } from '../../../src/lib/facts/standing.ts'
import { podOf, settled, type Settled, unready } from './settled.ts'

const judge = (damage: (world: Settled) => void, seconds = 5) => {
  const world = settled()
  damage(world)
  return standing(world.snapshot, world.at(seconds))
}
const setCondition = ({ kubevirt }: Settled, type: string, change: object) => {
  const found = kubevirt.status?.conditions?.find((c) => c.type === type)
  if (!found) throw new Error(type)
  Object.assign(found, change)
}
const statusOf = (object: { status?: object }): Record<string, unknown> =>
  (object.status ??= {}) as Record<string, unknown>

const failed = (w: Settled) => {
  const since = w.at(0).toISOString()
  const change = { reason: 'DeploymentFailed', message: 'no', lastTransitionTime: since }
  for (const type of ['Available', 'Progressing']) setCondition(w, type, { ...change, status: 'False' })
  setCondition(w, 'Degraded', { ...change, status: 'True' })
}

const replaced = (w: Settled) => {
  failed(w)
  statusOf(w.operator)['updatedReplicas'] = 1
}

const crashing = (w: Settled) => {
  const pod = podOf(w.pods, 'virt-handler')
  unready(pod, w.at(0))
  const waiting = { state: { waiting: { reason: 'CrashLoopBackOff' } }, ready: false, restartCount: 4 }
  pod.status?.containerStatuses?.forEach((status) => Object.assign(status, waiting))
  statusOf(w.handler)['numberReady'] = 2
}

const updating = (w: Settled) => {
  crashing(w)
  statusOf(w.kubevirt)['observedDeploymentID'] = 'old'
}

const short = (w: Settled) => {
  unready(podOf(w.pods, 'virt-handler'), w.at(0))
  statusOf(w.handler)['numberReady'] = 2
}

const asked = (w: Settled) => {
  statusOf(w.kubevirt)['observedDeploymentID'] = 'old'
  setCondition(w, 'Progressing', { lastTransitionTime: w.at(0).toISOString() })
}

test('the real cluster as it was recorded is Settled, with nothing in the way', () => {
  const { verdict, why, waitingFor, remarks, components, operator } = judge(() => undefined)
  expect({ verdict, why, waitingFor, remarks }).toEqual({
    verdict: 'Settled',
    why: [],
    waitingFor: undefined,
    remarks: [],
  })
  expect(components.map(({ name, state, updated }) => `${name} ${state} ${updated}`)).toEqual([
    'virt-handler current 3',
    'virt-controller current 2',
    'virt-api current 2',
  ])
  expect(operator).toMatchObject({ version: 'v1.8.4', ready: 2, rolled: true, leads: true })
})

describe('each rule of Settled, broken alone', () => {
  const rules: readonly (readonly [string, (world: Settled) => void, RegExp])[] = [
    ['Available', (w) => setCondition(w, 'Available', { status: 'False' }), /Available=False/],
    ['Progressing', (w) => setCondition(w, 'Progressing', { status: 'True' }), /Progressing=True/],
    ['Degraded', (w) => setCondition(w, 'Degraded', { status: 'True' }), /Degraded=True/],
    ['Created', (w) => w.kubevirt.status?.conditions?.pop(), /Created is not set/],
    [
      'Synchronized',
      (w) => w.kubevirt.status?.conditions?.push({ type: 'Synchronized', status: 'False', reason: 'X' }),
      /Synchronized=False \(X\)/,
    ],
    ['generation', (w) => (w.kubevirt.metadata.generation = 3), /act on generation 3; it has finished 2/],
    ['target ID', (w) => (statusOf(w.kubevirt)['observedDeploymentID'] = 'other'), /finish v1.8.4/],
    ['target version', (w) => (statusOf(w.kubevirt)['observedKubeVirtVersion'] = 'v1.8.3'), /finish v1.8.4/],
    ['target registry', (w) => (statusOf(w.kubevirt)['observedKubeVirtRegistry'] = 'x'), /finish v1.8.4/],
    [
      'operatorVersion',
      (w) => (statusOf(w.kubevirt)['operatorVersion'] = 'v1.7.0'),
      /virt-operator v1.8.4 to speak/,
    ],
    ['operator generation', (w) => (w.operator.metadata.generation = 9), /virt-operator: 0\/2 updated/],
    ['operator surge', (w) => (statusOf(w.operator)['replicas'] = 3), /virt-operator: an old pod to go/],
    ['operator ready', (w) => (statusOf(w.operator)['readyReplicas'] = 1), /virt-operator: 1\/2 ready/],
    [
      'operator Lease of a dead pod',
      (w) => w.leases.forEach((lease) => (lease.spec = { holderIdentity: 'virt-operator-6b5c5cd5d9-wz99l' })),
      /take its Lease/,
    ],
    ['operator Lease of nobody', (w) => w.leases.forEach((lease) => (lease.spec = {})), /take its Lease/],
    ['DaemonSet generation', (w) => (w.handler.metadata.generation = 9), /virt-handler: 3\/3 updated/],
    [
      'DaemonSet updated',
      (w) => (statusOf(w.handler)['updatedNumberScheduled'] = 2),
      /virt-handler: 2\/3 updated/,
    ],
    ['DaemonSet ready', (w) => (statusOf(w.handler)['numberReady'] = 2), /virt-handler: 2\/3 ready/],
    [
      'DaemonSet on no node',
      (w) => (statusOf(w.handler)['desiredNumberScheduled'] = 0),
      /virt-handler: 0\/0 updated/,
    ],
    [
      'maxUnavailable',
      (w) =>
        (w.handler.spec = {
          ...w.handler.spec,
          updateStrategy: { rollingUpdate: { maxUnavailable: '10%' } },
        }),
      /virt-handler: .*maxUnavailable back from 10%/,
    ],
    [
      '--migration-cn-types',
      (w) => w.handler.spec?.template?.spec?.containers?.forEach((c) => c.args?.splice(-2)),
      /virt-handler: .*its second roll/,
    ],
    [
      'old certificate volume',
      (w) =>
        Object.assign(w.handler.spec?.template?.spec ?? {}, {
          volumes: [{ name: 'kubevirt-virt-handler-certs' }],
        }),
      /virt-handler: .*its last roll/,
    ],
    ['Deployment updated', (w) => (statusOf(w.api)['updatedReplicas'] = 1), /virt-api: 1\/2 updated/],
    ['Deployment ready', (w) => (statusOf(w.api)['readyReplicas'] = 1), /virt-api: 1\/2 ready/],
    ['Deployment surge', (w) => (statusOf(w.api)['replicas'] = 3), /virt-api: 2\/2 updated/],
    [
      'identifier of an object',
      (w) =>
        Object.assign(w.api.metadata.annotations ?? {}, { 'kubevirt.io/install-strategy-identifier': 'old' }),
      /virt-api: its turn has not come/,
    ],
    [
      'identifier of an extra pod',
      (w) => {
        const extra = structuredClone(podOf(w.pods, 'virt-api'))
        Object.assign(extra.metadata.annotations ?? {}, { 'kubevirt.io/install-strategy-identifier': 'old' })
        extra.metadata.name = 'virt-api-old'
        w.snapshot.pods = { known: true, items: [...w.pods, extra] }
      },
      /pods of another version to go: virt-api-old/,
    ],
    [
      'virt-api there at all',
      (w) => (w.snapshot.deployments = { known: true, items: [] }),
      /not created yet/,
    ],
    [
      'virt-operator there at all',
      (w) => (w.snapshot.operators = { known: true, items: [] }),
      /no such Deployment/,
    ],
    [
      'not being deleted',
      (w) => (w.kubevirt.metadata.deletionTimestamp = '2026-11-21T08:00:00Z'),
      /be deleted/,
    ],
  ]
  test.each(rules)('%s', (_name, damage, expected) => {
    const { verdict, waitingFor } = judge(damage)
    expect(verdict).not.toBe('Settled')
    expect(waitingFor).toMatch(expected)
  })
})

describe('what may differ without being unsettled', () => {
  const harmless: readonly (readonly [string, (world: Settled) => void])[] = [
    [
      'an evicted pod of an older version that nobody removed',
      (w) => {
        const dead = structuredClone(podOf(w.pods, 'virt-api'))
        dead.metadata.annotations = {}
        dead.status = { phase: 'Failed', reason: 'Evicted' }
        w.snapshot.pods = { known: true, items: [...w.pods, dead] }
      },
    ],
    [
      'an operator that calls itself by a build',
      (w) => (statusOf(w.kubevirt)['operatorVersion'] = 'v1.8.4-12-g0a1b2c3'),
    ],
    ['the phase, which says nothing (trap 1)', (w) => (statusOf(w.kubevirt)['phase'] = 'Deploying')],
    [
      'a maxUnavailable that the owner customized',
      (w) => {
        w.handler.spec = { ...w.handler.spec, updateStrategy: { rollingUpdate: { maxUnavailable: 5 } } }
        const patch = {
          resourceName: 'virt-handler',
          resourceType: 'DaemonSet',
          type: 'merge',
          patch: '{"maxUnavailable":5}',
        }
        w.kubevirt.spec = { ...w.kubevirt.spec, customizeComponents: { patches: [patch] } }
      },
    ],
    [
      'a Job of a wrong tag that stayed behind (lab 5)',
      (w) => {
        const annotations = { 'kubevirt.io/install-strategy-identifier': 'wrong' }
        const job = {
          apiVersion: 'batch/v1',
          kind: 'Job',
          metadata: { name: 'j', namespace: 'kubevirt', annotations },
        }
        w.snapshot.jobs = { known: true, items: [job] }
      },
    ],
  ]
  test.each(harmless)('%s', (_name, change) => {
    expect(judge(change)).toMatchObject({ verdict: 'Settled' })
  })
})

test('an unknown part is said, never silently passed', () => {
  const { verdict, remarks, operator } = judge((w) => {
    w.snapshot.leases = { known: false, why: 'leases is forbidden' }
  })
  expect(verdict).toBe('Settled')
  expect(operator?.leads).toBeUndefined()
  expect(remarks).toEqual(['leases are not judged: leases is forbidden'])
})

test('a holder that is no pod of the operator cannot be told, and is remarked', () => {
  const { verdict, remarks } = judge((w) => w.leases.forEach((l) => (l.spec = { holderIdentity: 'laptop' })))
  expect(verdict).toBe('Settled')
  expect(remarks).toEqual(['it cannot be told which virt-operator leads: laptop is no pod of it'])
})

describe('how long before it counts', () => {
  test('DeploymentFailed is transient for 60 s, then Degraded', () => {
    expect(judge(failed, 59)).toMatchObject({ verdict: 'Updating' })
    expect(judge(failed, 60)).toMatchObject({ verdict: 'Degraded' })
    expect(judge(failed, 59).conditions.map((c) => c.judged)).toContain('transient')
    expect(judge(failed, 60).conditions.map((c) => c.judged)).toContain('bad')
  })
  test('but not while its operator is being replaced: it is not the last word', () => {
    expect(judge(replaced, 120)).toMatchObject({ verdict: 'Updating' })
  })

  test('a terminal container reason counts after 15 s: Degraded when nothing was asked for', () => {
    expect(judge(crashing, 14)).toMatchObject({ verdict: 'Updating', why: [{ kind: 'crash' }] })
    expect(judge(crashing, 15)).toMatchObject({ verdict: 'Degraded' })
    expect(judge(crashing, 15).components[0]).toMatchObject({ name: 'virt-handler', state: 'stalled' })
  })
  test('and Stalled when an update is under way', () => {
    expect(judge(updating, 14)).toMatchObject({ verdict: 'Updating' })
    expect(judge(updating, 15)).toMatchObject({ verdict: 'Stalled' })
  })

  test('replicas short with nothing moving: Degraded after 60 s', () => {
    expect(judge(short, 59)).toMatchObject({ verdict: 'Updating' })
    expect(judge(short, 60)).toMatchObject({ verdict: 'Degraded' })
  })

  test('an update in which nothing changed for 10 minutes: Stalled', () => {
    expect(judge(asked, 599)).toMatchObject({ verdict: 'Updating' })
    expect(judge(asked, 600)).toMatchObject({ verdict: 'Stalled' })
  })
})

test('a bad verdict never stands without a reason: the silent operator is named', () => {
  const silent = (w: Settled) => {
    asked(w)
    for (const lease of w.leases) lease.spec = { ...lease.spec, renewTime: w.at(0).toISOString() }
  }
  expect(judge(asked, 600).why).toMatchObject([
    { kind: 'quiet', sentence: expect.stringContaining('still waiting for virt-operator to finish') },
  ])
  expect(judge(silent, 600).why).toMatchObject([{ reason: 'LeaseNotRenewed' }])
})

test('the three True conditions of an update are expected, not bad (trap 2)', () => {
  const { conditions } = judge((w) => {
    for (const type of ['Available', 'Progressing', 'Degraded'])
      setCondition(w, type, { status: 'True', reason: 'UpdateInProgress' })
  })
  expect(conditions.map(({ type, judged }) => `${type} ${judged}`)).toEqual([
    'Available good',
    'Progressing expected',
    'Degraded expected',
    'Created good',
  ])
})

test('Settled since: the last thing that moved', () => {
  expect(judge(() => undefined, 3600).since).toBe('2026-11-21T07:30:59Z')
})
