import { expect, test } from 'vitest'
import type { EusStatusDocument } from '../../../src/lib/eus/run/window-status-report.ts'
import { type Node, Nodes } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { minute, play, type Stage, type Terminal } from '../stage.ts'
import { eusRunOn, eusStatusOn, playAt, small418 } from './window-stage.ts'

async function statusOf(stage: Stage, terminal?: Terminal): Promise<EusStatusDocument & { text: string }> {
  const ended = await eusStatusOn(stage, {}, terminal)
  expect(ended.error).toBeUndefined()
  return { ...(ended.documents.at(-1) as unknown as EusStatusDocument), text: ended.text }
}

test('no window is open: it says so, and writes nothing', () =>
  play(small418, async (stage) => {
    const mark = stage.mark
    expect(await statusOf(stage)).toMatchObject({ open: false, at: '4.18.21', overrides: [], steps: [] })
    expect(stage.writes(mark)).toEqual([])
  }))

test('between hops: what is behind, where it stands, what is ahead, and what is borrowed; a node that is not ready is in the verdict, and is looked at first', () =>
  playAt('pause-workload-updates')(async (stage) => {
    const held = stage.mark
    await eusRunOn(stage, { until: 'operator-4.19' })
    // Night E3: nothing of HyperConverged is written between hold and give-back.
    expect(stage.writes(held).filter(({ resource }) => resource === 'hyperconvergeds')).toEqual([])
    await stage.until(2 * 3_600_000)
    const mark = stage.mark
    const status = await statusOf(stage)
    expect(status).toMatchObject({ open: true, from: '4.18', to: '4.20', at: '4.19.14' })
    expect(status.parts.map(({ name, state }) => `${state} ${name}`)).toEqual([
      'done Pause automatic VM updates',
      'done Pause pools',
      'done Update the platform to 4.19',
      'done Update virtualization to 4.19',
      'now Update the platform to 4.20',
      'ahead Update virtualization to 4.20',
      'ahead Resume automatic VM updates',
      'ahead Unpause pools',
    ])
    expect(status.overridesText).toBe('automatic VM updates, 1 pool, 1 health check')
    expect(status.text).toContain('day 1')
    expect(stage.writes(mark)).toEqual([])
    expect(status.notReady).toBeUndefined()
    const [node = ''] = stage.simulated.store
      .list(Nodes)
      .items.flatMap(({ metadata: { name } }) => (name.startsWith('worker') ? [name] : []))
    stage.simulated.faults.set({ notReady: [node] })
    await stage.until(5 * minute)
    const { text, next, notReady } = await statusOf(stage)
    expect(notReady).toMatchObject([{ name: node, updating: false }])
    expect(text).toMatch(
      new RegExp(
        `^EUS upgrade 4\\.18 . 4\\.20: waiting, no kvup is running, node ${node} is NotReady for `,
        'u',
      ),
    )
    expect(next[0]).toBe(`kubectl describe node ${node}     shows why`)
    expect(text).toMatch(/\nNext: kubectl describe node .*\nThen: kvup eus run /u)
  }))

test('while the nodes of a pool reboot, the parts behind it are done, and the verdict names the node', () =>
  playAt('forecast')(async (stage) => {
    const looks: (EusStatusDocument & { text: string })[] = []
    const running = eusRunOn(stage)
    for (let look = 0; look < 600 && looks.length === 0; look++) {
      await stage.until(minute)
      const nodes = stage.simulated.store.list(Nodes).items as readonly Node[]
      const isRebooting = nodes.some(
        ({ metadata, status }) =>
          metadata.name.startsWith('worker') &&
          status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is !== 'True'),
      )
      if (isRebooting) looks.push(await statusOf(stage, { host: 'elsewhere' }))
    }
    expect(await running).toMatchObject({ code: 0 })
    const [look] = looks
    expect(look?.notReady).toMatchObject([{ updating: true }])
    expect(look?.text).toMatch(/updating, node worker\S* is NotReady for .* while its pool updates it/u)
    expect(look?.text).toMatch(/\nNext: kubectl describe node worker.*\nThen: kvup eus status -w/u)
    const states = look?.parts.map(({ name, state }) => `${state} ${name}`)
    expect(states?.slice(-2)).toEqual(['done Resume automatic VM updates', 'now Unpause pools'])
  }))
