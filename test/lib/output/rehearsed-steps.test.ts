import { expect, test } from 'vitest'
import { paintFor } from '../../../src/lib/output/terminal.ts'
import { dryRunLines } from '../../../src/lib/output/views/dry-run.ts'

test('a value that is not there is kept as absent, and a step is named by its title', () => {
  const line = { estimate: 0, risk: { undo: 'none', safeToLeave: 'always' } }
  const steps = [
    {
      ...line,
      id: 'pause-health-check-a',
      title: 'pause NodeHealthCheck a',
      state: 'would-change' as const,
      change: 'set it',
      overrides: [{ override: 'node-health-check/a', path: '/spec/pauseRequests' }],
    },
    { ...line, id: 'rest', title: 'the rest', state: 'depends' as const, dependsOn: 'pause-health-check-a' },
  ]
  const paint = paintFor({ colour: false, unicode: false })
  const text = dryRunLines({ steps, mode: 'client' }, paint, { columns: 80, wide: false }).join('\n')
  expect(text).toContain('keeps /spec/pauseRequests: absent')
  expect(text).toContain('after pause NodeHealthCheck a (no dry run possible)')
})

test('what a later step gives back, and where, is told by the step that keeps it', () => {
  const line = { estimate: 0, risk: { undo: 'none', safeToLeave: 'always' } }
  const overrides = [
    { override: 'pool-paused/a', path: '/spec/paused', value: false, restoredBy: 'unpause-a' },
  ]
  const steps = [
    {
      ...line,
      id: 'pause-a',
      title: 'pause pool a',
      state: 'would-change' as const,
      change: 'pause it',
      overrides,
    },
    {
      ...line,
      id: 'unpause-a',
      title: 'unpause pool a',
      state: 'depends' as const,
      dependsOn: 'pause-a',
    },
  ]
  const paint = paintFor({ colour: false, unicode: false })
  const lines = dryRunLines({ steps, mode: 'client' }, paint, { columns: Infinity, wide: false })
  expect(lines.at(-1)).toBe('unpause pool a   restores spec.paused: false, which "pause pool a" saves')
})
