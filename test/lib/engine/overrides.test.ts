import { describe, expect, test } from 'vitest'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { ClusterVersions, MachineConfigPools } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { Subscriptions } from '../../../src/lib/kube/kinds/operator-kinds.ts'
import type { Kind, KubeObject } from '../../../src/lib/kube/object.ts'
import type { Override } from '../../../src/lib/engine/journal.ts'
import { closeNoted, noteOf, Overrides, savedOn } from '../../../src/lib/engine/overrides.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import { FakeCluster } from './fake-cluster.ts'

const namespace = 'openshift-cnv'

function overrideOn(
  kind: Kind,
  metadata: KubeObject['metadata'],
  over: Pick<Override, 'id' | 'path' | 'was'>,
): Override {
  const { name, namespace: within, uid = '' } = metadata
  return {
    procedure: 'eus to 4.20',
    object: {
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      ...(within !== undefined && { namespace: within }),
      name,
      uid,
    },
    by: 'jane@here',
    at: '2026-01-01T00:00:00Z',
    ...over,
  }
}

const approval = { id: 'approval', path: '/spec/installPlanApproval' } as const
const manual = { present: true, value: 'Manual' } as const

/** A Subscription that somebody wrote, with or without a note on it. */
function subscribed(within: string, noted: boolean) {
  const fake = new FakeCluster()
  const metadata = { name: 'operator', namespace: within, uid: 'u' }
  const override = {
    ...overrideOn(Subscriptions, metadata, { ...approval, was: manual }),
    taken: { value: 'Automatic', step: 'approval' },
  }
  const annotations = noted ? noteOf(override) : {}
  fake.put(Subscriptions, {
    metadata: { ...metadata, annotations },
    spec: { installPlanApproval: 'Automatic' },
  } as never)
  return { overrides: new Overrides(fake.cluster().reader, namespace), override }
}

describe('trust H1: a loan is of an object that kvup would have changed', () => {
  test('a note on the Subscription in KubeVirt’s namespace is a loan', async () => {
    const { overrides, override } = subscribed(namespace, true)
    expect(await overrides.open()).toEqual([{ ...override, taken: { ...override.taken, applied: true } }])
  })

  test('a Subscription of another namespace is none, whoever notes or claims it', async () => {
    for (const noted of [true, false]) {
      const { overrides, override } = subscribed('payments', noted)
      expect(await overrides.open()).toEqual([])
      expect(await overrides.missing([override])).toEqual([])
    }
  })

  test('a claim alone is no loan, and is asked about where the setting reads so', async () => {
    const { overrides, override } = subscribed(namespace, false)
    expect(await overrides.open()).toEqual([])
    expect(await overrides.missing([override])).toMatchObject([
      { id: 'approval', why: 'missing', claim: override },
    ])
    const other = { ...override, taken: { value: 'Manual', step: 'approval' } }
    expect(await overrides.missing([other])).toEqual([])
  })
})

