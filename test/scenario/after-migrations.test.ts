import { expect, test } from 'vitest'
import { VirtualMachineInstances } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { byTag, play } from './stage.ts'

test('a VM that has migrated is not taken for one that runs twice: its old launcher is listed until it is gone', async () => {
  await play({ ...byTag, workers: 2, vms: [{ name: 'web-1' }, { name: 'web-2' }] }, async (stage) => {
    expect(await stage.upgrade('v1.8.4', { waitWorkloads: true })).toMatchObject({ code: 0 })
    const items = await stage.cluster.reader.list(VirtualMachineInstances)
    expect(items.map(({ status }) => Object.keys(status?.activePods ?? {}).length)).toEqual([2, 2])
    const checked = await stage.check('v1.9.0', { all: true })
    expect(checked.text).toContain('+ no VM has two virt-launchers without a migration (two-launchers)')
  })
})
