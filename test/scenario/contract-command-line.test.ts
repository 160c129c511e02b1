import { describe, expect, test } from 'vitest'
import { check, type CheckOptions } from '../../src/commands/check/check.ts'
import { byManifest, byTag, minute, briefly as play, second, type Stage } from './stage.ts'

/** A slow update of somebody else, with components that carry it already. */
async function halfWay(stage: Stage): Promise<void> {
  stage.simulated.faults.set({ unpullable: '/virt-controller:v1\\.8\\.4$' })
  stage.edit({ imageTag: 'v1.8.4' })
  await stage.until(5 * minute)
}

test('contract: upgrade without a target says where it stands, what can be reached and the next command: exit 2, at a terminal a list', async () => {
  await play(byTag, async (stage) => {
    const ended = await stage.upgrade(undefined)
    expect(ended).toMatchObject({ code: 2, error: { reason: 'no-target' }, documents: [] })
    expect(ended.text).toContain('v1.7.0')
    expect(ended.text).toContain('kvup upgrade --to v1.8.')
    const asked: string[] = []
    const targets = { code: 0, documents: [{ kind: 'AvailableTargets' }] }
    const decide = async (question: string) => asked.push(question) < 0
    const listed = await stage.upgrade(undefined, {}, { decide })
    expect(listed).toMatchObject(targets)
    expect(listed.text).toMatch(/^KubeVirt v1\.7\.0: healthy\. Update available: v1\.8\.\d+$/mu)
    expect(listed.text).toMatch(/^v1\.8\.\d+ +recommended +kvup upgrade --to v1\.8\.\d+$/mu)
    expect(asked).toEqual([])

    const lists: (readonly string[])[] = []
    const chooseOne = (names: readonly string[]) => (lists.push(names), 'none')
    expect(await stage.upgrade(undefined, {}, { yes: false, chooseOne })).toMatchObject(targets)
    expect(lists).toHaveLength(1)
    expect(lists[0]?.[0]).toMatch(/^v1\.8\.\d+ \(recommended\)$/u)
    expect(lists[0]?.at(-1)).toBe('none: change nothing')
    // A program that reads the document is asked nothing.
    expect(await stage.upgrade(undefined, {}, { output: 'json', chooseOne })).toMatchObject(targets)
    expect(lists).toHaveLength(1)
    expect(stage.writes()).toEqual([])
  })
})

describe('16.3 the target of a bare upgrade is chosen from a list', () => {
  test('what is chosen goes on as with --to: plan, question, run', async () => {
    await play(byTag, async (stage) => {
      const asked: string[] = []
      const ended = await stage.upgrade(
        undefined,
        { until: 'pause-workload-updates' },
        {
          commandLine: 'kvup upgrade --until pause-workload-updates',
          chooseOne: () => 'v1.8.4',
          answer: async (question) => asked.push(question) > 0,
        },
      )
      expect(asked).toEqual(['Upgrade KubeVirt from v1.7.0 to v1.8.4?'])
      expect(ended.code).toBe(0)
      expect(ended.text).toContain('kvup upgrade --to v1.8.4')
      expect(stage.methods).toEqual([])
    })
  })
})

