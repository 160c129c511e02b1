import { describe, expect, test } from 'vitest'
import type { KubeVirt } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { ClusterServiceVersion, InstallPlan } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { type Known, notAsked } from '../../../../src/lib/kube/known.ts'
import { type Layers, layersOf, type LayersSnapshot } from '../../../../src/lib/openshift/layers.ts'
import { type PlatformSnapshot, unreadPlatform } from '../../../../src/lib/openshift/platform-status.ts'
import type { LifecycleSnapshot } from '../../../../src/lib/openshift/olm-status.ts'
import { statusReport } from '../../../../src/lib/status/status-report.ts'
import { clusterState } from '../../../../src/lib/status/cluster-state.ts'
import { exampleOf, savedExample } from '../../kubevirt/example.ts'
import { hyperConverged } from '../hyperconverged/hyperconverged.ts'
import { clusterVersion, conditions, type Said } from '../platform/cluster-version.ts'
import { node, pool } from '../platform/pools.ts'
import { csv, installPlan, nameOf, subscription } from '../operator-lifecycle/lifecycle.ts'

const at = new Date('2026-11-20T08:30:00Z')
const known = <T>(...items: T[]): Known<T> => ({ known: true, items })

const platform: PlatformSnapshot = {
  ...unreadPlatform,
  clusterVersion: known(clusterVersion()),
  clusterOperators: known(),
  pools: known(pool('master'), pool('worker')),
}
const current = { installedCSV: nameOf('4.18.9'), currentCSV: nameOf('4.18.9') }
const lifecycle: LifecycleSnapshot = {
  subscriptions: known(subscription(current)),
  clusterExtensions: known(),
  installPlans: known(),
  csvs: known(csv('4.18.9', { phase: 'Succeeded' })),
  operatorGroups: notAsked,
  operatorConditions: notAsked,
  catalogSources: known(),
  packageManifests: notAsked,
}

interface Changed {
  platform?: Partial<PlatformSnapshot>
  lifecycle?: Partial<LifecycleSnapshot>
  hyperConverged?: LayersSnapshot['hyperConverged']
  overridesAreOpen?: boolean
  vms?: { instances: number; outdated: number; paused: boolean }
}

/** A cluster at rest but for what is changed. */
function layersIn(changed: Changed = {}): Layers {
  const snapshot = {
    platform: { ...platform, ...changed.platform },
    lifecycle: { ...lifecycle, ...changed.lifecycle },
    hyperConverged: changed.hyperConverged ?? known(hyperConverged()),
  }
  const { overridesAreOpen = false, vms = { instances: 9, outdated: 0, paused: false } } = changed
  return layersOf(snapshot, { kubevirt: { is: 'none' }, vms, overridesAreOpen }, at)
}

/** So many minutes after eight. */
const since = (minute: string) => `2026-11-20T08:${minute}:00Z`

/** Of a plan of which one object was written, if that. */
const steps = (status: string) => [
  { resource: { kind: 'ClusterServiceVersion' }, status },
  { resource: { kind: 'ClusterRole' }, status: 'Unknown' },
]

const layer = (layers: Layers, title: string) => layers.layers.find((one) => one.title === title)

/** Of a plan that failed with its CSV in that state. */
function failedNotes(status: string): readonly string[] | undefined {
  const plan = installPlan('Failed', { approved: true }, { message: 'refused', plan: steps(status) })
  const refers = subscription({ ...current, installPlanRef: { name: 'install-abcde', uid: 'u1' } })
  const now = { subscriptions: known(refers), installPlans: known(plan) }
  return layer(layersIn({ lifecycle: now }), 'InstallPlan')?.notes
}

test('in the order in which they depend on one another', () => {
  expect(layersIn().layers.map(({ title, verdict }) => `${title} ${verdict}`)).toEqual([
    'platform Healthy',
    'pool master Healthy',
    'pool worker Healthy',
    'Subscription Healthy',
    'CSV Healthy',
    'HyperConverged Healthy',
    'KubeVirt Waiting',
    'VMs Healthy',
  ])
  expect(layersIn().overall).toEqual({
    verdict: 'Waiting',
    because: 'KubeVirt: there is no KubeVirt resource',
  })
})

