import { describe, expect, test } from 'vitest'
import type {
  ClusterServiceVersion,
  InstallPlan,
  Subscription,
} from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import type {
  ContainerStatus,
  Deployment,
  Job,
  Pod,
  ReplicaSet,
} from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { notAsked } from '../../../../src/lib/kube/known.ts'
import {
  forgetVersions,
  type RunningObjects,
  storedVersionLoss,
  unpackHelp,
} from '../../../../src/lib/openshift/olm-failures.ts'
import { type FailureParts, type Layer, lifecycleLayers } from '../../../../src/lib/openshift/olm-layers.ts'

const namespace = 'openshift-cnv'
const at = new Date('2026-11-20T09:00:00Z')
const ago = (minutes: number): string => new Date(at.getTime() - minutes * 60_000).toISOString()
const known = <T>(...items: T[]) => ({ known: true, items }) as const
const oldName = 'kubevirt-hyperconverged-operator.v4.18.13'
const newName = 'kubevirt-hyperconverged-operator.v4.18.14'

type Conditions = NonNullable<NonNullable<Subscription['status']>['conditions']>

const subscription = (status: NonNullable<Subscription['status']> = {}): Subscription => ({
  apiVersion: 'operators.coreos.com/v1alpha1',
  kind: 'Subscription',
  metadata: { name: 'hco-operatorhub', namespace },
  spec: {
    name: 'kubevirt-hyperconverged',
    channel: 'stable',
    sourceNamespace: 'openshift-marketplace',
    installPlanApproval: 'Manual',
  },
  status: { state: 'AtLatestKnown', currentCSV: newName, installedCSV: newName, ...status },
})

type Said = readonly [phase: string, reason: string, minutesAgo: number]

/** Its history, the newest last. */
function csv(name: string, ...history: Said[]): ClusterServiceVersion {
  const conditions = history.map(([phase, reason, minutes]) => ({
    phase,
    reason,
    lastTransitionTime: ago(minutes),
  }))
  const last = conditions.at(-1)
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name, namespace },
    spec: { install: { spec: { deployments: [{ name: 'hco-operator' }, { name: 'ssp-operator' }] } } },
    status: { ...last, conditions },
  }
}

interface Seen {
  subscription?: Subscription
  csvs?: ClusterServiceVersion[]
  plans?: InstallPlan[]
  failures?: FailureParts
}

function layer(
  of: Layer['layer'],
  { subscription: sub = subscription(), csvs = [], plans = [], failures }: Seen,
) {
  const lifecycle = {
    namespace,
    subscriptions: known(sub),
    clusterExtensions: known<never>(),
    installPlans: known(...plans),
    csvs: known(...csvs),
    operatorGroups: notAsked,
    operatorConditions: notAsked,
    catalogSources: notAsked,
    packageManifests: notAsked,
  }
  return lifecycleLayers(lifecycle, at, failures).find((one) => one.layer === of)
}

const meta = (name: string, owner?: string) => ({
  name,
  namespace,
  uid: `uid-${name}`,
  ...(owner !== undefined && {
    ownerReferences: [{ apiVersion: 'v1', kind: 'x', name: owner, uid: `uid-${owner}`, controller: true }],
  }),
})

const deployment = (name: string, readyReplicas: number): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: meta(name),
  spec: { replicas: 1 },
  status: { readyReplicas },
})

const replicaSet = (name: string, owner: string): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: meta(name, owner),
})

const pod = (name: string, owner: string, status: Omit<ContainerStatus, 'name'>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...meta(name, owner), labels: { name: 'ssp-operator' } },
  status: { containerStatuses: [{ name: 'manager', ...status }] },
})

const crashes = {
  restartCount: 12,
  state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s' } },
  lastState: { terminated: { exitCode: 2, reason: 'Error', message: 'goroutine 1\npanic: no kind Foo' } },
}

const running = (over: Partial<RunningObjects> = {}): RunningObjects => ({
  deployments: known(deployment('hco-operator', 1), deployment('ssp-operator', 0)),
  replicaSets: known(replicaSet('ssp-operator-1', 'ssp-operator')),
  pods: known(
    pod('ssp-operator-1-a', 'ssp-operator-1', crashes),
    // A label is no owner.
    pod('ssp-operator-x', 'somebody-else', crashes),
  ),
  ...over,
})

const round = (minutes: number): Said[] => [
  ['Installing', 'InstallSucceeded', minutes],
  ['Failed', 'InstallCheckFailed', minutes - 5],
  ['Pending', 'NeedsReinstall', minutes - 5],
]
const alternating = [...round(12), ...round(7), ['Installing', 'InstallWaiting', 1] as const]

