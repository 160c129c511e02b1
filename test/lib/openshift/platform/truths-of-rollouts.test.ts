import { describe, expect, test } from 'vitest'
import {
  ago,
  cluster,
  hop,
  idle,
  installed,
  layerIn,
  list,
  nodes,
  numbersOf,
  pool,
  renderedConfig,
  type Says,
  told,
} from './dumps.ts'

/** A row for each of "What oc sees on a real platform, and kvup did not": what was missing of an update that is under way, of nodes and of what is offered, by its number. */

const took = (version: string, minutes: number, day: number) => ({
  version,
  started: ago(`${day}d`),
  completed: new Date(Date.parse(ago(`${day}d`)) + minutes * 60_000).toISOString(),
})

describe('wrong 11 and missing 3, 4: how far an update is, in numbers, and how long it takes', () => {
  const versions = { etcd: '4.14.1', 'config-operator': '4.14.1' }
  const progressing: Says = { type: 'Progressing', status: 'True', since: ago('10m'), message: 'rolls' }
  const co = { version: '4.13.6', versions, says: { 'kube-apiserver': [progressing] } }

  test('operators updated, updating, waiting, and per cent, while it fails too', async () => {
    const failing: Says = { type: 'Failing', status: 'True', since: ago('4m'), message: 'etcd fails' }
    const message = 'Unable to apply 4.14.1: etcd fails'
    for (const says of [[], [failing, { type: 'Progressing', status: 'True', message } as Says]]) {
      const { document, text } = await told(cluster({ cv: { history: [hop, installed], says }, co }))
      expect(numbersOf(document).update).toMatchObject({
        operators: {
          total: 33,
          updated: 2,
          updating: ['kube-apiserver'],
          waiting: 30,
          percent: 6,
          outdated: expect.arrayContaining([{ name: 'kube-apiserver', version: '4.13.6' }]),
        },
      })
      expect(text).toContain('operators: 2 of 33 updated (6%), updating now: kube-apiserver, 30 waiting')
    }
  })

  const before = [
    took('4.13.6', 90, 10),
    took('4.13.5', 4920, 30),
    took('4.13.4', 81, 40),
    took('4.12.1', 40, 80),
  ]

  test('by the last and the median, not the extremes; one figure, and "at least"', async () => {
    const history = [{ ...hop, started: ago('20m') }, ...before]
    const { document, text } = await told(cluster({ cv: { history }, co }))
    const { update } = numbersOf(document)
    expect(update).toMatchObject({
      pace: 'as-usual',
      usual: { seconds: 5400, by: 'own-updates', updates: 3, lastSeconds: 5400, medianSeconds: 5400 },
    })
    expect(update?.leftSeconds).toBeGreaterThan(3600)
    expect(update?.leftSeconds).toBeLessThan(5400)
    expect(text).toMatch(
      /at least 1 h 26 m left \(its last update took 1 h 30 m, the median of 3 1 h 30 m\)/u,
    )
    const plan = await told(
      cluster({ cv: { ...idle, history: [took('4.14.1', 90, 9), ...before] } }),
      'eus plan --to 4.15',
    )
    expect(plan.text).toContain('1 h 10 m to 2 h 45 m, with the operator')
  })

  test.each([
    ['20m', ago('1m'), 'as-usual', 'Updating'],
    ['2h', ago('1m'), 'slow', 'Updating'],
    ['2h', ago('31m'), 'stalled', 'Stalled'],
    ['34h', ago('1m'), 'stalled', 'Stalled'],
  ])('under way for %s, with a change %s: %s', async (span, since, pace, verdict) => {
    const moved: Says = { type: 'Progressing', status: 'True', since, message: 'rolls' }
    const history = [{ ...hop, started: ago(span) }, ...before]
    const says: Says[] = [
      { type: 'Progressing', status: 'True', since: ago(span), message: 'Working towards 4.14.1' },
    ]
    const folder = cluster({ cv: { history, says }, co: { ...co, says: { 'kube-apiserver': [moved] } } })
    const { document } = await told(folder)
    expect(numbersOf(document).update?.pace).toBe(pace)
    expect(layerIn(document, 'platform')?.verdict).toBe(verdict)
  })
})

