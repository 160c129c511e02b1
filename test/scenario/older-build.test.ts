import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { type ConfigMap, ConfigMaps, type Lease, Leases } from '../../src/lib/kube/kinds/core-kinds.ts'
import { type KubeVirt, KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { runText } from '../lib/run-text.ts'
import { byTag, play } from './stage.ts'

/** What a build before this one wrote (commit 70f08bad): a snapshot, a sealed plan, and what a run that was killed behind the tag left in a cluster. */

const file = (name: string) => new URL(`older/${name}`, import.meta.url).pathname
const textOf = (name: string) => readFileSync(file(name), 'utf8')

const offline = { cluster: {} as Cluster, clock: systemClock }

test.each([['status'], ['check --to v1.9.0'], ['workloads outdated'], ['history']])(
  'its snapshot is read: kvup %s',
  async (command) => {
    const { code, err } = await runText(
      [...command.split(' '), '--from', file('snapshot.ndjson.gz')],
      offline,
    )
    expect({ code, err }).toMatchObject({ code: command.startsWith('check') ? 3 : 0, err: '' })
  },
)

test('what a snapshot lacks is unread, not none', async () => {
  const [first = '', ...rest] = gunzipSync(readFileSync(file('snapshot.ndjson.gz')))
    .toString('utf8')
    .split('\n')
  const index = JSON.parse(first) as { objects: number; read: { kind: string }[] }
  const kept = rest.filter((line) => !line.includes('"kind":"Node"'))
  const read = index.read.filter(({ kind }) => kind !== 'Node')
  const stdin = [JSON.stringify({ ...index, read, objects: kept.filter(Boolean).length }), ...kept].join('\n')
  const { code, out } = await runText(['check', '--from', '-', '-o', 'json'], { ...offline, stdin })
  expect(code).toBe(3)
  expect(out).toMatch(/does not contain nodes/u)
})

test('its sealed plan is exit 2, with the line that continues without it, and nothing is asked of the cluster', () =>
  play(byTag, async (stage) => {
    stage.files.set('plan.json', textOf('plan.yaml'))
    const mark = stage.mark
    const ended = await stage.perform(
      async (cx) =>
        (await import('../../src/commands/upgrade/upgrade.ts')).upgrade(cx, { plan: 'plan.json' } as never),
      { commandLine: 'kvup upgrade --plan plan.json' },
    )
    expect(ended).toMatchObject({ code: 2, error: { reason: 'plan-of-another-kvup' } })
    expect(ended.error?.remedy).toEqual([
      'kvup upgrade --to v1.8.4 --method image-tag     continues without --plan',
    ])
    expect(stage.writes(mark)).toEqual([])
  }))

test('what its killed run left is ended: settings restored, census compared and gone, lock taken', () =>
  play({ ...byTag, vms: 1 }, async (stage) => {
    const { uid = '' } = stage.kubevirt.metadata
    const left = JSON.parse(textOf('left-behind.json')) as { uid: string }
    const { annotations, spec, maps, lease } = JSON.parse(
      JSON.stringify(left).replaceAll(left.uid, uid),
    ) as Pick<KubeVirt, 'spec'> & { annotations: object; maps: ConfigMap[]; lease: Lease }
    const { store } = stage.simulated
    for (const map of maps) await stage.cluster.writer.create(ConfigMaps, map)
    await stage.cluster.writer.create(Leases, lease)
    const body = { metadata: { annotations }, spec: { ...spec } }
    store.patch(KubeVirts, { name: 'kubevirt', namespace: 'kubevirt' }, { type: 'merge', body })
    expect((await stage.journal.overrides()).map(({ id }) => id)).toEqual(['workload-updates'])
    const ended = await stage.upgrade('v1.8.4', {}, { host: 'other' })
    expect(ended.error).toBeUndefined()
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(await stage.journal.overrides()).toEqual([])
    expect(JSON.stringify(stage.kubevirt.metadata.annotations)).not.toContain('kvup.io/saved')
    expect(store.list(ConfigMaps).items.map(({ metadata: { name } }) => name)).not.toContain('kvup-census-1')
  }))
