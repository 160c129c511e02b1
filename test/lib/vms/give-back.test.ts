import { expect, test } from 'vitest'
import type { VirtualMachine, VirtualMachineInstance } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { overrideStatus } from '../../../src/lib/vms/unblock/restore-vms.ts'
import fixture from './give-back.json' with { type: 'json' }

test.each(fixture.rows as unknown as [string, VirtualMachine, VirtualMachineInstance | null, string][])(
  '%s',
  (_, vm, vmi, expected) => {
    const rolloutStatus = overrideStatus(vm, vmi ?? undefined)
    expect(rolloutStatus?.is === 'asks' ? rolloutStatus.id : rolloutStatus?.is).toBe(expected)
  },
)
