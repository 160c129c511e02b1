import { expect, test } from 'vitest'
import { VirtualMachineInstances } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { expectWhole } from './killed.ts'
import { immortal, Killed, mortal } from './mortal-cluster.ts'
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

/** Calls behind each of which the world is another one: those of writes, the lock's renewals left out. */
async function deaths(): Promise<readonly number[]> {
  const found: number[] = []
  await started(async (stage) => {
    const mark = stage.mark
    let before = 0
    const cluster = immortal(stage.cluster, (death) => {
      const writes = stage.writes(mark).filter(({ resource }) => resource !== 'leases').length
      if ('afterCall' in death && writes > before) found.push(death.afterCall)
      before = writes
    })
    expect(await stage.update(options, { cluster })).toMatchObject({ code: 0 })
  })
  return found
}

test('killed after each of its writes and run again elsewhere, each VM is moved once and nothing stays borrowed', async () => {
  const calls = await deaths()
  expect(calls.length).toBeGreaterThan(12)
  for (const afterCall of calls)
    await started(async (stage) => {
      const cluster = mortal(stage.cluster, { afterCall })
      const killed = stage.update(options, { cluster, host: 'dead' }).catch((error: unknown) => error)
      await cluster.death
      const resumed = await stage.update(options, { host: 'other' })
      expect(resumed, `after call ${afterCall}: ${resumed.text}`).toMatchObject({ code: 0 })
      expect(await killed).toBeInstanceOf(Killed)
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
}, 600_000)