describe('an EUS window', () => {
  const waits: Said[] = [
    ['Updated', 'False'],
    ['Updating', 'False', '', 'Pool is paused; will not update to rendered-worker-b'],
  ]
  const paused = pool('worker', waits, { paused: true, wants: 'b' })
  const pools = known(pool('master'), paused)
  const odd = clusterVersion([], {
    status: {
      desired: { version: '4.19.14' },
      history: [{ state: 'Completed', version: '4.19.14' }],
    },
  })
  const leaving = clusterVersion([], {
    status: {
      desired: { version: '4.19.14' },
      history: [
        { state: 'Partial', version: '4.19.14' },
        { state: 'Completed', version: '4.18.21' },
      ],
    },
  })
  const held = { instances: 9, outdated: 4, paused: true }

  test.each<readonly [string, Changed, Layers['window'] | undefined]>([
    [
      'paused at an odd release',
      { platform: { pools, clusterVersion: known(odd) } },
      { by: 'pools', pools: ['worker'], at: '4.19' },
    ],
    [
      'kubelets behind',
      {
        platform: {
          pools,
          clusterVersion: known(odd),
          nodes: known(node('a', ['master'], 'v1.32.8'), node('b', ['worker'], 'v1.31.9')),
        },
      },
      { by: 'pools', pools: ['worker'], at: '4.19', from: '4.18' },
    ],
    ['merely paused, at an even release', { platform: { pools } }, undefined],
    [
      'paused for a patch: kubelets are not behind',
      { platform: { pools, clusterVersion: known(odd), nodes: known(node('b', ['worker'], 'v1.32.8')) } },
      undefined,
    ],
    [
      'paused, with nothing to do yet, while the platform leaves its minor',
      { platform: { pools: known(pool('worker', [], { paused: true })), clusterVersion: known(leaving) } },
      { by: 'pools', pools: ['worker'], from: '4.18', at: '4.19' },
    ],
    ['nothing paused', { platform: { clusterVersion: known(odd) } }, undefined],
    ['loans of kvup eus', { overridesAreOpen: true }, { by: 'overrides', pools: [], at: '4.18' }],
    [
      '4.23 is odd and ends one: kubelets tell',
      {
        platform: {
          pools,
          clusterVersion: known(
            clusterVersion([], {
              status: {
                desired: { version: '4.23.1' },
                history: [{ state: 'Completed', version: '4.23.1' }],
              },
            }),
          ),
        },
      },
      undefined,
    ],
  ])('%s', (_name, changed, window) => {
    expect(layersIn(changed).window).toEqual(window)
  })

  test('a paused pool and outdated VMs are expected in it, with the alert, and nobody is told to act', () => {
    const found = layersIn({ platform: { pools, clusterVersion: known(odd) }, vms: held })
    expect(layer(found, 'pool worker')).toMatchObject({
      verdict: 'Waiting',
      expected: 'during an EUS upgrade',
    })
    expect(layer(found, 'pool worker')).not.toHaveProperty('help')
    expect(layer(found, 'VMs')).toMatchObject({
      expected: 'during an EUS upgrade',
      notes: [expect.stringContaining('OutdatedVirtualMachineInstanceWorkloads fires after 24 h')],
    })
  })

  test('outside of one both wait for somebody, and it is said what to type', () => {
    const found = layersIn({ platform: { pools }, vms: held })
    expect(layer(found, 'pool worker')).toMatchObject({
      verdict: 'Waiting',
      help: [expect.stringContaining('"paused":false')],
    })
    expect(layer(found, 'VMs')).toMatchObject({ verdict: 'Waiting', help: ['kvup workloads outdated'] })
    expect(found.overall).toMatchObject({
      verdict: 'Waiting',
      because: expect.stringContaining('pool worker') as string,
    })
  })

  test('a paused master is never expected', () => {
    const changed = {
      platform: { pools: known(pool('master', [], { paused: true }), paused), clusterVersion: known(odd) },
    }
    expect(layer(layersIn(changed), 'pool master')).toMatchObject({ verdict: 'Stalled' })
    expect(layersIn(changed).overall.verdict).toBe('Stalled')
  })
})

