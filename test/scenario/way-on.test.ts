import { expect, test } from 'vitest'
import type { Cluster, DeepPartial } from '../../src/lib/kube/cluster.ts'
import { onceCached } from '../../src/lib/kube/read-cache.ts'
import { upgradeHint } from '../../src/lib/upgrade/run-report.ts'
import { withResumeHint } from '../../src/lib/engine/change.ts'
import { type KubeVirt, KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { parseVersion } from '../../src/lib/releases/release-versions.ts'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import { ApiError, interrupted } from '../../src/lib/kube/errors.ts'
import { Refusal } from '../../src/simulator/api/api-refusal.ts'
import { recordingPrinter } from './recording-printer.ts'
import { byManifest, byTag, play, type Stage } from './stage.ts'

/** The cluster, but setting the tag fails like this. */
function tagFails({ cluster }: Stage, failure: Error): Cluster {
  const { writer } = cluster
  const mergePatch: typeof writer.mergePatch = (kind, ref, change, on) =>
    (change as DeepPartial<KubeVirt>).spec?.imageTag
      ? Promise.reject(failure)
      : writer.mergePatch(kind, ref, change, on)
  return { ...cluster, writer: { ...writer, mergePatch } }
}

/** A person who may not list CRDs. */
function withUnreadDefinitions({ cluster }: Stage): { cluster: Cluster } {
  const { reader } = cluster
  const list: typeof reader.list = (kind, where) =>
    kind.plural === 'customresourcedefinitions'
      ? Promise.reject(new ApiError(403, 'Forbidden', 'customresourcedefinitions is forbidden'))
      : reader.list(kind, where)
  return { cluster: { ...cluster, reader: { ...onceCached(reader), list } } }
}

const lines = [
  'automatic VM updates (was LiveMigrate)',
  'continues',
  'kvup upgrade --to v1.7.0     goes back',
  'kvup workloads resume-updates',
]

test('a right that is taken away in the middle: what is borrowed and the way on are said', async () => {
  await play(byTag, async (stage) => {
    const refused = new ApiError(403, 'Forbidden', 'kubevirts "kubevirt" is forbidden')
    const ended = await stage.upgrade('v1.8.4', {}, { cluster: tagFails(stage, refused) })
    expect(ended).toMatchObject({ code: 7, error: { reason: 'forbidden' } })
    for (const line of lines) expect(ended.text).toContain(line)
  })
})

test('a bug in the middle: the same is said, and it stays a bug', async () => {
  await play(byTag, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { until: 'pause-workload-updates' })).toMatchObject({ code: 0 })
    const bug = new TypeError('x is undefined')
    const { printer, recorded } = recordingPrinter(stage.clock)
    const { clock, cluster, journal } = stage
    const { signal } = new AbortController()
    const cx = {
      clock,
      printer,
      signal,
      cluster: async () => cluster,
      world: { commandLine: 'kvup upgrade' },
    }
    const owner = { kind: KubeVirts, ref: stage.kubevirt.metadata, uid: stage.kubevirt.metadata.uid }
    const downgrade = { is: 'open' }
    const plan = {
      owner,
      from: 'v1.7.0',
      to: parseVersion('v1.8.4'),
      method: 'image-tag',
      wayBack: downgrade,
    }
    const conditions = { cx, plan: () => plan, journal } as unknown as Parameters<typeof upgradeHint>[0]
    const run = (began: () => void) => {
      began()
      throw bug
    }
    await expect(withResumeHint(cx, upgradeHint(conditions), run)).rejects.toBe(bug)
    for (const line of lines) expect(recorded.lines.join('\n')).toContain(line)
  })
})