test('16.1 an interrupted upgrade is finished when a person says so, and by nothing else', async () => {
  await play(byTag, async (stage) => {
    await stage.upgrade('v1.8.4', { until: 'pause-workload-updates' })
    const asked: string[] = []
    const answering = (answer: boolean) => async (question: string) => {
      asked.push(question)
      return answer
    }
    const { mark } = stage
    const paused = await stage.upgrade(undefined)
    expect(paused).toMatchObject({ code: 2, error: { remedy: ['kvup upgrade --to v1.8.4     continues'] } })
    expect(await stage.upgrade(undefined, {}, { decide: answering(false) })).toMatchObject({ code: 0 })
    expect(stage.writes(mark)).toEqual([])
    const finished = await stage.upgrade(undefined, {}, { decide: answering(true) })
    expect(finished).toMatchObject({ code: 0 })
    expect(asked).toEqual(['Finish the upgrade to v1.8.4 now?', 'Finish the upgrade to v1.8.4 now?'])
    expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.8.4')
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

test('16.8 bare upgrade in the middle of one offers to finish it, and no other version', async () => {
  await play(byTag, async (stage) => {
    await halfWay(stage)
    const ended = await stage.upgrade(undefined)
    expect(ended).toMatchObject({ code: 2, error: { remedy: ['kvup upgrade --to v1.8.4     continues'] } })
    expect(ended.text).toContain('an upgrade from v1.7.0 to v1.8.4 is not finished: continue it first')
    const { mark } = stage
    const other = await stage.upgrade('v1.8.5', { method: 'image-tag' })
    expect(other).toMatchObject({ code: 3, error: { reason: 'another-update-running' } })
    for (const version of ['v1.8.4', 'v1.8.5']) expect(other.text).toContain(version)
    expect(stage.writes(mark)).toEqual([])
  })
})

test('16.8 what check ends with has the risks that were accepted, and offers no upgrade to what is installed', async () => {
  await play(byTag, async (stage) => {
    const last = async (options: Partial<CheckOptions>) => {
      const commandLine = `kvup check --to ${options.to ?? ''}`
      const { text } = await stage.perform((cx) => check(cx, { accept: [], method: 'auto', ...options }), {
        commandLine,
      })
      return text.trimEnd().split('\n').at(-1)
    }
    const accept = ['kubernetes-window=tested in stage', 'patch-skipped', 'control-plane-label']
    expect(await last({ to: 'v1.8.4' })).toMatch(/^Next: kvup (?:explain|upgrade --to v1\.8\.4$)/u)
    const taken = await last({ to: 'v1.7.0' })
    expect(taken).not.toContain('kvup upgrade')
    stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: [] } })
    const line = await last({
      to: 'v1.8.4',
      accept: [...accept, 'methods-empty-without-override=night shift'],
    })
    expect(line).toMatch(
      /^Next: kvup upgrade --to v1\.8\.4.* --accept 'methods-empty-without-override=night shift'/u,
    )
  })
})

test('16.8 where check blocks, the upgrade that it ends with has the risks that were accepted', async () => {
  const pinned = { VIRT_API_IMAGE: 'quay.io/kubevirt/virt-api:v1.7.0' }
  await play({ ...byTag, pinned }, async (stage) => {
    stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: [] } })
    const accept = ['methods-empty-without-override=night shift', 'kubernetes-window=tested in stage']
    const options: CheckOptions = { to: 'v1.8.4', method: 'image-tag', accept }
    const { text, code } = await stage.perform((cx) => check(cx, options), {
      commandLine: 'kvup check --to v1.8.4 --method image-tag',
    })
    expect(code).toBe(3)
    expect(text.trimEnd().split('\n').at(-1)).toMatch(
      /^Next: kvup upgrade --to v1\.8\.4 --method operator-manifest .*--accept 'methods-empty-without-override=night shift'/u,
    )
  })
})

test('contract: v is optional, the full version is required, a duration needs a unit', async () => {
  await play(byTag, async (stage) => {
    const wrong = [{ to: '1.8' }, { to: 'latest' }, { timeout: '60' }, { deadline: '25:00' }]
    for (const options of [...wrong, { deadline: '2026-11-22T04:30:00' }])
      expect(await stage.upgrade('v1.8.4', options)).toMatchObject({ code: 2 })
    expect(stage.requests()).toEqual([])
    expect(await stage.upgrade('v1.8.4', { to: '1.8.4' })).toMatchObject({ code: 0 })
  })
})

test('manner 38: --timeout is the whole run, and its end is exit 4', async () => {
  await play(byTag, async (stage) => {
    stage.simulated.faults.set({ stopped: true })
    const ended = await stage.upgrade('v1.8.4', { timeout: '7m' })
    expect(ended).toMatchObject({ code: 4, error: { reason: 'timed-out' } })
    expect(Math.round(ended.took / second)).toBe(7 * 60)
  })
})

test('--stalled-after ends an upgrade that stalls for so long, exit 4, and the line that it prints goes on', async () => {
  await play(byTag, async (stage) => {
    stage.simulated.faults.set({ unpullable: 'virt-handler:v1.8.4' })
    const ended = await stage.upgrade('v1.8.4', { stalledAfter: '5m' })
    expect(ended).toMatchObject({
      code: 4,
      error: { reason: 'stalled', message: expect.stringContaining('stalled for 5 m (--stalled-after)') },
    })
    expect(ended.text).toContain('cannot pull')
    expect(ended.error?.remedy.join('\n')).toMatch(/^kvup upgrade .*continues$/mu)
    expect(ended.took).toBeLessThan(9 * minute)
    stage.simulated.faults.set({ unpullable: undefined })
    expect(await stage.upgrade('v1.8.4', { stalledAfter: '5m' })).toMatchObject({ code: 0 })
    expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.8.4')
  })
})

