import { describe, expect, test } from 'vitest'
import type { Deployment, Pod, ReplicaSet } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { itemsOf } from '../../../src/lib/kube/known.ts'
import { assessRollout } from '../../../src/lib/kubevirt/rollout-status.ts'
import { podOf, settled, type Settled, unready } from './settled.ts'
import fixture from './standing.json' with { type: 'json' }

const judge = (damage: (world: Settled) => void, seconds = 5) => {
  const world = settled()
  damage(world)
  return assessRollout(world.snapshot, world.at(seconds))
}
const setCondition = ({ kubevirt }: Settled, type: string, change: object) => {
  const found = kubevirt.status?.conditions?.find((c) => c.type === type)
  if (!found) throw new Error(type)
  Object.assign(found, change)
}
const statusOf = (object: { status?: object }): Record<string, unknown> =>
  (object.status ??= {}) as Record<string, unknown>

/** What is put where in the world, by names; `*` is each of a list. Or the status of a condition. */
interface Damage {
  name: string
  at?: string
  condition?: string
  is: unknown
}

const within = (object: unknown, name: string): unknown[] =>
  name === '*' ? (object as unknown[]) : [(object as Record<string, unknown>)[name]]

const damageOf =
  ({ at = '', condition, is }: Damage) =>
  (world: Settled): void => {
    if (condition !== undefined) return setCondition(world, condition, { status: is })
    const names = at.split(/(?<!\\)\./u).map((name) => name.replaceAll('\\', ''))
    const last = names.pop() ?? ''
    const holders = names.reduce<unknown[]>(
      (objects, name) => objects.flatMap((object) => within(object, name)),
      [world],
    )
    for (const holder of holders) Object.assign(holder as object, { [last]: structuredClone(is) })
  }

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
    verdict: 'Healthy',
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
  test.each<Damage & { waits: string }>(fixture.rules as never)('$name', ({ waits, ...row }) => {
    const { verdict, waitingFor } = judge(damageOf(row))
    expect(verdict).not.toBe('Healthy')
    expect(waitingFor).toMatch(new RegExp(waits, 'u'))
  })

  const others: readonly (readonly [string, (world: Settled) => void, RegExp])[] = [
    ['Created', (w) => w.kubevirt.status?.conditions?.pop(), /Created is not set/],
    [
      'Synchronized',
      (w) => w.kubevirt.status?.conditions?.push({ type: 'Synchronized', status: 'False', reason: 'X' }),
      /Synchronized=False \(X\)/,
    ],
  ]
  test.each(others)('%s', (_name, damage, expected) => {
    const { verdict, waitingFor } = judge(damage)
    expect(verdict).not.toBe('Healthy')
    expect(waitingFor).toMatch(expected)
  })
})

describe('what kvup expects beyond what KubeVirt and Kubernetes say is a doubt: named, and Settled all the same', () => {
  const doubted: readonly (readonly [
    string,
    (world: Settled) => void,
    string,
    RegExp,
    (number | undefined)?,
  ])[] = [
    ...(fixture.doubts as readonly (Damage & { id: string; says: string; seconds?: number })[]).map(
      ({ id, says, seconds, ...row }) =>
        [row.name, damageOf(row), id, new RegExp(says, 'u'), seconds] as const,
    ),
    [
      '--migration-cn-types',
      (w) => w.handler.spec?.template?.spec?.containers?.forEach((c) => c.args?.splice(-2)),
      'handler-roll-to-come',
      /its second rollout.*now or in a later release$/,
    ],
    [
      'identifier of an extra pod',
      (w) => {
        const extra = structuredClone(podOf(w.pods, 'virt-api'))
        Object.assign(extra.metadata.annotations ?? {}, { 'kubevirt.io/install-strategy-identifier': 'old' })
        extra.metadata.name = 'virt-api-old'
        w.snapshot.pods = { known: true, items: [...w.pods, extra] }
      },
      'old-pods',
      /virt-api: pods of another version still run: virt-api-old/,
    ],
    [
      'a pod without an identifier',
      (w) => (podOf(w.pods, 'virt-api').metadata.annotations = {}),
      'pods-not-seen',
      /virt-api: Kubernetes counts 2 updated pods, and 1 of its pods/,
    ],
  ]
  test.each(doubted.map((row) => ({ name: row[0], row })))(
    '$name',
    ({ row: [, damage, id, sentence, seconds] }) => {
      const { verdict, why, doubts } = judge(damage, seconds)
      expect({ verdict, why }).toEqual({ verdict: 'Healthy', why: [] })
      expect(doubts[0]).toMatchObject({ id, sentence: expect.stringMatching(sentence) })
      expect(doubts.every(({ commands }) => commands.length > 0)).toBe(true)
    },
  )

  test('none of it is said while KubeVirt is at work: then it is no news', () => {
    const { doubts } = judge((w) => {
      for (const [, damage] of doubted.slice(0, 6)) damage(w)
      setCondition(w, 'Progressing', { status: 'True' })
    })
    expect(doubts).toEqual([])
  })
})