const degraded = (minute: number) => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'ClusterOperator',
  metadata: { name: 'network' },
  status: {
    conditions: [
      ...conditions([['Available', 'True']]),
      {
        type: 'Degraded',
        status: 'True',
        message: 'hangs',
        lastTransitionTime: `2026-11-20T07:${minute}:00Z`,
      } as const,
    ],
  },
})

describe('degraded while updating', () => {
  const working: Said = [
    'Progressing',
    'True',
    '',
    'Working towards 4.19.14: 712 of 897 done (79% complete), waiting on network',
  ]
  const updating = clusterVersion([working], {
    status: {
      desired: { version: '4.19.14' },
      history: [
        { state: 'Partial', version: '4.19.14' },
        { state: 'Completed', version: '4.18.21' },
      ],
    },
  })

  test.each([
    ['for a while, in an update', updating, 55, 'Updating'],
    ['for 40 minutes and more, in an update', updating, 49, 'Degraded'],
    ['at rest', clusterVersion(), 55, 'Degraded'],
  ])('%s', (_name, cv, minute, verdict) => {
    const found = layersIn({
      platform: { clusterVersion: known(cv), clusterOperators: known(degraded(minute)) },
    })
    const operators = layer(found, 'operators')
    expect(operators).toMatchObject({ verdict, notes: ['network: hangs'] })
    expect(operators?.expected !== undefined).toBe(verdict === 'Updating')
  })

  test('what the platform waits for is said', () => {
    expect(layer(layersIn({ platform: { clusterVersion: known(updating) } }), 'platform')).toMatchObject({
      verdict: 'Updating',
      says: 'OpenShift 4.18.21 to 4.19.14',
      waitsFor: 'network',
    })
  })

  test('HyperConverged is degraded for a while when its operator is replaced, and is degraded where it is not', () => {
    const bad = known(hyperConverged([['Degraded', 'True', 'CDIDegraded', 'x']]))
    expect(layer(layersIn({ hyperConverged: bad }), 'HyperConverged')?.verdict).toBe('Degraded')
    const unread = { csvs: { known: false, why: 'forbidden' } } as const
    expect(layer(layersIn({ hyperConverged: bad, lifecycle: unread }), 'HyperConverged')?.verdict).toBe(
      'Degraded',
    )
    const csvs = known(csv('4.18.9', { phase: 'Installing' }))
    expect(layer(layersIn({ hyperConverged: bad, lifecycle: { csvs } }), 'HyperConverged')).toMatchObject({
      verdict: 'Updating',
      expected: 'expected during an update',
    })
  })
})

