import { expect, test } from 'vitest'
import { placeOfVm, vmName } from '../../../src/lib/vms/vm.ts'

test('a VM is called by its namespace and name, and is found by that again', () => {
  const metadata = { namespace: 'shop', name: 'db.main' }
  expect(vmName({ metadata } as never)).toBe('shop/db.main')
  expect(placeOfVm('shop/db.main')).toEqual(metadata)
})
