import { expect, test } from 'vitest'
import { VirtualMachineInstances } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { type Command, deathsOf, drawnWrites, expectWhole, kill } from './killed.ts'
import type { Death } from './mortal-cluster.ts'
import type { Stage } from './stage.ts'
import { documentOf, migrationsIn, outdated } from './updates.ts'

const vms = [
  { name: 'a' },
  { name: 'b', migration: 'fail-once' as const },
  { name: 'r', notMigratable: 'DisksNotLiveMigratable' },
]
const options = { restartUnmigratable: true, accept: ['data-loss'], canary: '1' }

async function started(act: (stage: Stage) => Promise<void>): Promise<void> {
  await outdated(vms, async (stage) => {
    stage.edit({ workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } })
    await act(stage)
  })
}

const byName = (a = '', b = '') => a.localeCompare(b)

const command: Command = (stage, terminal) => stage.update(options, terminal)

test('killed behind one of its writes and run again elsewhere, each VM is moved once and nothing stays borrowed', async () => {
  const deaths = await deathsOf(started, command)
  expect(deaths.written.length).toBeGreaterThan(12)
  for (const [, [death]] of drawnWrites(deaths, 3))
    await started(async (stage) => {
      await kill(stage, command, death as Death)
      const resumed = await stage.update(options, { host: 'other' })
      expect(resumed, `${JSON.stringify(death)}: ${resumed.text}`).toMatchObject({ code: 0 })
      const outdatedStill = stage.simulated.store.list(VirtualMachineInstances, {
        labels: 'kubevirt.io/outdatedLauncherImage',
      })
      expect(outdatedStill.items).toEqual([])
      const succeeded = migrationsIn(stage).filter(({ status }) => status?.phase === 'Succeeded')
      expect(succeeded.map(({ spec }) => spec?.vmiName).toSorted(byName)).toEqual(['a', 'b'])
      expect(
        stage.simulated.store.audit.filter(
          ({ subresource, status }) => subresource === 'restart' && status < 400,
        ),
      ).toHaveLength(1)
      expect(stage.methods).toEqual(['LiveMigrate'])
      expect(await stage.journal.overrides()).toEqual([])
      // Killed between the last change and its entry, there is nothing left to do, and nobody to write it.
      if (documentOf(resumed).outcome === 'done') expectWhole(await stage.journal.entries())
      expect(documentOf(resumed).totals.failed).toBe(0)
    })
})