const vmi = (name: string, on: string, spec: object = {}, migratable: object = { status: 'True' }) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name, namespace: 'demo', uid: `vmi-${name}`, labels: { app: 'web' }, resourceVersion: '1' },
  spec: { evictionStrategy: 'LiveMigrate', domain: {}, ...spec },
  status: { phase: 'Running', nodeName: on, conditions: [{ type: 'LiveMigratable', ...migratable }] },
})

const budget = (name: string, status: object, more: object = {}) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: 'demo', uid: `pdb-${name}`, resourceVersion: '1', ...more },
  spec: { maxUnavailable: 1, selector: { matchLabels: { 'kubevirt.io': 'virt-launcher' } } },
  status,
})

const syncFailed = {
  disruptionsAllowed: 0,
  conditions: [
    {
      type: 'DisruptionAllowed',
      status: 'False',
      reason: 'SyncFailed',
      message: 'virtualmachineinstances.kubevirt.io does not implement the scale subresource',
    },
  ],
}

describe('missing 1: which VMs keep a node of a degraded or updating pool from being drained', () => {
  const stuck: Says = {
    type: 'NodeDegraded',
    status: 'True',
    message:
      'Node worker-0 is reporting: "failed to drain node: worker-0 after 1 hour. Please see machine-config-controller logs for more information"',
  }
  const failed = pool('worker', {
    degraded: 1,
    unavailable: 1,
    updated: 1,
    wants: 'b',
    has: 'a',
    says: [stuck],
  })
  const rolls = pool('worker', { unavailable: 1, updated: 1, wants: 'b', has: 'a' })
  const draining = [
    ...nodes('master', 3),
    ...nodes('worker', 1, {
      desired: 'b',
      state: 'Working',
      drain: 'drain',
      lastDrain: 'uncordon',
      cordoned: true,
    }),
  ]
  const on = (worker: object, vms: readonly object[]) =>
    cluster({
      cv: idle,
      co: { version: '4.14.1' },
      pools: [pool('master'), worker],
      nodes: draining,
      more: { 'vms.yaml': list(...vms) },
    })

  test.each([
    ['degraded', failed],
    ['updating', rolls],
  ])('%s, by a budget that cannot count launchers', async (_name, worker) => {
    const folder = on(worker, [vmi('web-1', 'worker-0'), vmi('web-2', 'worker-1'), budget('web', syncFailed)])
    const { document, text } = await told(folder)
    const layer = layerIn(document, 'pool worker')
    expect(layer?.notes).toContain(
      'node worker-0 cannot be drained: VM demo/web-1 may not be evicted: PodDisruptionBudget web allows no disruption: virtualmachineinstances.kubevirt.io does not implement the scale subresource',
    )
    expect(layer?.help?.[0]).toMatch(
      /^kubectl -n demo describe poddisruptionbudget web {5}give it minAvailable/u,
    )
    expect(text).toContain('VM demo/web-1 may not be evicted')
    expect(text).not.toContain('web-2')
    expect(numbersOf(document).pools.find(({ name }) => name === 'worker')?.drains).toEqual([
      {
        node: 'worker-0',
        vms: [
          expect.objectContaining({ vm: 'demo/web-1', by: 'budget', budget: 'demo/web', cannotCount: true }),
        ],
      },
    ])
    expect(numbersOf(document).findings).toContainEqual(
      expect.objectContaining({
        impact: 'update-stalled',
        objects: ['node/worker-0', 'virtualmachineinstance/demo/web-1', 'poddisruptionbudget/demo/web'],
      }),
    )
  })

  test('by a VM that is to be live-migrated and cannot', async () => {
    const why = {
      status: 'False',
      reason: 'DisksNotLiveMigratable',
      message: 'cannot migrate VMI: PVC root is not shared',
    }
    const { document } = await told(
      on(rolls, [vmi('db', 'worker-0', {}, why), budget('other', { disruptionsAllowed: 1 })]),
    )
    const layer = layerIn(document, 'pool worker')
    expect(layer?.notes).toContain(
      'node worker-0 cannot be drained: VM demo/db cannot be live-migrated: cannot migrate VMI: PVC root is not shared',
    )
    expect(layer?.help?.[0]).toMatch(/^kvup workloads unblock --all --dry-run=client/u)
  })

  test.each([
    [
      'a VM that is shut down instead',
      [vmi('a', 'worker-0', { evictionStrategy: 'None' }, { status: 'False' })],
    ],
    [
      'a VM that migrates if it can',
      [vmi('a', 'worker-0', { evictionStrategy: 'LiveMigrateIfPossible' }, { status: 'False' })],
    ],
    [
      'a budget of KubeVirt itself',
      [
        vmi('a', 'worker-0'),
        budget(
          'kubevirt-disruption-budget-x',
          { disruptionsAllowed: 0 },
          {
            ownerReferences: [
              {
                apiVersion: 'kubevirt.io/v1',
                kind: 'VirtualMachineInstance',
                name: 'a',
                uid: 'u',
                controller: true,
              },
            ],
          },
        ),
      ],
    ],
  ])('%s is not in the way', async (_name, objects) => {
    const unrelated = budget('fine', { disruptionsAllowed: 2 })
    const { text } = await told(on(rolls, [...objects, unrelated]))
    expect(text).not.toContain('cannot be drained')
  })

  test('a budget that only bears the name of KubeVirt’s own is', async () => {
    const copied = budget('kubevirt-disruption-budget-x', { disruptionsAllowed: 0 })
    expect((await told(on(rolls, [vmi('a', 'worker-0'), copied]))).text).toContain('cannot be drained')
  })

  test('where VMs or budgets were not saved, that is said', async () => {
    const { text } = await told(on(rolls, []))
    expect(text).toContain('kvup does not know which VMs block the drain of node worker-0')
  })
})