describe('what OLM does', () => {
  const pending = { installPlanRef: { name: 'install-abcde', uid: 'u1' }, state: 'UpgradePending' }
  const planned = (plan: InstallPlan) => ({
    lifecycle: { subscriptions: known(subscription({ ...current, ...pending })), installPlans: known(plan) },
  })
  test.each<readonly [string, InstallPlan, string]>([
    ['waits for approval', installPlan('RequiresApproval'), 'Waiting'],
    ['is being filled in', installPlan('Planning'), 'Updating'],
    ['is approved', installPlan('RequiresApproval', { approved: true }), 'Updating'],
    ['installs', installPlan('Installing', { approved: true }), 'Updating'],
    ['failed for good', installPlan('Failed', { approved: true }, { message: 'no' }), 'Degraded'],
  ])('a plan %s', (_name, plan, verdict) => {
    expect(layer(layersIn(planned(plan)), 'InstallPlan')).toMatchObject({ verdict })
  })

  test('a plan that is complete, or that the Subscription does not mean, is not told', () => {
    expect(
      layer(layersIn(planned(installPlan('Complete', { approved: true }))), 'InstallPlan'),
    ).toBeUndefined()
    const other = { lifecycle: { installPlans: known(installPlan('RequiresApproval')) } }
    expect(layer(layersIn(other), 'InstallPlan')).toBeUndefined()
  })

  test.each<readonly [string, ClusterServiceVersion['status'], string]>([
    ['Installing', { phase: 'Installing' }, 'Updating'],
    [
      'Failed a moment ago',
      { phase: 'Failed', reason: 'ComponentUnhealthy', lastTransitionTime: '2026-11-20T08:29:30Z' },
      'Updating',
    ],
    ['Failed for good', { phase: 'Failed', reason: 'TooManyOperatorGroups' }, 'Degraded'],
    ['paused', { phase: 'Pending', reason: 'OperatorConditionNotUpgradeable' }, 'Waiting'],
  ])('a CSV that is %s', (_name, status, verdict) => {
    expect(layer(layersIn({ lifecycle: { csvs: known(csv('4.18.9', status)) } }), 'CSV')?.verdict).toBe(
      verdict,
    )
  })

  test.each([
    ['is no note for a minute', '2026-11-20T08:29:01Z', undefined],
    ['is one for longer', since('28'), [`RequirementsNotMet: one or more requirements couldn't be found`]],
  ])(
    'a CSV whose requirements are missing, as in every update: that %s',
    (_name, lastTransitionTime, notes) => {
      const message = "one or more requirements couldn't be found"
      const early = { phase: 'Pending', reason: 'RequirementsNotMet', message, lastTransitionTime }
      const found = layer(layersIn({ lifecycle: { csvs: known(csv('4.18.9', early)) } }), 'CSV')
      expect(found?.verdict).toBe('Updating')
      expect(found?.notes?.length === 0 ? undefined : found?.notes).toEqual(notes)
    },
  )

  test('a plan that failed once its CSV was written: deleting it does not help, and what does is said as untried', () => {
    expect(failedNotes('Unknown')).toEqual(['refused'])
    expect(failedNotes('Created')).toEqual([
      'refused',
      `deleting the InstallPlan does not help: ${nameOf('4.19.8')} exists already, and OLM creates no other plan for it`,
      `By the documentation of OLM (untested): fix the cause. Delete subscription hco-operatorhub and every ClusterServiceVersion of this operator, the running one too. Create the Subscription again with startingCSV ${nameOf('4.19.8')} (untested). No operator runs meanwhile, but VMs keep running`,
    ])
  })

  test('two Subscriptions, two HyperConvergeds and a failed resolution are degraded, and named', () => {
    const two = layersIn({ lifecycle: { subscriptions: known(subscription(), subscription()) } })
    expect(layer(two, 'Subscription')).toMatchObject({
      verdict: 'Degraded',
      says: expect.stringContaining('openshift-cnv/hco-operatorhub') as string,
    })
    const several = layersIn({ hyperConverged: known(hyperConverged(), hyperConverged()) })
    expect(layer(several, 'HyperConverged')).toMatchObject({ verdict: 'Degraded' })
    const unresolved = subscription({}, [
      ['ResolutionFailed', 'True', 'ConstraintsNotSatisfiable', 'no operators found'],
    ])
    expect(
      layer(layersIn({ lifecycle: { subscriptions: known(unresolved) } }), 'Subscription'),
    ).toMatchObject({
      verdict: 'Degraded',
      notes: ['no operators found'],
    })
  })

  describe('ResolutionFailed that names a CSV which no Subscription refers to', () => {
    const old = nameOf('4.18.9')
    const message = `constraints not satisfiable: clusterserviceversion ${old} exists and is not referenced by a subscription, subscription hco-operatorhub exists`
    const failing = subscription({ installedCSV: nameOf('4.18.13'), currentCSV: nameOf('4.18.13') }, [
      ['ResolutionFailed', 'True', 'ConstraintsNotSatisfiable', message],
    ])
    const next = (status: ClusterServiceVersion['status']) => csv('4.18.13', status, { replaces: old })
    const replacing = csv('4.18.9', { phase: 'Replacing' })
    const timedOut = [
      { phase: 'Failed', reason: 'InstallCheckFailed', lastTransitionTime: since('28') },
      { phase: 'Installing', reason: 'InstallWaiting', lastTransitionTime: since('29') },
    ]
    const judged = (...csvs: ClusterServiceVersion[]) =>
      layer(layersIn({ lifecycle: { subscriptions: known(failing), csvs: known(...csvs) } }), 'Subscription')

    test.each<readonly [string, readonly ClusterServiceVersion[]]>([
      ['the next is Pending', [replacing, next({ phase: 'Pending', lastTransitionTime: since('29') })]],
      ['the next is Installing', [replacing, next({ phase: 'Installing' })]],
      ['the next is Succeeded', [csv('4.18.9', { phase: 'Deleting' }), next({ phase: 'Succeeded' })]],
      [
        'the next is new, and the one before Succeeded still',
        [csv('4.18.9', { phase: 'Succeeded' }), next({})],
      ],
      [
        'the next is held back by an OperatorCondition for long',
        [
          replacing,
          next({
            phase: 'Pending',
            reason: 'OperatorConditionNotUpgradeable',
            lastTransitionTime: since('01'),
          }),
        ],
      ],
    ])('is no fault while %s', (_name, csvs) => {
      expect(judged(...csvs)).toMatchObject({
        verdict: 'Healthy',
        notes: [
          `OLM resolves nothing while ${nameOf('4.18.13')} replaces ${old}: this is normal in every update`,
        ],
      })
    })

    test.each<readonly [string, readonly ClusterServiceVersion[]]>([
      ['nothing replaces it', [replacing]],
      [
        'the next has timed out, and starts again',
        [replacing, next({ phase: 'Installing', conditions: timedOut })],
      ],
      [
        'the requirements of the next are missing for long',
        [
          replacing,
          next({ phase: 'Pending', reason: 'RequirementsNotMet', lastTransitionTime: since('05') }),
        ],
      ],
    ])('is a fault where %s', (_name, csvs) => {
      expect(judged(...csvs)).toMatchObject({
        verdict: 'Degraded',
        says: 'ResolutionFailed (ConstraintsNotSatisfiable)',
      })
    })

    test('is stale where it is gone', () => {
      expect(judged(next({ phase: 'Succeeded' }))).toMatchObject({
        verdict: 'Healthy',
        notes: [`ResolutionFailed is stale: OLM has not resolved again since ${old} went`],
      })
    })

    test('is a fault where the CSVs may not be read, and hides no other trouble', () => {
      const unread = { known: false, why: 'csvs: forbidden' } as const
      expect(
        layer(layersIn({ lifecycle: { subscriptions: known(failing), csvs: unread } }), 'Subscription'),
      ).toMatchObject({ verdict: 'Degraded' })
      const both = [
        ...(failing.status?.conditions ?? []),
        { type: 'InstallPlanMissing', status: 'True', reason: 'ReferencedInstallPlanNotFound' } as const,
      ]
      const missing = { ...failing, status: { ...failing.status, conditions: both } }
      const csvs = known(replacing, next({ phase: 'Installing' }))
      expect(
        layer(layersIn({ lifecycle: { subscriptions: known(missing), csvs } }), 'Subscription'),
      ).toMatchObject({ verdict: 'Degraded', says: 'InstallPlanMissing (ReferencedInstallPlanNotFound)' })
    })
  })

  test('what may not be read is not judged, and said', () => {
    const unread = { known: false, why: 'subscriptions: forbidden' } as const
    expect(layer(layersIn({ lifecycle: { subscriptions: unread } }), 'Subscription')).toEqual({
      layer: 'subscription',
      title: 'Subscription',
      verdict: 'Unknown',
      says: 'subscriptions: forbidden',
    })
  })
})

