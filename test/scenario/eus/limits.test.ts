import { describe, expect, test } from 'vitest'
import { planEus } from '../../../src/commands/eus/eus-status.ts'
import type { Cluster } from '../../../src/lib/kube/cluster.ts'
import { type Node, Nodes } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { MachineConfigPools } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import type { EusPlanDocument } from '../../../src/lib/eus/planned-eus.ts'
import { ocp418to420 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { servedGraph } from '../../../src/simulator/openshift/cluster-updates.ts'
import { KvupError } from '../../../src/lib/kube/errors.ts'
import { runText } from '../../lib/run-text.ts'
import { type Ended, minute, play, type Stage } from '../stage.ts'
import {
  borrowedFields,
  doneSteps,
  eus418,
  eusAbortOn,
  restoreOn,
  eusRunOn,
  platformOf,
  small418,
  twoWorkers418,
} from './window-stage.ts'

const versionOf = (stage: Stage) => platformOf(stage).status?.desired?.version
const reportOf = ({ documents }: Ended) =>
  documents.at(-1) as { outcome?: string; stoppedBefore?: { step: string; because: string } }
const inMinutes = (stage: Stage, minutes: number) => new Date(stage.now + minutes * minute).toISOString()

async function plannedSteps(stage: Stage): Promise<readonly string[]> {
  stage.files.set('graph.json', servedGraph(ocp418to420))
  const options = { accept: [], graphFile: 'graph.json' }
  const ended = await stage.perform((cx) => planEus(cx, options), { commandLine: 'kvup eus plan' })
  return (ended.documents.at(-1) as unknown as EusPlanDocument).steps.map(({ id }) => id)
}

describe('--until and --pause-before', () => {
  test('every step that the plan names: it stops right behind it, named again it has nothing to do, and the next goes on', () =>
    play(small418, async (stage) => {
      const before = borrowedFields(stage)
      for (const until of await plannedSteps(stage)) {
        const ended = await eusRunOn(stage, { until })
        expect({ until, error: ended.error }).toEqual({ until, error: undefined })
        const mark = stage.mark
        const again = await eusRunOn(stage, { until })
        expect({ until, error: again.error }).toEqual({ until, error: undefined })
        const changed = stage
          .writes(mark)
          .filter(({ resource }) => !['leases', 'configmaps'].includes(resource))
        expect({ until, changed }).toEqual({ until, changed: [] })
      }
      expect(await eusRunOn(stage)).toMatchObject({ code: 0 })
      expect(borrowedFields(stage)).toEqual(before)
    }))

  test('--pause-before ends before each that is named, whichever run comes there', () =>
    play(small418, async (stage) => {
      const pauseBefore = ['request-4.20', 'unpause-worker']
      expect(reportOf(await eusRunOn(stage, { pauseBefore })).stoppedBefore?.step).toBe('request-4.20')
      expect(versionOf(stage)).toBe('4.19.14')
      expect(reportOf(await eusRunOn(stage, { pauseBefore })).stoppedBefore?.step).toBe('request-4.20')
      await eusRunOn(stage, { until: 'accepted-4.20' })
      expect(reportOf(await eusRunOn(stage, { pauseBefore })).stoppedBefore?.step).toBe('unpause-worker')
      expect(borrowedFields(stage).paused['worker']).toBe(true)
      expect(await eusRunOn(stage)).toMatchObject({ code: 0 })
    }))

  test.each([{ until: 'unpause-gpu' }, { until: 'channel-4.91' }, { pauseBefore: ['request-4.91'] }])(
    'a step that there is not is refused before anything is written: %o',
    (limits) =>
      play(small418, async (stage) => {
        const mark = stage.mark
        expect(await eusRunOn(stage, limits)).toMatchObject({ code: 2, error: { reason: 'no-such-step' } })
        expect(stage.writes(mark)).toEqual([])
      }),
  )

  test('a step that is nearly named is guessed, and how to list them is said', () =>
    play(small418, async (stage) => {
      const { error } = await eusRunOn(stage, { until: 'unpause-wroker' })
      const remedy = error instanceof KvupError ? error.remedy : []
      expect(remedy[0]).toBe('did you mean unpause-worker?')
      expect(remedy.at(-1)).toContain('--dry-run=client -o name')
    }))
})

describe('--pool-order', () => {
  test('pools are unpaused in that order, those that are not named behind them', () =>
    play(eus418, async (stage) => {
      const ended = await eusRunOn(stage, { poolOrder: ['worker'] })
      expect(ended.error).toBeUndefined()
      const order = doneSteps(ended).filter((id) => /^(?:unpause|rolled)-/u.test(id))
      expect(order).toEqual(['unpause-worker', 'rolled-worker', 'unpause-gpu', 'rolled-gpu'])
      expect(await eusRunOn(stage, { poolOrder: ['worker'] })).toMatchObject({ code: 0 })
    }))

  test.each(['wroker', 'master'])('%s is no pool to unpause: refused, with those that are', (name) =>
    play(eus418, async (stage) => {
      const ended = await eusRunOn(stage, { poolOrder: [name] })
      expect(ended).toMatchObject({ code: 2, error: { reason: 'no-such-pool' } })
      expect(ended.text).toContain('the pools are: gpu, worker')
      expect(stage.writes()).toEqual([])
    }),
  )
})

const isOfPools = (kind?: string): boolean => kind === MachineConfigPools.kind

/** Lists pools only after so long. */
function slowly(stage: Stage, ms: number, slow: (kind?: string) => boolean = isOfPools): Cluster {
  const { cluster } = stage
  const reader = new Proxy(cluster.reader, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'list') return value.bind(target)
      return async (...given: unknown[]) => {
        const [kind] = given as [{ kind?: string }?]
        if (slow(kind?.kind)) await stage.clock.sleep(ms)
        return value.apply(target, given)
      }
    },
  })
  return { ...cluster, reader }
}

