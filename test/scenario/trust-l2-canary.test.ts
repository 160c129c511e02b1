import { expect, test } from 'vitest'
import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { minute, type Stage } from './stage.ts'
import { migrationsIn, outdated } from './updates.ts'

/** A tenant migrates a VM of his own, and says that this was a canary of kvup's. */
async function forgeCanary(stage: Stage, vm: string): Promise<VirtualMachineInstanceMigration> {
  const launcher = 'quay.io/kubevirt/virt-launcher:v1.8.4'
  const { apiVersion, kind } = VirtualMachineInstanceMigrations
  return stage.cluster.writer.create(VirtualMachineInstanceMigrations, {
    apiVersion,
    kind,
    metadata: {
      name: `kvup-update-${vm}`,
      namespace: 'demo',
      labels: {
        'app.kubernetes.io/managed-by': 'kvup',
        'kvup.io/canary': 'true',
        'kubevirt.io/vmi-name': vm,
      },
      annotations: { 'kvup.io/launcher': launcher },
    },
    spec: { vmiName: vm },
  })
}

const movedOf = (stage: Stage) => migrationsIn(stage).map(({ spec }) => spec?.vmiName)

test('L2 a tenant’s own migration is no canary of kvup’s: the canary is moved, and first', async () => {
  await outdated([{ name: 'tenant' }, { name: 'a' }, { name: 'b' }], async (stage) => {
    await forgeCanary(stage, 'tenant')
    await stage.until(2 * minute)
    const ended = await stage.update({ canary: '1', until: 'canary' })
    expect(ended).toMatchObject({ code: 0 })
    expect(movedOf(stage)).toEqual(['tenant', 'a'])
  })
})

test('L2 a tenant’s migration that fails does not make his VM the canary of everybody', async () => {
  await outdated([{ name: 'a' }, { name: 'z-tenant', migration: 'fail' }], async (stage) => {
    await forgeCanary(stage, 'z-tenant')
    await stage.until(5 * minute)
    const ended = await stage.update({ canary: '1', until: 'canary' })
    expect(ended).toMatchObject({ code: 0 })
    expect(movedOf(stage)).toEqual(['z-tenant', 'a'])
  })
})

test('L2 kvup’s own canary passes once, and its journal names it and the virt-launcher', async () => {
  await outdated([{ name: 'a' }, { name: 'b' }], async (stage) => {
    expect(await stage.update({ canary: '1', until: 'canary' })).toMatchObject({ code: 0 })
    const intent = (await stage.journal.entries()).find(({ step }) => step === 'canary#1')
    expect(intent).toMatchObject({
      what: 'intends',
      text: 'migrate demo/a to quay.io/kubevirt/virt-launcher:v1.8.4',
    })
    expect(await stage.update({ canary: '1', until: 'canary' })).toMatchObject({ code: 0 })
    expect(movedOf(stage)).toEqual(['a'])
  })
})
