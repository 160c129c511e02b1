import { expect, test } from 'vitest'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import { refusesThisVm } from '../../../src/lib/vms/vm.ts'
import fixture from './refuses-this-vm.json' with { type: 'json' }

test.each<[number, string, boolean]>(fixture.refusals as never)(
  '%i %s: of this VM alone: %s',
  (status, message, expected) => {
    expect(refusesThisVm(new ApiError(status, 'x', message))).toBe(expected)
  },
)