test('each part that may not be read is told as such, and judged by nobody', () => {
  const unread = { known: false, why: 'forbidden' } as const
  const found = layersIn({
    platform: { clusterOperators: unread, pools: unread },
    lifecycle: { catalogSources: unread, installPlans: unread, csvs: unread },
    hyperConverged: unread,
  })
  const unknown = found.layers.filter(({ verdict }) => verdict === 'Unknown').map(({ title }) => title)
  expect(unknown).toEqual(['operators', 'pool', 'catalog', 'InstallPlan', 'CSV', 'HyperConverged'])
  expect(found.overall.because).toBe('KubeVirt: there is no KubeVirt resource')
})

test('trap 9: KubeVirt counts VMs that wait for a hotplug as outdated; kvup goes by their label', async () => {
  const { objects, at: time } = savedExample('hyperconverged-with-an-outdated-vm')
  const [kubevirt] = objects.filter(({ kind }) => kind === 'KubeVirt') as KubeVirt[]
  kubevirt!.status!.outdatedVirtualMachineInstanceWorkloads = 3
  const { reader, clock } = exampleOf(objects, time)
  const report = await statusReport(reader, clock)
  expect(report.workloads.outdated).toEqual({ reported: 3, labelled: 1 })
  expect(clusterState({ report }).why).toContain('3 VMs running, 1 outdated')
})
