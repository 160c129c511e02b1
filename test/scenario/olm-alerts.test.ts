import { expect, test } from 'vitest'
import { ocpOlm } from '../../src/simulator/olm/olm-shape.ts'
import { type Shape, small418 } from './eus/window-stage.ts'
import { byTag, play, type Stage } from './stage.ts'

const shape: Shape = { ...small418, olm: ocpOlm({ installed: '4.18.9' }) }
const open: Shape = { ...shape, openshift: { ...small418.openshift!, monitoring: 'open' } }
const grave = { name: 'etcdMembersDown', severity: 'critical', namespace: 'openshift-etcd' }
const late = { name: 'TargetDown', severity: 'warning' }

const upgraded = async (stage: Stage, onEvent = () => undefined as void) => {
  const ended = await stage.upgrade('4.18.13', { stableFor: '5s', method: 'olm' }, { onEvent })
  expect(ended.error).toBeUndefined()
  return ended
}
const asked = (stage: Stage) => stage.requests().filter(({ resource }) => resource === 'services')

test('where none is new that is said', () =>
  play(open, async (stage) => {
    stage.simulated.faults.set({ firing: [grave] })
    expect((await upgraded(stage)).text).toMatch(/\. No new alert$/mu)
  }))

test('an upgrade tells which alerts fire that did not before, with hundreds as well: one that is new is told, and one that stopped makes no other new', () =>
  play(open, async (stage) => {
    const hundreds = Array.from({ length: 250 }, (_, i) => ({
      name: 'KubePodCrashLooping',
      severity: 'warning',
      namespace: `team-${i + 100}`,
    }))
    stage.simulated.faults.set({ firing: hundreds })
    const ended = await upgraded(stage, () =>
      stage.simulated.faults.set({ firing: [...hundreds.slice(50), late] }),
    )
    expect(ended.documents.at(-1)).toMatchObject({ alerts: { new: ['TargetDown'] } })
    expect(ended.text).toContain('new alerts: TargetDown')
  }))

test('a platform as it comes: that they were not compared, why, and what to type', () =>
  play(shape, async (stage) => {
    const { text } = await upgraded(stage)
    expect(text).toContain('Alerts not compared')
    expect(text).toContain('prometheus-k8s-0')
  }))

test('a cluster without a platform is asked for none, and nothing is said of them', () =>
  play(byTag, async (stage) => {
    const ended = await stage.upgrade('v1.8.4', { stableFor: '5s' })
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.text).not.toContain('alert')
    expect(asked(stage)).toEqual([])
  }))
