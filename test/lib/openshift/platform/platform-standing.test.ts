import { describe, expect, test } from 'vitest'
import { condition } from '../../../../src/lib/kube/object.ts'
import { assessPlatform } from '../../../../src/lib/openshift/platform-status.ts'
import { clusterVersion, type Said } from './cluster-version.ts'

test('a cluster at rest', () => {
  expect(assessPlatform(clusterVersion())).toEqual({
    version: '4.18.21',
    target: '4.18.21',
    state: 'idle',
    since: '2026-11-01T09:10:00Z',
    failing: 'False',
    failingSince: '2026-11-20T08:00:00Z',
    progressing: false,
    progressingSince: '2026-11-20T08:00:00Z',
    message: 'Cluster version is 4.18.21',
    upgradeable: { is: 'yes' },
    accepted: { is: 'yes' },
    channel: 'stable-4.18',
    channels: ['eus-4.18', 'stable-4.18'],
    available: [],
    conditional: [],
    current: true,
  })
})

const partial = {
  state: 'Partial',
  version: '4.19.14',
  image: 'q/release@sha256:1914',
  startedTime: '2026-11-20T08:00:00Z',
} as const
const completed = { state: 'Completed', version: '4.18.21', startedTime: 'x', completionTime: 'y' } as const
const desired = { version: '4.19.14', image: 'q/release@sha256:1914' }
const towards = { desired, history: [partial, completed] }

describe('state, by the history', () => {
  const progressing: Said = ['Progressing', 'True', '', 'Working towards 4.19.14']
  test.each([
    ['under way', clusterVersion([progressing], { status: towards }), 'updating'],
    ['stopped halfway', clusterVersion([], { status: towards }), 'partial'],
    ['taken, and not in the history yet', clusterVersion([], { status: { desired } }), 'updating'],
    ['a first installation', clusterVersion([progressing], { status: { history: [] } }), 'updating'],
  ])('%s', (_name, cv, state) => {
    expect(assessPlatform(cv).state).toBe(state)
  })

  test('the version is the last that was completed, the target what is followed', () => {
    const found = assessPlatform(clusterVersion([progressing], { status: towards }))
    expect(found).toMatchObject({ version: '4.18.21', target: '4.19.14', since: partial.startedTime })
  })
})

const retrieved = (status: 'False' | 'Unknown') =>
  assessPlatform(clusterVersion([['RetrievedUpdates', status, 'NoChannel', 'no channel is set']]))

describe('updates that are offered', () => {
  test('null is none where they were retrieved, and not known where they were not or nobody says', () => {
    expect(assessPlatform(clusterVersion()).available).toEqual([])
    expect(retrieved('False')).not.toHaveProperty('available')
    expect(retrieved('False').notRetrieved).toBe('no channel is set')
    expect(retrieved('Unknown')).not.toHaveProperty('available')
    const none = clusterVersion([], { status: { availableUpdates: [] } })
    expect(assessPlatform(none).available).toEqual([])
  })

  test('with risks: recommended, not, or not evaluated', () => {
    const risks = [{ name: 'SlowDisks', message: 'Disks may be slow.' }]
    const offer = (conditions: object[]) => ({ release: { version: '4.18.22' }, risks, conditions }) as never
    const offers = [
      offer([{ type: 'Recommended', status: 'False', reason: 'SlowDisks', message: 'Disks may be slow.' }]),
      offer([{ type: 'Recommended', status: 'True' }]),
      offer([]),
    ]
    const cv = clusterVersion([], { status: { conditionalUpdates: offers } })
    expect(assessPlatform(cv).conditional.map(({ recommended }) => recommended)).toEqual([
      { is: 'no', reason: 'SlowDisks', message: 'Disks may be slow.' },
      { is: 'yes' },
      { is: 'unknown', reason: 'SlowDisks', message: 'Disks may be slow.' },
    ])
  })
})

describe('trap 16: what a ClusterVersion says is not what it seems', () => {
  const asked = { desiredUpdate: { version: '4.19.14', image: 'q/release@sha256:1914' } }

  test('a refused update stays armed: the patch succeeded, and the naive reading sees a cluster at rest', () => {
    const refused: Said = ['ReleaseAccepted', 'False', 'PreconditionChecks', 'Kubernetes 1.33 removes APIs']
    const cv = clusterVersion([refused], { spec: asked })
    expect(condition(cv, 'Progressing')?.status).toBe('False')
    const found = assessPlatform(cv)
    expect(found).toMatchObject({ state: 'idle', armed: asked.desiredUpdate })
    expect(found.accepted).toMatchObject({ is: 'no', reason: 'PreconditionChecks' })
  })

  test.each([
    ['running', clusterVersion([], { spec: asked, status: towards })],
    [
      'done',
      clusterVersion([], { spec: asked, status: { desired, history: [{ ...partial, state: 'Completed' }] } }),
    ],
    ['cleared', clusterVersion([], { spec: { desiredUpdate: null } })],
    ['nothing named', clusterVersion([], { spec: { desiredUpdate: { force: false } } })],
  ])('%s: nothing is armed', (_name, cv) => {
    expect(assessPlatform(cv)).not.toHaveProperty('armed')
  })

  test('the same version as another image is armed: a release has one per architecture', () => {
    const spec = { desiredUpdate: { version: '4.18.21', image: 'q/release@sha256:multi' } }
    expect(assessPlatform(clusterVersion([], { spec })).armed).toEqual(spec.desiredUpdate)
  })

  test('an absent Upgradeable is a yes, where the naive reading waits for True', () => {
    const cv = clusterVersion()
    expect(condition(cv, 'Upgradeable')?.status).not.toBe('True')
    expect(assessPlatform(cv).upgradeable).toEqual({ is: 'yes' })
    const no: Said = ['Upgradeable', 'False', 'AdminAckRequired', 'read this']
    expect(assessPlatform(clusterVersion([no])).upgradeable).toMatchObject({
      is: 'no',
      message: 'read this',
    })
  })

  test('Failing=Unknown is slow and no failure, where the naive reading takes what is not False as failed', () => {
    const slow: Said[] = [
      ['Failing', 'Unknown', 'SlowClusterOperator', 'waiting on etcd over 30 minutes'],
      ['Progressing', 'True', '', 'Working towards 4.19.14: waiting on etcd over 30 minutes'],
    ]
    const cv = clusterVersion(slow, { status: towards })
    expect(condition(cv, 'Failing')?.status).not.toBe('False')
    expect(assessPlatform(cv)).toMatchObject({
      failing: 'Unknown',
      slow: 'Working towards 4.19.14: waiting on etcd over 30 minutes',
    })
    expect(
      assessPlatform(clusterVersion([['Failing', 'True', 'ClusterOperatorDegraded', 'etcd']])),
    ).toMatchObject({
      failing: 'True',
      message: 'etcd',
    })
  })

  test('nothing is current before the generation was seen', () => {
    expect(assessPlatform(clusterVersion([], { generation: 5 })).current).toBe(false)
  })
})
