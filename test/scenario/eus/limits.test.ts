// 5 s: a window is stopped at many of its steps.
import { describe, expect, test } from 'vitest'
import { planEus } from '../../../src/commands/eus/eus-status.ts'
import type { Cluster } from '../../../src/lib/kube/cluster.ts'
import { type Node, Nodes } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { MachineConfigPools } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import type { EusPlanDocument } from '../../../src/lib/eus/planned-eus.ts'
import { ocp418to420 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { servedGraph } from '../../../src/simulator/openshift/cluster-updates.ts'
import { type Ended, minute, play, type Stage } from '../stage.ts'
import { isEvery, shuffled } from '../killed.ts'
import {
  borrowedFields,
  doneSteps,
  eusAbortOn,
  restoreOn,
  eusRunOn,
  platformOf,
  playAt,
  playTwoAt,
  small418,
  withPools,
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

test('every step that the plan names: it stops right behind it, named again it has nothing to do', () =>
  play(small418, async (stage) => {
    const planned = await plannedSteps(stage)
    const drawn = new Set(shuffled(planned, (id) => id).slice(0, isEvery ? undefined : 5))
    for (const until of planned.filter((id) => drawn.has(id))) {
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
  }))

test('--pause-before ends before each that is named, whichever run comes there', async () => {
  const pauseBefore = ['request-4.19', 'request-4.20']
  const stoppedAt = async (stage: Stage) =>
    reportOf(await eusRunOn(stage, { pauseBefore })).stoppedBefore?.step
  await playAt('pause-worker')(async (stage) => {
    for (const _ of ['first', 'again']) expect(await stoppedAt(stage)).toBe('request-4.19')
    expect(versionOf(stage)).toBe('4.18.21')
  })
  await playAt('accepted-4.19')(async (stage) => {
    expect(await stoppedAt(stage)).toBe('request-4.20')
    expect(versionOf(stage)).toBe('4.19.14')
  })
})

test('--pool-order of what is no pool to unpause: refused, with those that are', () =>
  play(withPools('worker', 'gpu'), async (stage) => {
    for (const name of ['wroker', 'master']) {
      const ended = await eusRunOn(stage, { poolOrder: [name] })
      expect(ended).toMatchObject({ code: 2, error: { reason: 'no-such-pool' } })
      expect(ended.text).toContain('the pools are: gpu, worker')
    }
    expect(stage.writes()).toEqual([])
  }))

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
  test('a hop of the platform that would pass it is not asked for: it ends at the safe point before, exit 4; what was begun is seen to its end', () =>
    playAt('pause-worker')(async (stage) => {
      const early = await eusRunOn(stage, { deadline: inMinutes(stage, 60) })
      expect(early).toMatchObject({ code: 4 })
      expect(reportOf(early).stoppedBefore).toMatchObject({ step: 'request-4.19', because: 'deadline' })
      expect(versionOf(stage)).toBe('4.18.21')
      expect((await stage.journal.overrides()).map(({ id }) => id)).not.toContain('desired-update')
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
    playAt('pause-workload-updates')(async (stage) => {
      const slow = { cluster: slowly(stage, 3 * minute, () => true) }
      for (const goBack of [eusAbortOn, restoreOn]) {
        const soon = new Date(stage.now + 2 * minute)
        const deadline = `${soon.getHours()}:${String(soon.getMinutes()).padStart(2, '0')}`
        const ended = await goBack(stage, { deadline }, slow)
        expect(ended).toMatchObject({ code: 4 })
        expect(reportOf(ended).stoppedBefore?.because).toBe('deadline')
      }
    }))

  test('what is no time, or is one in no zone, is refused before the cluster is asked anything', () =>
    play(small418, async (stage) => {
      const mark = stage.mark
      const wrong = [{ deadline: '25:00' }, { deadline: '2026-11-22T04:30:00' }, { timeout: '60' }]
      for (const command of [eusRunOn, eusAbortOn, restoreOn])
        for (const limits of wrong) {
          const { code, error } = await command(stage, limits)
          expect({ limits, code, error: error?.exitCode }).toEqual({ limits, code: 2, error: 2 })
        }
      expect(stage.requests(mark)).toEqual([])
    }))
})

test('night E5, no-room: says which node, what its VMs ask for and what is left; with room again it goes on', () =>
  playTwoAt('none-outdated')(async (stage) => {
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
    expect(ended.text).not.toContain('--accept')
    const pauseBefore = ['unpause-worker']
    const typed = await eusRunOn(stage, { accept: ['no-room'], pauseBefore })
    expect(reportOf(typed).stoppedBefore).toMatchObject({ step: 'unpause-worker' })
    expect(typed.text).toMatch(/pool worker: accepted: its drains stand still at node worker-\d until/u)
    expect(borrowedFields(stage).paused['worker']).toBe(true)
    await memory('64Gi')
    const again = await eusRunOn(stage)
    expect(again.error).toBeUndefined()
    expect(doneSteps(again)).toEqual(
      expect.arrayContaining(['room-worker', 'unpause-worker', 'rolled-worker']),
    )
  }))