test('contract: image-tag sets the tag where there was none, and the way back takes it out again', async () => {
  await play(byManifest, async (stage) => {
    expect(await stage.upgrade('v1.8.5', { method: 'image-tag', accept: ['release-unknown'] })).toMatchObject(
      { code: 0 },
    )
    expect(stage.kubevirt.spec).toMatchObject({ imageTag: 'v1.8.5' })
    const back = await stage.upgrade('v1.8.4', { method: 'image-tag', accept: ['downgrade'] })
    expect(back).toMatchObject({ code: 0 })
    expect(stage.kubevirt.spec?.imageTag).toBeUndefined()
    expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.8.4')
  })
})

test('contract: an update to the same target is joined, its migrations are not waited for any more', async () => {
  await play(byTag, async (stage) => {
    stage.edit({ imageTag: 'v1.8.4' })
    await stage.until(10 * second)
    const ended = await stage.upgrade('v1.8.4')
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.text).toContain('kvup joins it')
    const steps = ended.events.flatMap((e) => (e.kind === 'step-applied' ? [e.step.id] : []))
    expect(steps).toEqual(['pause-workload-updates', 'resume-workload-updates'])
  })
})

test('contract: another target is taken over while no operand carries the running one', async () => {
  await play({ ...byTag, version: 'v1.8.3' }, async (stage) => {
    stage.simulated.faults.set({ unpullable: 'virt-operator:v1\\.8\\.5$' })
    stage.edit({ imageTag: 'v1.8.5' })
    await stage.until(minute)
    const ended = await stage.upgrade('v1.8.4')
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.text).toContain('replaces it')
    expect(stage.kubevirt.status?.observedKubeVirtVersion).toBe('v1.8.4')
  })
})

test('contract: answered no is exit 3, nothing was changed, no lock was taken', async () => {
  await play(byTag, async (stage) => {
    const ended = await stage.upgrade('v1.8.4', {}, { answer: async () => false })
    expect(ended).toMatchObject({ code: 3, error: { message: 'Canceled. Nothing was changed.' } })
    expect(stage.writes()).toEqual([])
    expect(stage.holder).toBeUndefined()
  })
})

test('contract: --yes does not accept evictions; --accept evictions does', async () => {
  const vms = [{ name: 'pet', evictionStrategy: 'None', notMigratable: 'DisksNotLiveMigratable' }]
  await play({ ...byTag, methods: ['LiveMigrate', 'Evict'], vms }, async (stage) => {
    const refused = await stage.upgrade('v1.8.4')
    expect(refused).toMatchObject({ code: 3, error: { reason: 'evictions' } })
    expect(refused.text).toContain('demo/pet')
    expect(refused.text).toContain('--leave-paused')
    expect(stage.writes()).toEqual([])
    expect(await stage.upgrade('v1.8.4', { accept: ['evictions'] })).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual(['LiveMigrate', 'Evict'])
  })
})

test('contract: --until and --pause-before take the ids of steps; an unknown one is exit 2 and nothing is written', async () => {
  await play(byTag, async (stage) => {
    for (const options of [{ until: 'nowhere' }, { pauseBefore: ['nowhere'] }])
      for (const dryRun of ['none', 'client'])
        expect(await stage.upgrade('v1.8.4', { ...options, dryRun })).toMatchObject({ code: 2 })
    expect(stage.writes()).toEqual([])
    const paused = await stage.upgrade('v1.8.4', { pauseBefore: ['set-image-tag'] })
    expect(paused).toMatchObject({ code: 0, documents: [{ outcome: 'stopped-before' }] })
    expect(stage.kubevirt.spec).toMatchObject({ imageTag: 'v1.7.0' })
    expect(stage.methods).toEqual([])
  })
})

test('contract: a --deadline that is over is refused before the plan is made', async () => {
  await play(byTag, async (stage) => {
    const mark = stage.mark
    const deadline = new Date(stage.now - minute).toISOString()
    expect(await stage.upgrade('v1.8.4', { deadline })).toMatchObject({
      code: 2,
      error: { reason: 'deadline' },
    })
    expect(stage.requests(mark).filter(({ resource }) => resource === 'kubevirts')).toEqual([])
  })
})