describe('a CSV that alternates', () => {
  test('after the second time it is stalled, and its crashing pod is named with how it ended', () => {
    expect(
      layer('csv', { csvs: [csv(newName, ...alternating)], failures: { running: running() } }),
    ).toMatchObject({
      verdict: 'Stalled',
      says: `${newName} has failed to install 2 times, and is Installing again`,
      notes: [
        'InstallWaiting',
        'Deployment ssp-operator: 0 of 1 ready; pod ssp-operator-1-a: container manager: CrashLoopBackOff, restarted 12 times, it ended with code 2 (Error), panic: no kind Foo',
      ],
      help: [
        `kubectl -n ${namespace} logs ssp-operator-1-a -c manager --previous --tail=20     says why it ended`,
      ],
    })
  })

  test.each<[string, Said[]]>([
    ['the first time', [...round(7), ['Installing', 'InstallWaiting', 1]]],
    [
      'what was before it was Succeeded',
      [...alternating, ['Succeeded', 'InstallSucceeded', 1], ['Pending', 'NeedsCertRotation', 0.2]],
    ],
  ])('%s does not count', (_name, history) => {
    expect(layer('csv', { csvs: [csv(newName, ...history)] })?.verdict).toBe('Updating')
  })

  test('one that has been Succeeded is Healthy', () => {
    const history: Said[] = [...alternating, ['Succeeded', 'InstallSucceeded', 1]]
    expect(layer('csv', { csvs: [csv(newName, ...history)] })?.verdict).toBe('Healthy')
  })

  test.each<[string, Partial<RunningObjects>, string]>([
    [
      'no Deployment',
      { deployments: known(deployment('hco-operator', 1)) },
      'there is no Deployment ssp-operator',
    ],
    [
      'Deployments unread',
      { deployments: notAsked },
      'whether its Deployments run is not checked: not asked for',
    ],
    [
      'pods unread',
      { pods: notAsked },
      'Deployment ssp-operator: 0 of 1 ready; its pods are not checked: not asked for',
    ],
    [
      'ReplicaSets unread',
      { replicaSets: notAsked },
      'Deployment ssp-operator: 0 of 1 ready; its pods are not checked: not asked for',
    ],
    ['no pod', { pods: known() }, 'Deployment ssp-operator: 0 of 1 ready, and it has no pod'],
    [
      'an image that cannot be pulled',
      {
        pods: known(
          pod('p', 'ssp-operator-1', {
            state: { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image' } },
          }),
        ),
      },
      'Deployment ssp-operator: 0 of 1 ready; pod p: container manager: ImagePullBackOff, Back-off pulling image',
    ],
  ])('%s', (_name, over, note) => {
    const seen = { csvs: [csv(newName, ...alternating)], failures: { running: running(over) } }
    expect(layer('csv', seen)?.notes).toContain(note)
  })

  test('a CSV that has just begun is not asked what runs', () => {
    const seen = {
      csvs: [csv(newName, ['Installing', 'InstallWaiting', 1])],
      failures: { running: running() },
    }
    expect(layer('csv', seen)?.notes).toEqual(['InstallWaiting'])
  })
})

const isTrue = (type: string, message = ''): Conditions => [{ type, status: 'True', reason: 'Why', message }]

describe('InstallPlanMissing', () => {
  const missing = subscription({ conditions: isTrue('InstallPlanMissing', 'install-6jjcv does not exist') })
  const done = csv(newName, ['Succeeded', 'InstallSucceeded', 60])

  test('is a left-over where what it installed is Succeeded', () => {
    expect(layer('subscription', { subscription: missing, csvs: [done] })).toMatchObject({
      verdict: 'Healthy',
      notes: ['InstallPlanMissing is stale: the InstallPlan is gone, and what it installed is Succeeded'],
    })
  })

  test.each<[string, Seen]>([
    ['the installed CSV is Pending', { csvs: [csv(newName, ['Pending', 'RequirementsNotMet', 5])] }],
    ['there is no such CSV', { csvs: [csv(oldName, ['Succeeded', 'InstallSucceeded', 90])] }],
    ['another one is Replacing for ever', { csvs: [done, csv(oldName, ['Replacing', 'BeingReplaced', 5])] }],
    [
      'it is not the latest',
      {
        csvs: [done],
        subscription: subscription({
          installedCSV: newName,
          currentCSV: 'x.v9',
          conditions: isTrue('InstallPlanMissing'),
        }),
      },
    ],
  ])('is a fault where %s', (_name, seen) => {
    expect(layer('subscription', { subscription: missing, ...seen })?.verdict).toBe('Degraded')
  })
})

const unpackJob = (name: string, failed = true, image?: string): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, namespace: 'openshift-marketplace' },
  spec: { template: { spec: { initContainers: image === undefined ? [] : [{ name: 'pull', image }] } } },
  status: {
    conditions: [{ type: failed ? 'Failed' : 'Complete', status: 'True', reason: 'BackoffLimitExceeded' }],
  },
})

