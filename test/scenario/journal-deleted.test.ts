import { expect, test } from 'vitest'
import { ConfigMaps } from '../../src/lib/kube/kinds/core-kinds.ts'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import { byTag, play, type Stage } from './stage.ts'
import { migrationsIn, outdated } from './updates.ts'

const place = { name: 'kvup-journal', namespace: 'kubevirt' }

/** Somebody deletes the journal once this has happened. */
function deleted({ simulated: { store } }: Stage, happened: () => boolean) {
  const observed = { deleted: false }
  const onEvent = ({ kind }: RunEvent) => {
    if (observed.deleted || kind !== 'step-waiting' || !happened()) return
    observed.deleted = true
    store.remove(ConfigMaps, place)
  }
  return { observed, onEvent }
}

test('contract: an update whose journal is deleted meanwhile gives its loan back all the same', async () => {
  await outdated([{ name: 'a', migration: '30s' }], async (stage) => {
    stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } })
    const { observed, onEvent } = deleted(stage, () => migrationsIn(stage).length > 0)
    expect(await stage.update({}, { onEvent })).toMatchObject({ code: 0 })
    expect(observed.deleted).toBe(true)
    expect(stage.methods).toEqual(['LiveMigrate'])
    expect(await stage.journal.overrides()).toEqual([])
  })
})

test('contract: an upgrade that is stopped after its journal was deleted leaves the loan to kvup workloads resume-updates', async () => {
  await play(byTag, async (stage) => {
    const { observed, onEvent } = deleted(stage, () => stage.methods.length === 0)
    const stopped = await stage.upgrade('v1.8.4', { until: 'virt-controller' }, { onEvent })
    expect(stopped).toMatchObject({ code: 0 })
    expect(observed.deleted).toBe(true)
    expect(await stage.journal.overrides()).toMatchObject([{ was: { value: ['LiveMigrate'] } }])
    expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})
