import { describe, expect, test } from 'vitest'
import { MachineHealthChecks } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { VirtualMachineInstanceMigrations } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { play, type Stage } from '../stage.ts'
import { lying } from './lying-reader.ts'
import { after, setMethods } from './meanwhile.ts'
import {
  borrowedFields,
  doneSteps,
  eusRunOn,
  restoreOn,
  type Shape,
  small418,
  twoWorkers418,
} from './window-stage.ts'

const withVm: Shape = {
  ...twoWorkers418,
  vms: [{ name: 'a' }],
}

const migrations = ({ simulated }: Stage): number =>
  simulated.store.list(VirtualMachineInstanceMigrations).items.length

function goOn({ simulated, cluster }: Stage): void {
  const [check] = simulated.store.list(MachineHealthChecks).items
  const annotations = { 'cluster.x-k8s.io/paused': null }
  if (check)
    void cluster.writer.mergePatch(MachineHealthChecks, check.metadata, { metadata: { annotations } })
}

describe('what is borrowed is looked at as long as the window is open', () => {
  test('workloadUpdateMethods that somebody sets in the middle of a run, or between two, end it before a VM moves; with --accept they are emptied again, and what was kept first comes back', () =>
    play(withVm, async (stage) => {
      const onEvent = after('control-plane-4.19', () => void setMethods(stage, ['LiveMigrate']))
      const ended = await eusRunOn(stage, {}, { onEvent })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'override-changed' } })
      expect(ended.text).toContain('LiveMigrate')
      const accept = ['override-changed']
      expect(await eusRunOn(stage, { accept, until: 'operator-4.19' })).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual([])
      await setMethods(stage, ['LiveMigrate', 'Evict'])
      const asked = await eusRunOn(stage)
      expect(asked).toMatchObject({ code: 3, error: { reason: 'override-changed' } })
      expect(await eusRunOn(stage, { accept, until: 'gate-4.20' })).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual([])
      expect(migrations(stage)).toBe(0)
      expect(await restoreOn(stage)).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(['LiveMigrate'])
    }))

  test('methods that were none beforehand, and are set in the middle of a run', () =>
    play({ ...small418, methods: [] }, async (stage) => {
      const onEvent = after('platform-4.19', () => void setMethods(stage, ['LiveMigrate']))
      const ended = await eusRunOn(stage, { until: 'operator-4.19' }, { onEvent })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'override-changed' } })
    }))

  test('a MachineHealthCheck that somebody lets go on again in the middle of a run; with --accept it is paused again', () =>
    play(small418, async (stage) => {
      const ended = await eusRunOn(stage, {}, { onEvent: after('platform-4.19', () => goOn(stage)) })
      expect(ended).toMatchObject({ code: 3, error: { reason: 'override-changed' } })
      expect(ended.text).toContain('MachineHealthCheck')
      expect(doneSteps(ended)).not.toContain('operator-4.19')
      const accept = ['override-changed']
      expect(await eusRunOn(stage, { accept, until: 'control-plane-4.19' })).toMatchObject({ code: 0 })
      expect(borrowedFields(stage).machineHealth).toEqual(['kvup'])
    }))
})

test('night E3: a CSV that fell back keeps HyperConverged from being written, unless just that was accepted', () =>
  play(small418, async (stage) => {
    let fails = false
    const cluster = lying(stage.cluster, 'clusterserviceversions', (csv) => {
      if (fails) Object.assign(csv.status, { phase: 'Failed', reason: 'ComponentUnhealthy' })
      return csv
    })
    const run = (accept: readonly string[]) => {
      const onEvent = after('keep-baseline', () => (fails = true))
      return eusRunOn(stage, { accept: [...accept], until: 'pause-workload-updates' }, { cluster, onEvent })
    }
    expect(await run([])).toMatchObject({ code: 4 })
    expect(stage.methods).toEqual(['LiveMigrate'])
    fails = false
    expect(await run(['csv-not-succeeded'])).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual([])
  }))
