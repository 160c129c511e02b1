import { expect, test } from 'vitest'
import { byTag, play, type Stage } from './stage.ts'

const vms = [{ name: 'web-1' }] as const

/** What a second run of the same line does. */
async function again(stage: Stage, options: Parameters<Stage['upgrade']>[1]) {
  expect(await stage.upgrade('v1.8.4', options)).toMatchObject({ code: 0 })
  const mark = stage.mark
  const ended = await stage.upgrade('v1.8.4', options)
  return { ended, writes: stage.writes(mark) }
}

test('--leave-held: a second run writes nothing, leaves them held and says so', async () => {
  await play({ ...byTag, vms }, async (stage) => {
    const { ended, writes } = await again(stage, { leaveHeld: true })
    expect(ended).toMatchObject({ code: 0, documents: [{ outcome: 'nothing-to-do' }] })
    expect(ended.text).toContain('kvup workloads restore')
    expect(writes).toEqual([])
    expect(stage.methods).toEqual([])
  })
})

test('without --leave-held the second run gives them back', async () => {
  await play({ ...byTag, vms }, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { leaveHeld: true })).toMatchObject({ code: 0 })
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0, documents: [{ outcome: 'done' }] })
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

test('--wait-workloads: nothing to do only when no VM is left to move', async () => {
  await play({ ...byTag, workers: 2, vms }, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { leaveHeld: true })).toMatchObject({ code: 0 })
    const { ended, writes } = await again(stage, { waitWorkloads: true })
    expect(ended).toMatchObject({ documents: [{ outcome: 'nothing-to-do' }] })
    expect(writes).toEqual([])
  })
})

test('--wait-workloads with Evict does not list every VM at each change of one', async () => {
  const many = Array.from({ length: 8 }, (_, i) => ({ name: `web-${i}`, migration: '20s' as const }))
  await play({ ...byTag, workers: 2, methods: ['LiveMigrate', 'Evict'], vms: many }, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { waitWorkloads: true })).toMatchObject({ code: 0 })
    const lists = stage
      .requests()
      .filter(({ resource, verb }) => `${verb} ${resource}` === 'list virtualmachines')
    // For the forecast, the checks, the counts before and after, and what is left at the end.
    expect(lists.length).toBeLessThanOrEqual(5)
  })
})
