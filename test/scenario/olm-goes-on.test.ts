import { expect, test } from 'vitest'
import { interrupted } from '../../src/lib/kube/errors.ts'
import { ConfigMaps } from '../../src/lib/kube/kinds/core-kinds.ts'
import {
  type HyperConverged,
  HyperConvergeds,
  type InstallPlan,
  InstallPlans,
  type Subscription,
  Subscriptions,
} from '../../src/lib/kube/kinds/operator-kinds.ts'
import { Jobs } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { condition, type Kind, type KubeObject } from '../../src/lib/kube/object.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import type { StatusDocument } from '../../src/lib/output/views/status.ts'
import { runText } from '../lib/run-text.ts'
import { okdWithPatch } from './okd-with-patch.ts'
import { type Ended, minute, play, second, type Stage } from './stage.ts'

const small = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1 }
const brief = { stableFor: '5s' }

const stored = <T extends KubeObject>({ simulated }: Stage, kind: Kind<T>): T[] =>
  simulated.store.list(kind).items as T[]
const hyperConverged = (stage: Stage) => stored<HyperConverged>(stage, HyperConvergeds)[0]
const subscription = (stage: Stage) => stored<Subscription>(stage, Subscriptions)[0]
const versionOf = (stage: Stage) =>
  hyperConverged(stage)?.status?.versions?.find(({ name }) => name === 'operator')?.version

/** A run that dies at the first event that fits. */
function dying(stage: Stage, to: string, fits: (event: RunEvent) => boolean): Promise<Ended> {
  const stop = new AbortController()
  const onEvent = (event: RunEvent) => void (fits(event) && stop.abort(interrupted('SIGINT')))
  return stage.upgrade(to, brief, { onEvent, signal: stop.signal })
}

const isStep = (event: RunEvent, kind: RunEvent['kind'], id: string): boolean =>
  event.kind === kind && 'step' in event && event.step.id === id

async function seen(stage: Stage, holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    expect(tries).toBeLessThan(600)
    await stage.until(second)
  }
}

test('a run that was cut off in the roll of a hop within the minor goes on: Degraded is how the roll looks', () =>
  play({ ...small, olm: okdWithPatch(1) }, async (stage) => {
    const first = await dying(stage, '1.17.5', (event) =>
      isStep(event, 'step-started', 'csv-succeeded-1.17.4'),
    )
    expect(first.code).toBe(130)
    await seen(stage, () => subscription(stage)?.status?.installedCSV?.endsWith('.v1.17.4') === true)
    stage.simulated.faults.set({
      components: [{ component: 'CDI', is: 'degraded', message: 'its importer does not start' }],
    })
    await seen(stage, () => condition(hyperConverged(stage)!, 'Degraded')?.status === 'True')
    expect(versionOf(stage)).toBe('1.17.3')
    stage.later(2 * minute, () => stage.simulated.faults.set({ components: undefined }))
    const ended = await stage.upgrade('1.17.5', brief)
    expect(ended.error?.message).toBeUndefined()
    expect(ended.code).toBe(0)
    expect(stage.methods).toEqual(['LiveMigrate'])
  }))

test('each resolution that is stale is asked for again, over all runs that continue each other', () =>
  play({ ...small, olm: okdWithPatch(2), faults: { resolutionStale: true } }, async (stage) => {
    const asked = new Set<string>()
    stage.simulated.store.watch(Subscriptions, ({ object }) => {
      const value = object.metadata.annotations?.['kvup.io/resolve-again']
      if (value !== undefined) asked.add(value)
    })
    const first = await dying(stage, '1.17.6', (event) => isStep(event, 'step-done', 'approve-1.17.5'))
    expect(first.code).toBe(130)
    expect(asked.size).toBe(1)
    await stage.until(10 * minute)
    const next = await stage.upgrade('1.17.6', brief)
    expect(next.error?.message).toBeUndefined()
    expect(next.code).toBe(0)
    expect(asked.size).toBe(2)
    expect(JSON.stringify(next.events)).not.toContain('nor after kvup annotated')
  }))

test('an unpack failure that was mended: the condition that OLM leaves beside the plan holds nothing up', () =>
  play({ ...small, olm: okdOlm(), faults: { bundleUnpackFailed: 'pull access denied' } }, async (stage) => {
    const failed = () => condition(subscription(stage)!, 'BundleUnpackFailed')?.status === 'True'
    expect(await stage.upgrade('1.18.1', { ...brief, timeout: '15m' })).toMatchObject({ code: 4 })
    expect(failed()).toBe(true)
    stage.simulated.faults.set({ bundleUnpackFailed: undefined })
    const { writer, reader } = stage.cluster
    for (const kind of [Jobs, ConfigMaps])
      for (const { metadata } of await reader.list(kind, {
        labels: 'operatorframework.io/bundle-unpack-ref',
      }))
        await writer.delete(kind, metadata)
    await writer.mergePatch(Subscriptions, subscription(stage)!.metadata, {
      metadata: { annotations: { a: 'b' } },
    })
    const waits = () => stored<InstallPlan>(stage, InstallPlans).some(({ spec }) => spec?.approved === false)
    await seen(stage, waits)
    expect(failed()).toBe(true)
    const { cluster, clock } = stage
    const { out } = await runText(['status', '-o', 'json'], { cluster, clock, files: {} })
    const { layers } = JSON.parse(out) as StatusDocument
    expect(layers?.find(({ layer }) => layer === 'subscription')?.verdict).toBe('Healthy')
    const ended = await stage.upgrade('1.18.1', brief)
    expect(ended.error?.message).toBeUndefined()
    expect(ended.code).toBe(0)
    expect(failed()).toBe(false)
  }))
