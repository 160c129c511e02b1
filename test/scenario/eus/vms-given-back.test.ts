import { describe, expect, test } from 'vitest'
import { VirtualMachines } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { keptBaseline } from '../../../src/lib/eus/baseline.ts'
import { ocp418to420 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { play, type Stage } from '../stage.ts'
import { denying } from './denying-cluster.ts'
import type { RunEvent } from '../../../src/lib/engine/step.ts'
import { overrideLabel } from '../../../src/lib/vms/unblock/vm-overrides.ts'
import { lentFields, playLentAt, restartDb, run } from './lending-window.ts'
import { borrowedFields, doneSteps, eus418, eusRunOn } from './window-stage.ts'

/** No pool to pause: one minor after the other. */
const compact = {
  ...eus418,
  vms: [{ name: 'db', notMigratable: 'DisksNotLiveMigratable' }],
  openshift: { ...ocp418to420, pools: [{ name: 'master', nodes: 3 }], healthChecks: [] },
}
const db = { name: 'db', namespace: 'demo' }
const unlabelled: object = { [overrideLabel]: null }
const listsVms = (verb: string, plural: string) => verb === 'list' && plural === 'virtualmachines'
const isOpen = async ({ journal }: Stage) => (await keptBaseline(journal, 'eus to 4.20')) !== undefined
const setEviction = ({ cluster }: Stage, evictionStrategy: string) =>
  cluster.writer.mergePatch(VirtualMachines, db, { spec: { template: { spec: { evictionStrategy } } } })

describe('what kvup workloads unblock lent to VMs', () => {
  test('is said before the question, and given back at the end of a window, behind the pools, also where the list of VMs is refused meanwhile', () =>
    playLentAt('rolled-worker')(async (stage, before) => {
      let isRefused = false
      const cluster = denying(stage.cluster, (verb, plural) => isRefused && listsVms(verb, plural))
      const onEvent = ({ kind }: RunEvent) => void (isRefused ||= kind === 'step-done')
      const ended = await run(stage, { cluster, onEvent })
      expect(ended.error).toBeUndefined()
      const says = 'Restored last, after the pools: the settings of unblocked VMs demo/db'
      expect(ended.text).toContain(says)
      expect(doneSteps(ended).at(-1)).toBe('restore/demo/db')
      expect(lentFields(stage)).toEqual(before)
    }))

  test('is given back to a VM that was lent it during the EUS upgrade, for the drain of its node', () =>
    playLentAt('operator-4.20')(async (stage, before) => {
      expect(await stage.restore({ whats: ['vm/demo/db'] })).toMatchObject({ code: 0 })
      await restartDb(stage)
      const refused = await run(stage)
      expect(refused).toMatchObject({ code: 3, error: { reason: 'vms-block-drains' } })
      expect(refused.text).toContain(
        '1 VM refuses to be evicted, and holds the drains of pool worker up: demo/db',
      )
      expect(borrowedFields(stage).paused['worker']).toBe(true)
      expect(await stage.unblock({ accept: ['data-loss'] })).toMatchObject({ code: 0 })
      await restartDb(stage)
      const ended = await run(stage)
      expect(ended.error).toBeUndefined()
      expect(lentFields(stage)).toEqual(before)
    }))

  test('and changed by somebody since: all else is given back, then it asks; answered, the window is over', () =>
    playLentAt('rolled-worker')(async (stage, before) => {
      await setEviction(stage, 'External')
      const asked = await run(stage)
      expect(asked).toMatchObject({ code: 3, error: { reason: 'changed-meanwhile' } })
      expect(asked.error?.remedy.join('\n')).toContain('kvup restore-settings vm/demo/db --overwrite')
      expect(await stage.journal.overrides()).toEqual([])
      expect(await isOpen(stage)).toBe(true)
      expect(await stage.restore({ overwrite: true })).toMatchObject({ code: 0 })
      // Which VMs were lent anything may not be read: the window ends, and that is said.
      const ended = await run(stage, { cluster: denying(stage.cluster, listsVms) })
      expect(ended.error).toBeUndefined()
      expect(ended.text).toContain('kvup does not know whether VMs have temporary changes')
      expect(await isOpen(stage)).toBe(false)
      expect(lentFields(stage)).toEqual(before)
    }))

  test('and was said to be given back: so it is where somebody took the label off by which it is found', () =>
    playLentAt('rolled-worker')(async (stage, before) => {
      const onEvent = ({ kind }: RunEvent) =>
        kind === 'run-started' &&
        void stage.cluster.writer.mergePatch(VirtualMachines, db, { metadata: { labels: unlabelled } })
      expect((await run(stage, { onEvent })).error).toBeUndefined()
      expect(lentFields(stage)).toEqual(before)
    }))

  test('stays lent from one window to the next where they follow one another', () =>
    play(compact, async (stage) => {
      expect(await stage.unblock({ accept: ['data-loss'] })).toMatchObject({ code: 0 })
      await restartDb(stage)
      const accept = ['vms-that-stay', 'outdated-launchers', 'no-room']
      const ended = await eusRunOn(stage, { accept })
      expect(ended.error).toBeUndefined()
      const steps = doneSteps(ended)
      expect(steps).toContain('request-4.20')
      expect(steps.filter((id) => id === 'restore/demo/db')).toHaveLength(1)
      expect(steps.at(-1)).toBe('restore/demo/db')
    }))
})
