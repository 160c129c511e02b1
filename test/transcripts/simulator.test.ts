import { describe, expect, it, test } from 'vitest'
import type { DaemonSet } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { type KubeVirt, KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { mixedVms } from '../../src/simulator/vm-shape.ts'
import { counts, fates, phases } from './fates.ts'
import { type Admin, play } from './play.ts'
import { type Line, readTranscript } from './read.ts'
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

const begins = /^(edit|apply|patch spec|kubectl apply|change: start)/
const updated =
  (...versions: string[]) =>
  async ({ applyOperator, wait }: Admin) => {
    for (const version of versions) {
      await applyOperator(version)
      await wait(150)
    }
  }

/** Beside virt-api nobody waits for them: which of their pods is ready first differs from run to run. */
const besides = /^virt-(exportproxy|synchronization-controller|template-\w+) through/u
/** While each write of the operator takes seconds, all pods may be new before it widens maxUnavailable. */
const widened = /^virt-handler maxUnavailable/u
/** A KubeVirt with a feature gate that adds a Deployment. */
const gated: KubeVirt = {
  apiVersion: KubeVirts.apiVersion,
  kind: KubeVirts.kind,
  metadata: { name: 'kubevirt', namespace: 'kubevirt' },
  spec: { configuration: { developerConfiguration: { featureGates: ['DecentralizedLiveMigration'] } } },
}

type Case = readonly [
  name: string,
  shape: Parameters<typeof play>[0],
  story: Parameters<typeof play>[1],
  /** Lines that are left out, and the line from which on the stories are compared. */
  how?: { without?: RegExp; from?: string },
]

const cases: readonly Case[] = [
  ['operator-v1.5.2-v1.6.0', { version: 'v1.5.2' }, updated('v1.6.0')],
  ['operator-v1.6.0-v1.7.0', { version: 'v1.6.0' }, updated('v1.7.0')],
  ['operator-v1.6.0-v1.7.0-1w', { version: 'v1.6.0', workers: 1 }, updated('v1.7.0')],
  ['chain-v1.6.0-v1.7.0-v1.8.4', { version: 'v1.6.0' }, updated('v1.7.0', 'v1.8.4')],
  ['operator-v1.8.4-v1.9.0', { version: 'v1.8.4' }, updated('v1.9.0')],
  [
    'operator-v1.8.4-v1.9.0-slow-webhook',
    { version: 'v1.8.4', kubevirt: gated },
    updated('v1.9.0'),
    { without: widened },
  ],
  [
    'imagetag-v1.8.4-v1.9.0',
    { version: 'v1.8.4', operator: 'v1.9.0', method: 'image-tag' },
    async ({ edit, wait }) => {
      await edit({ imageTag: 'v1.9.0' })
      await wait(90)
    },
  ],
  [
    'badtag-v1.9.0-v1.9.1',
    { version: 'v1.9.0', faults: { unpullable: ':v1\\.9\\.1$' } },
    async ({ edit, wait }) => {
      await edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } })
      await wait(30)
      await edit({ workloadUpdateStrategy: { workloadUpdateMethods: [] } })
      await edit({ imageTag: 'v1.9.1' })
      await wait(60)
      await edit({ imageTag: null })
      await wait(60)
      await edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } })
      await wait(60)
    },
    { from: 'KubeVirt edit: 4 not seen' },
  ],
]

/** From the change of the version on. */
const storyOf = (lines: readonly Line[], without = /^$/u): string[] => {
  const story = reduce(lines, begins)
  return story.filter((line) => !besides.test(line) && !without.test(line))
}

/** What virt-handler rolls to: each generation that it had, with its release and whether it has the argument for migrations. */
const rolls = (lines: readonly Line[]): string[] => {
  const sets = lines.flatMap(({ object }) => (object?.kind === 'DaemonSet' ? [object as DaemonSet] : []))
  const told = sets.map(({ metadata: { generation }, spec }) => {
    const { image = '', args = [] } = spec?.template?.spec?.containers?.[0] ?? {}
    const names = args.includes('--migration-cn-types') ? 'with' : 'without'
    return `${generation} ${image.slice(image.lastIndexOf(':') + 1)} ${names}`
  })
  return [...new Set(told)]
}

describe('the order of what it writes, and each roll of virt-handler with its arguments, are as recorded', () => {
  for (const [name, shape, story, { without, from } = {}] of cases)
    test(`recording ${name}`, async () => {
      const lines = await play(shape, story)
      const recorded = readTranscript(name)
      const [played = [], theirs] = [lines, recorded].map((all) => {
        const told = storyOf(all, without)
        return from === undefined ? told : told.slice(told.indexOf(from))
      })
      expect(played).toEqual(theirs)
      expect(played.length).toBeGreaterThan(12)
      expect(without ?? rolls(lines)).toEqual(without ?? rolls(recorded))
    })
})