const worker = (name: string, how: Parameters<typeof nodes>[2]) => ({ name, how })

describe('missing 2: nodes by pool, with phase, version and reason', () => {
  const rows = [
    [worker('updated', { current: 'b' }), { phase: 'updated', version: '4.14.1', ready: true }],
    [worker('pending', {}), { phase: 'pending', version: '4.13.6' }],
    [
      worker('draining', {
        desired: 'b',
        state: 'Working',
        drain: 'drain',
        lastDrain: 'uncordon',
        cordoned: true,
      }),
      { phase: 'draining', cordoned: true },
    ],
    [
      worker('updating', { desired: 'b', state: 'Working', drain: 'drain', cordoned: true }),
      { phase: 'updating' },
    ],
    [
      worker('rebooting', {
        desired: 'b',
        state: 'Rebooting',
        ready: 'Unknown',
        why: 'Kubelet stopped posting node status.',
      }),
      { phase: 'rebooting', ready: false, reason: 'Kubelet stopped posting node status.' },
    ],
    [
      worker('degraded', { desired: 'b', state: 'Degraded', reason: 'disk is full' }),
      { phase: 'degraded', reason: 'disk is full' },
    ],
    [
      worker('lost', { current: 'b', ready: 'False', why: 'PLEG is not healthy' }),
      { phase: 'updated', ready: false, reason: 'PLEG is not healthy' },
    ],
  ] as const

  const machines = rows.flatMap(([{ how }], at) => nodes('worker', at + 1, how).slice(-1))
  const folder = (paused: boolean, count = rows.length) =>
    cluster({
      cv: idle,
      co: { version: '4.14.1' },
      pools: [
        pool('master'),
        pool('worker', { machines: count, updated: 1, unavailable: 4, wants: 'b', has: 'a', paused }),
      ],
      nodes: machines,
      more: {
        'mc.yaml': list(renderedConfig('worker', 'a', '4.13.6'), renderedConfig('worker', 'b', '4.14.1')),
      },
    })

  test.each(rows.map(([{ name }, expected], at) => [name, expected, at] as const))(
    '%s',
    async (_name, expected, at) => {
      const { document } = await told(folder(false))
      const found = numbersOf(document).pools.find(({ name }) => name === 'worker')
      expect(found?.nodes?.[at]).toMatchObject(expected)
      expect(found?.unavailable).toBe(4)
    },
  )

  test('paused: what would be pending is paused', async () => {
    const found = numbersOf((await told(folder(true))).document).pools.find(({ name }) => name === 'worker')
    expect(found?.nodes?.[1]).toMatchObject({ phase: 'paused' })
  })

  test('names whole, ten at most, the rest counted', async () => {
    const many = cluster({
      cv: idle,
      co: { version: '4.14.1' },
      pools: [
        pool('master'),
        pool('worker', { machines: 14, updated: 0, unavailable: 14, wants: 'b', has: 'a' }),
      ],
      nodes: nodes('worker', 14, { desired: 'b', state: 'Working', cordoned: true }),
    })
    const { text } = await told(many)
    expect(text.match(/node worker-\d+ is updating, cordoned/gu)).toHaveLength(10)
    expect(text).toContain('and 4 more nodes')
  })
})

