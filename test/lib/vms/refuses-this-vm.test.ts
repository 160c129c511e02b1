import { expect, test } from 'vitest'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import { refusesThisVm } from '../../../src/lib/vms/vm.ts'

const made = 'virtualmachineinstancemigrations.kubevirt.io "m" is forbidden'

test.each([
  [403, 'admission webhook "virt-api" denied the request: not migratable', true],
  [422, `${made}: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: not on Mondays`, true],
  [403, `${made}: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: not on Mondays`, true],
  [403, `${made}: exceeded quota: q, requested: count/x=1, used: count/x=1, limited: count/x=1`, true],
  [403, `${made}: unable to create new content in namespace shop because it is being terminated`, true],
  [404, 'virtualmachines.kubevirt.io "db" not found', true],
  [403, `${made}: User "jane" cannot create resource "virtualmachineinstancemigrations"`, false],
  [403, 'jane may not create virtualmachineinstancemigrations in namespace shop', false],
  [429, 'too many requests', false],
  [500, 'Internal error occurred: failed calling webhook "x": context deadline exceeded', false],
])('%i %s: of this VM alone: %s', (status, message, expected) => {
  expect(refusesThisVm(new ApiError(status, 'x', message))).toBe(expected)
})
