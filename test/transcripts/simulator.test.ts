import { describe, expect, it } from 'vitest'
import { mixedVms } from '../../src/simulator/vm-shape.ts'
import { counts, fates, phases } from './fates.ts'
import { play } from './play.ts'
import { readTranscript } from './read.ts'
import { reduce } from './reduce.ts'

const real = (name: string): string[] => reduce(readTranscript(name), /^(patch spec|kubectl apply)/)
const simulated = (...played: Parameters<typeof play>): Promise<string[]> =>
  play(...played).then((lines) => reduce(lines, /^(edit|apply)/))

describe('the simulator does what the real virt-operator was recorded doing', () => {
  it('imagetag: operator v1.8.4, imageTag v1.7.0 → v1.8.4', async () => {
    const story = await simulated(
      { version: 'v1.7.0', operator: 'v1.8.4', method: 'image-tag' },
      async ({ edit, wait }) => {
        await edit({ imageTag: 'v1.8.4' })
        await wait(90)
      },
    )
    expect(story).toEqual(real('imagetag-v1.7.0-v1.8.4'))
  })

  it('operator: the manifest of v1.8.4 over v1.7.0', async () => {
    const story = await simulated({ version: 'v1.7.0' }, async ({ applyOperator, wait }) => {
      await applyOperator('v1.8.4')
      await wait(120)
    })
    expect(story).toEqual(real('operator-v1.7.0-v1.8.4'))
  })

  it('badtag: an imageTag that cannot be pulled, and back', async () => {
    const faults = { unpullable: ':v1\\.8\\.5$' }
    const story = await simulated({ version: 'v1.8.4', faults }, async ({ edit, wait }) => {
      await edit({ imageTag: 'v1.8.5' })
      await wait(60)
      await edit({ imageTag: 'v1.8.4' })
      await wait(40)
    })
    expect(story).toEqual(real('badtag-v1.8.4-v1.8.5'))
  })

  it('oldop: an imageTag newer than the operator fails, the operator manifest is the way out', async () => {
    const story = await simulated({ version: 'v1.7.0' }, async ({ edit, applyOperator, wait }) => {
      await edit({ imageTag: 'v1.8.4' })
      await wait(45)
      await applyOperator('v1.8.4')
      await wait(120)
    })
    expect(story).toEqual(real('oldop-v1.7.0-v1.8.4'))
  })

  it('workloads: who is migrated, evicted, and left behind', async () => {
    const lines = await play({ version: 'v1.7.0', vms: mixedVms }, async ({ edit, applyOperator, wait }) => {
      await applyOperator('v1.8.4')
      await wait(76)
      await edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } })
      await wait(90)
      const batchEvictionInterval = '10s'
      const workloadUpdateMethods = ['LiveMigrate', 'Evict']
      await edit({
        workloadUpdateStrategy: { workloadUpdateMethods, batchEvictionSize: 1, batchEvictionInterval },
      })
      await wait(100)
    })
    const recorded = readTranscript('workloads-v1.7.0-v1.8.4')
    expect(fates(lines)).toEqual(fates(recorded))
    expect(phases(lines)).toEqual(phases(recorded))
    expect(counts(lines, 'v1.8.4')).toEqual(counts(recorded, 'v1.8.4'))
    expect(counts(lines, 'v1.8.4')).toEqual({ until: 0, after: 11 })
  })
})
