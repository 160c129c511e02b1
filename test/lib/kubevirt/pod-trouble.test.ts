import { expect, test } from 'vitest'
import type { Event, Node } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { Pod } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { podTrouble } from '../../../src/lib/kubevirt/diagnosis/pod-trouble.ts'
import fixture from './pod-trouble.json' with { type: 'json' }

const at = new Date('2026-11-21T10:00:00Z')
const cases: readonly (readonly [string, Pod, { node?: Node; events?: Event[] }, object | null])[] =
  fixture.rows as never

test.each(cases)('%s', (_name, found, { node, events = [] }, trouble) => {
  expect({ trouble: podTrouble(found, { node, events, at }) }).toMatchObject({
    trouble: trouble ?? undefined,
  })
})
