import { expect, test } from 'vitest'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import { VirtualMachineInstanceMigrations } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { twoWorkers418 } from './eus/window-stage.ts'
import { byTag, minute, play, type Stage } from './stage.ts'
import { madeAt, migrationsIn } from './updates.ts'

const before = { name: 'TargetDown', severity: 'warning' }
const late = { name: 'KubePodCrashLooping', severity: 'warning', namespace: 'shop' }

/** Four outdated VMs on a platform whose alerts may be read, or not. */
const onPlatform = (monitoring: 'open' | undefined, act: (stage: Stage) => Promise<void>) =>
  play(
    {
      ...byTag,
      methods: [],
      vms: 4,
      openshift: { ...twoWorkers418.openshift!, ...(monitoring && { monitoring }) },
    },
    async (stage) => {
      expect(await stage.upgrade('v1.8.4', { accept: ['kubernetes-window'] })).toMatchObject({ code: 0 })
      await act(stage)
    },
  )

/** An update of which an alert begins to fire once the first VM is under way, and ends ten minutes later. */
async function alertedBy(
  stage: Stage,
  alert: object,
  canary: string,
): Promise<{ waited: number; waits: string; text: string }> {
  const { faults, store } = stage.simulated
  let isFirst = true
  faults.set({ firing: [before] })
  store.watch(VirtualMachineInstanceMigrations, () => {
    if (!isFirst) return
    isFirst = false
    faults.set({ firing: [before, alert as typeof before] })
    stage.later(10 * minute, () => faults.set({ firing: [before] }))
  })
  const waits: string[] = []
  const onEvent = (event: RunEvent) => {
    if (event.kind === 'step-waiting' && event.state.is === 'waiting') waits.push(event.state.on)
  }
  const ended = await stage.update({ canary }, { onEvent })
  expect(ended).toMatchObject({ code: 0 })
  const [first, ...others] = migrationsIn(stage).map(madeAt)
  expect(others).toHaveLength(3)
  return { waited: Math.min(...others) - (first ?? 0), waits: waits.join(), text: ended.text }
}

test('a wave does not begin while an alert fires that did not when the run began', () =>
  onPlatform('open', async (stage) => {
    const { waited, waits } = await alertedBy(stage, late, '1')
    expect(waited).toBeGreaterThanOrEqual(10 * minute)
    expect(waited).toBeLessThan(13 * minute)
    expect(waits).toContain('the alert KubePodCrashLooping in namespace shop to stop firing')
    expect(waits).not.toContain('TargetDown')
  }))

test.each([
  [
    'expected while VMs are outdated',
    { name: 'OutdatedVirtualMachineInstanceWorkloads', severity: 'warning' },
  ],
  ['of severity info', { name: 'KubeVirtDeprecatedAPIRequested', severity: 'info' }],
])('one that is %s holds no wave', (_, alert) =>
  onPlatform('open', async (stage) => {
    expect((await alertedBy(stage, alert, '1')).waited).toBeLessThan(9 * minute)
  }),
)

test('a canary does not begin either', () =>
  onPlatform('open', async (stage) => {
    const { faults } = stage.simulated
    const since = stage.clock.now().getTime()
    faults.set({ firing: [] })
    const onEvent = ({ kind }: RunEvent) => {
      if (kind !== 'run-started') return
      faults.set({ firing: [late] })
      stage.later(10 * minute, () => faults.set({ firing: [] }))
    }
    expect(await stage.update({ canary: '1' }, { onEvent })).toMatchObject({ code: 0 })
    expect(madeAt(migrationsIn(stage)[0]) - since).toBeGreaterThan(9 * minute)
  }))

test('where alerts cannot be read that is said once, and nothing waits', () =>
  onPlatform(undefined, async (stage) => {
    const { waited, text } = await alertedBy(stage, late, '1')
    expect(waited).toBeLessThan(9 * minute)
    expect(text.match(/alerts cannot be read, and so no wave waits for one/gu)).toHaveLength(1)
  }))