test('the new operator cannot be pulled: going back is free and needs no other flag', async () => {
  await play(byManifest, async (stage) => {
    stage.simulated.faults.set({ unpullable: '/virt-operator:v1\\.9\\.0$' })
    const stuck = await stage.upgrade('v1.9.0', { timeout: '5m' })
    expect(stuck.error?.remedy).toContain(
      'kvup upgrade --to v1.8.4     goes back; CRDs that v1.8.4 lacks are deleted, with all their objects',
    )
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
    expect(stage.kubevirt.spec?.imageTag).toBeUndefined()
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

test('the new operator has taken over: it takes the components back by a tag, as the line says', async () => {
  await play({ ...byManifest, version: 'v1.7.4', workers: 2 }, async (stage) => {
    stage.simulated.faults.set({ unpullable: '/virt-handler:v1\\.8\\.4$' })
    const stuck = await stage.upgrade('v1.8.4', { timeout: '5m' })
    expect(stuck.error?.remedy).toContain(
      'kvup upgrade --to v1.7.4 --method image-tag     goes back; CRDs that v1.7.4 lacks are deleted, with all their objects',
    )
    const back = await stage.upgrade('v1.7.4', { method: 'image-tag' })
    expect(back).toMatchObject({ code: 0 })
    expect(back.text).not.toContain('under the new operator')
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

const closed =
  'there is no way back: the CRDs of v1.9.0 store export.kubevirt.io as v1, which v1.8.4 does not have'

test.each([
  ['operator-manifest', byManifest],
  ['image-tag', { ...byTag, version: 'v1.8.4', operator: 'v1.9.0' }],
] as const)('%s: the CRDs are replaced and do not go back: no line leads there', async (method, shape) => {
  await play({ ...shape, workers: 2 }, async (stage) => {
    stage.simulated.faults.set({ unpullable: '/virt-handler:v1\\.9\\.0$' })
    const stuck = await stage.upgrade('v1.9.0', { timeout: '5m', method })
    expect(stuck.code).toBe(4)
    expect(stuck.error?.notes).toContain(closed)
    expect(stuck.error?.remedy.filter((line) => line.includes('v1.8.4'))).toEqual([])
    for (const path of ['image-tag', 'operator-manifest'] as const) {
      const mark = stage.mark
      const back = await stage.upgrade('v1.8.4', { method: path, accept: ['downgrade', 'way-back'] })
      expect(back).toMatchObject({ code: 3, error: { reason: 'no-way-back' } })
      expect(back.error?.object).toBe('customresourcedefinition/virtualmachineexports.export.kubevirt.io')
      expect(back.error?.remedy[0]).toBe('kvup upgrade --to v1.9.0     continues the upgrade to its end')
      expect(stage.writes(mark)).toEqual([])
    }
    stage.simulated.faults.set({ unpullable: undefined })
    expect(await stage.upgrade('v1.9.0', { method })).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

test('CRDs that could not be read promise no way back', async () => {
  await play({ ...byTag, version: 'v1.8.4', operator: 'v1.9.0', workers: 2 }, async (stage) => {
    const unread = withUnreadDefinitions(stage)
    stage.simulated.faults.set({ unpullable: '/virt-handler:v1\\.9\\.0$' })
    const stuck = await stage.upgrade('v1.9.0', { timeout: '5m', accept: ['crd-stored-versions'] }, unread)
    expect(stuck.code).toBe(4)
    expect(stuck.text).not.toContain('goes back')
    expect(stuck.text).not.toContain('there is no way back:')
    const back = await stage.upgrade('v1.8.4', {}, unread)
    expect(back).toMatchObject({ code: 3, error: { reason: 'crd-stored-versions' } })
    expect(back.error?.message).toContain(
      'kvup could not check whether the API server accepts the CRDs of v1.8.4',
    )
    expect(back.error?.remedy[0]).toContain('kvup rbac kvup-upgrade')
  })
})

test.each([
  ['virt-handler', 0, undefined],
  ['virt-controller', 3, 'way-back'],
  ['healthy', 3, 'downgrade'],
])('paused at %s: going back is said only where it is done when it is pasted', async (step, code, reason) => {
  await play({ ...byTag, workers: 2 }, async (stage) => {
    const stop = new AbortController()
    const onEvent = (event: RunEvent) => {
      const isThere = 'step' in event && event.step.id === step && event.kind === 'step-waiting'
      if (isThere) stop.abort(interrupted('SIGINT'))
    }
    const ended = await stage.upgrade('v1.8.4', { stableFor: '5m' }, { signal: stop.signal, onEvent })
    expect(ended.code).toBe(130)
    expect(ended.text.includes('goes back')).toBe(reason === undefined)
    const back = await stage.upgrade('v1.7.0', { method: 'image-tag' })
    expect([back.code, back.error?.reason]).toEqual([code, reason])
  })
})

test('L13 where nothing but the loan was written nobody is led back', async () => {
  await play(byManifest, async (stage) => {
    stage.simulated.store.admission.add(({ kind, operation }) => {
      if (kind.kind === 'Deployment' && operation === 'UPDATE')
        throw new Refusal(409, 'Conflict', 'the object has been modified')
    })
    const ended = await stage.upgrade('v1.9.0')
    expect(ended.code).not.toBe(0)
    expect(ended.text).not.toContain('goes back')
    expect(ended.text).not.toContain('going back to')
    expect(ended.text).not.toContain('deletes the CRDs')
  })
})