describe('what stays as kvup set it', () => {
  const metadata = { name: 'version', uid: 'u' }
  const channel = overrideOn(ClusterVersions, metadata, {
    id: 'platform-channel',
    path: '/spec/channel',
    was: { present: true, value: 'eus-4.18' },
  })
  const claim = { ...channel, taken: { value: 'eus-4.20', step: 'channel-4.20', applied: true as const } }

  function moved(startedTime: string, annotations: Record<string, string> = {}, version = '4.20.1') {
    const fake = new FakeCluster()
    fake.put(ClusterVersions, {
      metadata: { ...metadata, annotations },
      spec: { channel: 'eus-4.20', desiredUpdate: { version } },
      status: { history: [{ startedTime, version: '4.20.1' }] },
    })
    return fake
  }

  const asked = (version: string) => ({
    ...overrideOn(ClusterVersions, metadata, {
      id: 'desired-update',
      path: '/spec/desiredUpdate',
      was: { present: false },
    }),
    taken: { value: { version }, step: 'request-4.20', applied: true as const },
  })
  const closed = [{ why: 'the platform has accepted a step' }]

  test.each([
    ['a step that began since', claim, '2026-01-01T00:05:00Z', [], closed],
    ['no update since', claim, '2025-12-31T23:59:59Z', ['platform-channel'], []],
    ['the release that was asked for has begun', asked('4.20.1'), '2026-01-01T00:00:00Z', [], closed],
    ['another release has begun since', asked('4.20.9'), '2026-01-01T00:05:00Z', ['desired-update'], []],
  ])('a claim without its note: %s', async (...[, one, startedTime, missing, over]) => {
    const overrides = new Overrides(
      moved(
        startedTime,
        {},
        typeof one.taken.value === 'string' ? undefined : one.taken.value.version,
      ).cluster().reader,
      namespace,
    )
    expect((await overrides.missing([one])).map(({ id }) => id)).toEqual(missing)
    expect(await overrides.over([one])).toMatchObject(over)
  })

  test.each([
    [
      'that it stays is written down before its note goes',
      'the platform has accepted a step',
      ['release', 'jsonPatch'],
    ],
    ['that it was given back is written down behind', undefined, ['jsonPatch', 'release']],
  ])('%s', async (_, why, order) => {
    const { reader, writer } = moved('2026-01-01T00:05:00Z', noteOf(claim)).cluster()
    const done: string[] = []
    const told: typeof writer = {
      ...writer,
      async jsonPatch() {
        done.push('jsonPatch')
        return { is: 'absent' } as never
      },
    }
    const journal = { release: async () => void done.push('release') }
    const place = { kind: ClusterVersions, ref: { name: 'version' } }
    await closeNoted({ reader, writer: told, journal }, place, [claim.id], why)
    expect(done).toEqual(order)
  })
})

describe('a note is read strictly', () => {
  const metadata = { name: 'kubevirt', namespace, uid: 'u' }
  const methods = {
    id: 'workload-updates',
    path: '/spec/workloadUpdateStrategy/workloadUpdateMethods',
    was: { present: true, value: ['LiveMigrate', 'Evict'] },
  } as const
  const whole = overrideOn(KubeVirts, metadata, methods)
  const [key = '', text = ''] = Object.entries(noteOf(whole))[0] ?? []
  const on = (note: string, kind: Kind = KubeVirts, name = key) =>
    savedOn({
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { ...metadata, annotations: { [name]: note } },
    })

  test('as it was written', () => {
    expect(on(text)).toEqual({ overrides: [whole], unreadable: [] })
  })

  test.each([
    ['no JSON', 'x'],
    ['no object', '[]'],
    ['an unknown method', text.replace('"Evict"', '"Bogus"')],
    ['a method twice', text.replace('"Evict"', '"LiveMigrate"')],
    ['another field', text.replace('workloadUpdateMethods"', 'batchEvictionSize"')],
    ['another group', text.replace('kubevirt.io/v1', 'apps/v1')],
    ['no time', text.replace('2026-01-01T00:00:00Z', 'yesterday')],
    ['an escape', text.replace('jane@here', String.raw`jane\u001b]0;x`)],
    ['no value', text.replace(/"value":\[[^\]]*\]/u, '"other":1')],
  ])('%s is unreadable', (_, note) => {
    expect(on(note)).toMatchObject({ overrides: [], unreadable: [{ id: 'workload-updates' }] })
  })

  test('a note of what kvup never changes there is nothing', () => {
    expect(on(text, MachineConfigPools)).toEqual({ overrides: [], unreadable: [] })
    expect(on(text, KubeVirts, 'kvup.io/saved-something')).toEqual({ overrides: [], unreadable: [] })
    expect(on(text, ClusterVersions, 'kvup.io/saved-constructor')).toEqual({ overrides: [], unreadable: [] })
  })
})

test('a kind that is not served is asked for once; one that may not be listed holds nothing', async () => {
  const fake = new FakeCluster()
  fake.before = ({ verb, kind }) => {
    if (verb !== 'list' || kind === 'KubeVirt') return
    const status = kind === 'Subscription' ? 403 : 404
    throw new ApiError(status, status === 403 ? 'Forbidden' : 'NotFound', 'no')
  }
  const overrides = new Overrides(fake.cluster().reader, namespace)
  expect([await overrides.open(), await overrides.open()]).toEqual([[], []])
  const kinds = fake.calls.map(({ kind }) => kind)
  expect(kinds.filter((kind) => kind === 'MachineConfigPool')).toHaveLength(1)
  expect(kinds.filter((kind) => kind === 'KubeVirt')).toHaveLength(2)
})