test('missing 5: each finding has severity and impact, its own time, and a runbook where there is one', async () => {
  const answersNothing: Says = {
    type: 'Available',
    status: 'False',
    since: ago('25m'),
    message: 'no endpoints',
  }
  const { document } = await told(
    cluster({
      co: { version: '4.13.6', says: { console: [answersNothing] } },
      pools: [pool('master'), pool('worker', { paused: true })],
    }),
  )
  const { findings } = numbersOf(document)
  expect(findings[0]).toMatchObject({
    severity: 'error',
    impact: 'api-availability',
    summary: 'operator console is not available: no endpoints',
    since: ago('25m'),
    runbook: expect.stringMatching(/^https:\/\/github\.com\/openshift\/runbooks\//u),
  })
  expect(findings).toContainEqual(
    expect.objectContaining({
      severity: 'warning',
      impact: 'update-stalled',
      summary: 'outdated nodes in the paused pool worker are not updated to 4.14.1',
    }),
  )
})

const alert = (alertname: string, severity: string, state = 'firing') => ({
  labels: { alertname, severity, namespace: 'openshift-etcd' },
  annotations: {},
  state,
  activeAt: ago('20m'),
  value: '1e+00',
})

const alertsOf = (text: string) =>
  cluster({ cv: idle, co: { version: '4.14.1' }, more: { 'alerts.json': text } })

describe('missing 6: alerts of a dump', () => {
  const answer = {
    status: 'success',
    data: {
      alerts: [
        alert('etcdNoLeader', 'critical'),
        alert('Watchdog', 'none'),
        alert('X', 'warning', 'pending'),
      ],
    },
  }

  test('are told, and critical ones on the screen', async () => {
    const { document, text } = await told(alertsOf(JSON.stringify(answer)))
    expect(numbersOf(document).alerts).toEqual([
      { name: 'etcdNoLeader', severity: 'critical', namespace: 'openshift-etcd' },
    ])
    expect(numbersOf(document).findings[0]).toMatchObject({
      severity: 'critical',
      summary: 'alert etcdNoLeader fires in namespace openshift-etcd',
    })
    expect(text).toContain('critical alerts fire: etcdNoLeader')
  })

  test('an answer in HTML is no answer: nothing is known, and it is passed over', async () => {
    const { document } = await told(alertsOf('<html>log in</html>'))
    expect(numbersOf(document)).not.toHaveProperty('alerts')
    expect(document['saved']).toMatchObject({ passedOver: [{ file: 'alerts.json' }] })
  })
})

const risk = (name: string) => ({
  name,
  message: `${name} hurts. `.repeat(40),
  url: 'https://example.com',
  matchingRules: [{ type: 'PromQL' }],
})

const offer = (version: string, status: 'True' | 'False' | 'Unknown', ...names: string[]) => ({
  release: { version, image: 'quay.io/x@sha256:1' },
  risks: names.map(risk),
  conditions: [
    {
      type: 'Recommended',
      status,
      reason: names[0],
      message: `${names[0]} hurts`,
      lastTransitionTime: ago('1d'),
    },
  ],
})

describe('missing 7 and 8: targets within the minor, and their risks folded', () => {
  const status = {
    availableUpdates: [{ version: '4.14.9' }, { version: '4.14.32' }, { version: '4.15.3' }],
    conditionalUpdates: [
      offer('4.14.33', 'Unknown', 'SlowDisks'),
      offer('4.14.40', 'False', 'LostLeases', 'SlowDisks'),
      offer('4.14.34', 'True', 'LostLeases'),
      offer('4.14.35', 'False', 'LostLeases'),
      offer('4.15.9', 'False', 'LostLeases'),
    ],
  }
  const folder = () => cluster({ cv: { ...idle, status }, co: { version: '4.14.1' } })

  test('the newest two and a count, by risk; exposure unknown is no known risk', async () => {
    const { document } = await told(folder())
    expect(numbersOf(document).offers).toEqual({
      recommended: ['4.14.32', '4.14.9'],
      conditional: [
        { version: '4.14.40', risks: ['LostLeases', 'SlowDisks'], exposure: 'exposed' },
        { version: '4.14.35', risks: ['LostLeases'], exposure: 'exposed' },
      ],
      moreConditional: 2,
      byRisk: { LostLeases: 3, SlowDisks: 2 },
    })
    const { text } = await told(folder(), 'status', ['-o', 'wide'])
    expect(text).toContain('updates in this minor: 4.14.32, 4.14.9')
    expect(text).toContain('and 2 more with risks: LostLeases in 3, SlowDisks in 2')
    expect(text.length).toBeLessThan(3000)
  })

  test('in a plan: folded too, and "not known" for an exposure that nobody could tell', async () => {
    const more = Array.from({ length: 47 }, (_, at) =>
      offer(`4.15.${at + 10}`, at % 2 === 0 ? 'Unknown' : 'False', 'LostLeases'),
    )
    const many = { ...status, conditionalUpdates: more }
    const { text } = await told(
      cluster({ cv: { ...idle, status: many }, co: { version: '4.14.1' } }),
      'eus plan --to 4.15',
      ['-o', 'wide'],
    )
    expect(text.match(/4\.15\.\d+ is offered with/gu)?.length).toBe(2)
    expect(text).toContain('which may apply here')
    expect(text).toContain('45 more')
  })
})

test('missing 9 and 10: when the last update was completed and how long it took, and pools without machines', async () => {
  const history = [
    { version: '4.14.1', started: '2026-11-01T08:00:00Z', completed: '2026-11-01T11:31:00Z' },
    installed,
  ]
  const folder = cluster({
    cv: { history },
    co: { version: '4.14.1' },
    pools: [pool('master'), pool('worker'), pool('infra', { machines: 0 })],
  })
  const { document, text } = await told(folder, 'status', ['-o', 'wide'])
  expect(numbersOf(document).last).toEqual({
    version: '4.14.1',
    completed: '2026-11-01T11:31:00Z',
    tookSeconds: 12_660,
  })
  expect(numbersOf(document).pools).toContainEqual(expect.objectContaining({ name: 'infra', machines: 0 }))
  expect(text).toContain(
    'the last update, to 4.14.1, was completed at 2026-11-01T11:31:00Z and took 3 h 31 m',
  )
  expect(text).toContain('pools without machines: infra')
})
