import { expect, test } from 'vitest'
import { nodeReady } from '../../../src/lib/checks/groups/node-checks.ts'
import { ask, evidence, unread } from './evidence.ts'

test.each([
  ['a right that is missing is granted', unread, 'kvup rbac kvup-view'],
  [
    'what a file lacks is saved',
    { known: false, why: 'c.yaml does not contain nodes' } as const,
    'kvup snapshot --to-file',
  ],
])('what could not be read: %s', (_, nodes, command) => {
  const { is, findings } = ask(nodeReady, { snapshot: evidence({ nodes }) })
  expect(is).toBe('not-checked')
  expect(findings[0]?.remedy[0]).toContain(command)
})