describe('a bundle that cannot be unpacked', () => {
  test('the failed Job and its ConfigMap are named, those that are done are not', () => {
    const jobs = known(unpackJob('aa'), unpackJob('bb', false), unpackJob('cc', true, 'reg/hco-bundle:v1'))
    const { notes, help } = unpackHelp(subscription(), jobs)
    expect(notes[1]).toBe(
      'Job cc in namespace openshift-marketplace, which unpacks reg/hco-bundle:v1, failed (BackoffLimitExceeded); its ConfigMap has the same name',
    )
    expect(help.filter((line) => line.includes(' delete '))).toEqual(
      ['aa', 'cc'].map((name) =>
        expect.stringContaining(`kubectl -n openshift-marketplace delete job/${name}     once `),
      ),
    )
  })

  test.each([
    [
      'none is there any more',
      known<Job>(),
      'which Job in namespace openshift-marketplace failed is not known',
    ],
    [
      'they may not be read',
      { known: false, why: 'forbidden' } as const,
      'which Job in namespace openshift-marketplace failed is not known: forbidden',
    ],
  ])('%s: no name is guessed, nothing is deleted', (_name, jobs, note) => {
    const { notes, help } = unpackHelp(subscription(), jobs)
    expect(notes).toEqual([note])
    expect(help.join()).not.toContain('delete')
  })

  test('what is no name is no part of a command', () => {
    expect(unpackHelp(subscription(), known(unpackJob('$(reboot)'))).help.join()).not.toContain('reboot')
  })

  test('the resolution that it prevents is told the same', () => {
    const message = 'bundle unpacking failed. Reason: DeadlineExceeded, and Message: Job was active longer'
    const sub = subscription({ conditions: isTrue('ResolutionFailed', message) })
    expect(
      layer('subscription', { subscription: sub, failures: { unpackJobs: known(unpackJob('aa')) } })
        ?.help?.[1],
    ).toContain('job/aa')
  })
})

const loss =
  'risk of data loss updating "cdis.cdi.kubevirt.io": new CRD removes version v1alpha1 that is listed as a stored version on the existing CRD'

const failedPlan = (message: string, status = 'Created'): InstallPlan => ({
  apiVersion: 'operators.coreos.com/v1alpha1',
  kind: 'InstallPlan',
  metadata: { name: 'install-a', namespace },
  spec: { approved: true, clusterServiceVersionNames: [newName] },
  status: {
    phase: 'Failed',
    message,
    plan: [{ status, resource: { kind: 'ClusterServiceVersion', name: newName } }],
  },
})

describe('a failed InstallPlan', () => {
  const sub = subscription({ installPlanRef: { name: 'install-a', namespace } })
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'cdis.cdi.kubevirt.io' },
    spec: {
      versions: [
        { name: 'v1alpha1', served: true, storage: false },
        { name: 'v1beta1', served: true, storage: true },
      ],
    },
  }
  const pending = csv(newName, ['Pending', 'RequirementsNotMet', 5])

  test('stored versions: the commands that make the CRD forget', () => {
    const seen = {
      subscription: sub,
      plans: [failedPlan(loss)],
      csvs: [pending],
      failures: { refusedCrd: known(crd) },
    }
    expect(layer('install-plan', seen)?.help).toEqual([...forgetVersions('cdis.cdi.kubevirt.io', 'v1beta1')])
  })

  test('of a CRD that was not seen, no version is made up', () => {
    const seen = { subscription: sub, plans: [failedPlan(loss)], csvs: [pending] }
    expect(layer('install-plan', seen)?.help?.join()).toContain('to VERSION-STORED-NOW: ')
  })

  test.each([
    ['its CSV is Succeeded', [csv(newName, ['Succeeded', 'InstallSucceeded', 5])], 'Created'],
    ['its CSV was not written', [pending], 'Unknown'],
  ])('where %s nothing is deleted', (_name, csvs, status) => {
    const seen = { subscription: sub, plans: [failedPlan('x', status)], csvs }
    expect(layer('install-plan', seen)?.help).toEqual([
      `kubectl -n ${namespace} describe installplans install-a`,
    ])
  })

  test.each([
    'risk of data loss updating "x; reboot": new CRD removes version v1 that is listed as a stored version',
    'other',
  ])('no other message is one: %s', (message) => expect(storedVersionLoss(message)).toBeUndefined())
})