const copied = (w: Settled, name: string): Deployment => {
  const made = structuredClone(w.api)
  Object.assign(made.metadata, { name, uid: `uid-of-${name}`, labels: { ...made.metadata.labels } })
  delete made.metadata.labels?.['kubevirt.io']
  w.snapshot.deployments = { known: true, items: [...itemsOf(w.snapshot.deployments), made] }
  return made
}
const listed = (w: Settled, name: string) =>
  w.kubevirt.status?.generations?.push({
    group: 'apps',
    resource: 'deployments',
    namespace: 'kubevirt',
    name,
    lastGeneration: 1,
  })
const podFor = (w: Settled, name: string): Pod => {
  const pod = structuredClone(podOf(w.pods, 'virt-api'))
  const hash = 'abc12'
  Object.assign(pod.metadata, { name: `${name}-${hash}-x`, labels: { 'pod-template-hash': hash } })
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: `${name}-${hash}`,
    uid: 'rs',
    controller: true,
  }
  pod.metadata.ownerReferences = [owner]
  return pod
}

describe('a component is what virt-operator owns, whatever it is called', () => {
  test('one that nobody has heard of is waited for by its own counts, and its pods by who owns them', () => {
    const damaged = judge((w) => {
      statusOf(copied(w, 'virt-novelty'))['updatedReplicas'] = 1
      listed(w, 'virt-novelty')
    })
    expect(damaged).toMatchObject({
      verdict: 'Updating',
      waitingFor: expect.stringMatching(/virt-novelty: 1\/2/),
    })
    const whole = judge((w) => {
      copied(w, 'virt-novelty')
      listed(w, 'virt-novelty')
      const pods = [podFor(w, 'virt-novelty'), podFor(w, 'virt-novelty')]
      w.snapshot.pods = { known: true, items: [...w.pods, ...pods] }
    })
    expect(whole).toMatchObject({ verdict: 'Healthy', doubts: [] })
    expect(whole.components.map(({ name }) => name)).toContain('virt-novelty')
  })

  test('one that bears the stamps and is not in the list of virt-operator keeps nobody waiting: a doubt', () => {
    const forged = judge((w) => (statusOf(copied(w, 'mine'))['readyReplicas'] = 0))
    expect(forged).toMatchObject({ verdict: 'Healthy', doubts: [{ id: 'component-not-listed' }] })
    expect(forged.components.map(({ name }) => name)).not.toContain('mine')
  })

  test('a pod that bears labels and stamps and is owned by nobody counts for nothing', () => {
    const { verdict, doubts, components } = judge((w) => {
      const forged = structuredClone(podOf(w.pods, 'virt-api'))
      Object.assign(forged.metadata, { name: 'forged', ownerReferences: [] })
      Object.assign(forged.metadata.annotations ?? {}, { 'kubevirt.io/install-strategy-identifier': 'old' })
      w.snapshot.pods = { known: true, items: [...w.pods, forged] }
    })
    expect({ verdict, doubts }).toEqual({ verdict: 'Healthy', doubts: [] })
    expect(components.find(({ name }) => name === 'virt-api')?.updated).toBe(2)
  })

  test('where ReplicaSets were seen, their uid decides and no name', () => {
    const { doubts } = judge((w) => {
      const sets = new Map<string, ReplicaSet>()
      for (const { metadata } of w.pods)
        for (const { kind, name, uid } of metadata.ownerReferences ?? []) {
          const deployment = [w.operator, ...itemsOf(w.snapshot.deployments)].find((d) =>
            name.startsWith(`${d.metadata.name}-`),
          )
          if (kind !== 'ReplicaSet' || !deployment) continue
          const owner = {
            apiVersion: 'apps/v1',
            kind: 'Deployment',
            name: 'x',
            uid: deployment.metadata.uid ?? '',
            controller: true,
          }
          sets.set(uid, {
            apiVersion: 'apps/v1',
            kind: 'ReplicaSet',
            metadata: { name, uid, ownerReferences: [owner] },
          })
        }
      const [first, ...rest] = [...sets.values()].filter(({ metadata }) =>
        metadata.name.startsWith('virt-api'),
      )
      expect(rest).toEqual([])
      w.snapshot.replicaSets = { known: true, items: [...sets.values()].filter((set) => set !== first) }
    })
    expect(doubts).toMatchObject([
      { id: 'pods-not-seen', sentence: expect.stringMatching(/^virt-api: .* and 0 of its pods/) },
    ])
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
    expect(judge(change)).toMatchObject({ verdict: 'Healthy' })
  })
})

test('an unknown part is said, never silently passed', () => {
  const { verdict, remarks, operator } = judge((w) => {
    w.snapshot.leases = { known: false, why: 'leases is forbidden' }
  })
  expect(verdict).toBe('Healthy')
  expect(operator?.leads).toBeUndefined()
  expect(remarks).toEqual(['leases are not checked: leases is forbidden'])
})

test('a holder that is no pod of the operator cannot be told, and is remarked', () => {
  const { verdict, remarks } = judge((w) => w.leases.forEach((l) => (l.spec = { holderIdentity: 'laptop' })))
  expect(verdict).toBe('Healthy')
  expect(remarks).toEqual(['kvup cannot see which virt-operator leads: laptop is not one of its pods'])
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
