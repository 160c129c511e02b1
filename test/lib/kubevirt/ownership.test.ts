import { expect, test } from 'vitest'
import type { Metadata } from '../../../src/lib/kube/object.ts'
import { type Manager, managerOf } from '../../../src/lib/kubevirt/installation.ts'
import owners from './ownership.json' with { type: 'json' }

const cases: readonly { name: string; metadata: Partial<Metadata>; manager?: Manager }[] = owners as never

test.each(cases)('$name', ({ metadata, manager }) => {
  const object = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt', ...metadata },
  }
  expect(managerOf(object)).toEqual(manager)
})