describe('--deadline', () => {
  test('a hop of the platform that would pass it is not asked for: it ends at the safe point before, exit 4', () =>
    play(small418, async (stage) => {
      const ended = await eusRunOn(stage, { deadline: inMinutes(stage, 60) })
      expect(ended).toMatchObject({ code: 4 })
      expect(reportOf(ended).stoppedBefore).toMatchObject({ step: 'request-4.19', because: 'deadline' })
      expect(versionOf(stage)).toBe('4.18.21')
      expect((await stage.journal.overrides()).map(({ id }) => id)).not.toContain('desired-update')
      expect((await eusRunOn(stage, { until: 'accepted-4.19' })).error).toBeUndefined()
      expect(versionOf(stage)).toBe('4.19.14')
    }))

  test('what was begun before it is seen to its end, and the next one is not begun', () =>
    play(small418, async (stage) => {
      const ended = await eusRunOn(stage, { deadline: inMinutes(stage, 150) })
      expect(ended).toMatchObject({ code: 4 })
      expect(doneSteps(ended)).toEqual(
        expect.arrayContaining(['accepted-4.19', 'control-plane-4.19', 'operator-4.19']),
      )
      expect(reportOf(ended).stoppedBefore).toMatchObject({ step: 'request-4.20', because: 'deadline' })
    }))

  test('a time of day is the next one from when it was typed, however long the look at the cluster takes', () =>
    play(small418, async (stage) => {
      const soon = new Date(stage.now + 2 * minute)
      const deadline = `${soon.getHours()}:${String(soon.getMinutes()).padStart(2, '0')}`
      const ended = await eusRunOn(stage, { deadline }, { cluster: slowly(stage, 3 * minute) })
      expect(ended).toMatchObject({ code: 4 })
      expect(reportOf(ended).stoppedBefore?.because).toBe('deadline')
      expect(borrowedFields(stage).paused['worker']).toBe(false)
    }))

  test('of abort and restore it is so as well', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'pause-workload-updates' })
      const slow = { cluster: slowly(stage, 3 * minute, () => true) }
      for (const goBack of [eusAbortOn, restoreOn]) {
        const soon = new Date(stage.now + 2 * minute)
        const deadline = `${soon.getHours()}:${String(soon.getMinutes()).padStart(2, '0')}`
        const ended = await goBack(stage, { deadline }, slow)
        expect(ended).toMatchObject({ code: 4 })
        expect(reportOf(ended).stoppedBefore?.because).toBe('deadline')
      }
    }))

  test.each([eusRunOn, eusAbortOn, restoreOn])(
    '%o refuses what is no time, or is one in no zone, before it asks the cluster anything',
    (command) =>
      play(small418, async (stage) => {
        const mark = stage.mark
        for (const limits of [
          { deadline: '25:00' },
          { deadline: '2026-11-22T04:30:00' },
          { timeout: '60' },
        ]) {
          const { code, error } = await command(stage, limits)
          expect({ limits, code, error: error?.exitCode }).toEqual({ limits, code: 2, error: 2 })
        }
        expect(stage.requests(mark)).toEqual([])
      }),
  )
})

const twoWorkers = {
  ...twoWorkers418,
}

describe('night E5: what is asked before a pool is unpaused, and on again once it was mended', () => {
  test('vms-block-drains: each is named; unblocked and restarted as it says, the pool is unpaused and rolls', () =>
    play(
      { ...twoWorkers, vms: [{ name: 'stuck', notMigratable: 'DisksNotLiveMigratable' }] },
      async (stage) => {
        const accept = ['vms-that-stay']
        const ended = await eusRunOn(stage, { accept })
        expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-block-drains' } })
        expect(ended.text).toContain(
          '1 VM refuses to be evicted, and holds the drains of pool worker up: demo/stuck',
        )
        expect(borrowedFields(stage).paused['worker']).toBe(true)
        expect((await stage.unblock({ accept: ['data-loss'] })).error).toBeUndefined()
        await stage.until(minute)
        const restart = ['workloads', 'restart', '--yes', '--accept', 'data-loss']
        expect(await runText(restart, { cluster: stage.cluster, clock: stage.clock })).toMatchObject({
          code: 0,
        })
        const again = await eusRunOn(stage, { accept })
        expect(again.error).toBeUndefined()
        expect(doneSteps(again)).toContain('rolled-worker')
        expect(borrowedFields(stage).paused['worker']).toBe(false)
      },
    ))

  test('no-room: says which node, what its VMs ask for and what is left; with room again it goes on', () =>
    play({ ...twoWorkers, vms: 2 }, async (stage) => {
      await eusRunOn(stage, { until: 'none-outdated' })
      const memory = async (size: string) => {
        for (const node of stage.simulated.store.list(Nodes).items as Node[])
          await stage.cluster.writer.mergePatch(
            Nodes,
            node.metadata,
            { status: { allocatable: { memory: size } } },
            'status',
          )
      }
      await memory('300Mi')
      const ended = await eusRunOn(stage)
      expect(ended).toMatchObject({ code: 3, error: { reason: 'no-room' } })
      expect(ended.text).toMatch(
        /the VMs on node worker-\d ask for [\d.]+ GiB of memory, and the other nodes have/u,
      )
      expect(ended.text).toContain('--accept no-room')
      expect(borrowedFields(stage).paused['worker']).toBe(true)
      await memory('64Gi')
      const again = await eusRunOn(stage)
      expect(again.error).toBeUndefined()
      expect(doneSteps(again)).toEqual(
        expect.arrayContaining(['room-worker', 'unpause-worker', 'rolled-worker']),
      )
    }))
})
