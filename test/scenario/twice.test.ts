import { describe, expect, test } from 'vitest'
import { byManifest, byTag, minute, briefly as play, type Stage } from './stage.ts'

const lifted = { ...byTag, version: 'v1.8.4' } as const
const pinned = { ...byTag, version: 'v1.8.3' } as const

/** By image tag and by manifest as they are: test/scenario/contract-sealed-plan.test.ts. */
const procedures = [
  { name: 'operator manifest, tag taken out', shape: lifted, run: (stage: Stage) => stage.upgrade('v1.9.0') },
  { name: 'operator manifest, tag pinned', shape: pinned, run: (stage: Stage) => stage.upgrade('v1.9.0') },
  {
    name: 'without hold',
    shape: byTag,
    run: (stage: Stage) => stage.upgrade('v1.8.4', { pauseUpdates: false }),
  },
  {
    name: 'an image registry of its own',
    shape: byTag,
    run: (stage: Stage) => stage.upgrade('v1.8.4', { imageRegistry: 'mirror.example/kubevirt' }),
  },
  {
    name: 'operator manifest, an image registry of its own',
    shape: byManifest,
    run: (stage: Stage) => stage.upgrade('v1.9.0', { imageRegistry: 'mirror.example/kubevirt' }),
  },
  {
    name: 'waiting for workloads',
    shape: { ...byTag, workers: 2, vms: 2 },
    run: (stage: Stage) => stage.upgrade('v1.8.4', { waitWorkloads: true }),
  },
] as const

describe.for(procedures)('run twice: $name', ({ shape, run }) => {
  test('the second says nothing to do and writes nothing', async () => {
    await play(shape, async (stage) => {
      expect(await run(stage)).toMatchObject({ code: 0, documents: [{ outcome: 'done' }] })
      await stage.until(minute)
      const mark = stage.mark
      const { spec } = stage.kubevirt
      const again = await run(stage)
      expect(again).toMatchObject({ code: 0, documents: [{ outcome: 'nothing-to-do' }] })
      expect(again.text).toContain('nothing to do')
      expect(stage.writes(mark)).toEqual([])
      expect(stage.kubevirt.spec).toEqual(spec)
    })
  })
})

const vms = [{ name: 'web-1' }] as const

test('--leave-paused: a second run writes nothing, leaves them held and says so; without it they are given back', async () => {
  await play({ ...byTag, vms }, async (stage) => {
    const first = await stage.upgrade('v1.8.4', { leavePaused: true })
    expect(first.code).toBe(0)
    // Where nothing is accepted nobody is asked who accepts it.
    expect(first.documents[0]).not.toHaveProperty('accepted')
    expect(stage.requests().filter(({ resource }) => resource === 'selfsubjectreviews')).toEqual([])
    const mark = stage.mark
    const ended = await stage.upgrade('v1.8.4', { leavePaused: true })
    expect(ended).toMatchObject({ code: 0, documents: [{ outcome: 'nothing-to-do' }] })
    expect(ended.text).toContain('kvup workloads resume-updates')
    expect(stage.writes(mark)).toEqual([])
    expect(stage.methods).toEqual([])
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0, documents: [{ outcome: 'done' }] })
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(await stage.journal.overrides()).toEqual([])
  })
})

test('--wait-workloads with Evict does not list every VM at each change of one', async () => {
  const many = Array.from({ length: 8 }, (_, i) => ({ name: `web-${i}`, migration: '20s' as const }))
  await play({ ...byTag, workers: 2, methods: ['LiveMigrate', 'Evict'], vms: many }, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { waitWorkloads: true })).toMatchObject({ code: 0 })
    const lists = stage
      .requests()
      .filter(({ resource, verb }) => `${verb} ${resource}` === 'list virtualmachines')
    // Before the question the checks and which VMs run; under the lock, where time has passed, the census and the watch behind it; at the end
    // the census once more, and which VMs run, which is asked until those that ran do again. None for a change of a VM.
    expect(lists).toHaveLength(6)
  })
})

/** What a person is asked, and says no to. */
async function asked(stage: Stage, to: string) {
  let question = ''
  const answer = (text: string) => {
    question = text
    return Promise.resolve(false)
  }
  const { text } = await stage.upgrade(to, {}, { yes: false, answer })
  return { question, text }
}

const yetToCome = ['virt-api is replaced', '-> v1.8.4', '→ v1.8.4', 'patch imageTag']

test('only the end of the upgrade is left: the question, the plan and the report say just that', async () => {
  await play({ ...byTag, vms }, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { until: 'virt-controller-leads' })).toMatchObject({ code: 0 })
    const { question, text } = await asked(stage, 'v1.8.4')
    expect(question).toBe('Finish the upgrade of KubeVirt to v1.8.4?')
    expect(text).toContain('the version is installed. kvup verifies it and restores temporary changes')
    expect(text).toContain('automatic VM updates (LiveMigrate) are paused, and resume at the end')
    const planned = await stage.plan('v1.8.4')
    expect(planned.documents[0]).toMatchObject({ pending: true })
    const ended = await stage.upgrade('v1.8.4')
    expect(ended.text).toMatch(/\+ KubeVirt v1\.8\.4, \d+ [sm]/u)
    for (const said of yetToCome) expect(text + planned.text + ended.text).not.toContain(said)
  })
})

test('in the middle, and on the way back, all that will happen is said', async () => {
  await play({ ...byTag, vms }, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { until: 'virt-handler' })).toMatchObject({ code: 0 })
    const forth = await asked(stage, 'v1.8.4')
    expect(forth.question).toBe('Upgrade KubeVirt from v1.7.0 to v1.8.4?')
    const back = await asked(stage, 'v1.7.0')
    expect(back.question).toBe('Install KubeVirt v1.7.0?')
    for (const { text } of [forth, back]) expect(text).toContain('when virt-api is replaced')
  })
})
