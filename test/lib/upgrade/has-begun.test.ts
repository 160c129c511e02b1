import { expect, test } from 'vitest'
import type { Override } from '../../../src/lib/engine/journal.ts'
import { parseVersion } from '../../../src/lib/releases/release-versions.ts'
import { hasBegun, type UpgradeState, type UpgradePlan } from '../../../src/lib/upgrade/upgrade-plan.ts'

const planned = (method: UpgradePlan['method'] = 'image-tag') =>
  ({ to: parseVersion('v1.8.4'), method, owner: { uid: 'ours' } }) as unknown as UpgradePlan

interface Now {
  verdict?: string
  observed?: string
  target?: string
  imageTag?: string
  operator?: string
}
const found = ({ verdict = 'Healthy', observed = 'v1.7.4', target = observed, ...installed }: Now) =>
  ({
    rolloutStatus: {
      verdict,
      observed: { version: observed, id: observed },
      target: { version: target, id: target },
      components: [],
    },
    installation: { imageTag: installed.imageTag, operator: { version: installed.operator } },
  }) as unknown as UpgradeState

const override = (uid: string, procedure = 'upgrade to v1.8.4') =>
  ({ object: { uid }, procedure }) as unknown as Override

test.each([
  ['nothing of it', {}, 'image-tag', [], false],
  ['it is there and settled', { observed: 'v1.8.4' }, 'image-tag', [], true],
  ['virt-operator is on it', { target: 'v1.8.4', verdict: 'Updating' }, 'image-tag', [], true],
  ['the tag is written', { imageTag: 'v1.8.4', verdict: 'Updating' }, 'image-tag', [], true],
  ['the operator is new', { operator: 'v1.8.4', verdict: 'Stalled' }, 'operator-manifest', [], true],
  ['the operator was new before', { operator: 'v1.8.4' }, 'operator-manifest', [], false],
  ['another move', { verdict: 'Updating', imageTag: 'v1.7.4' }, 'image-tag', [], false],
  ['a loan on it', {}, 'image-tag', [override('ours')], true],
  ['a loan of another run on it', {}, 'image-tag', [override('ours', 'upgrade to v1.8.3')], false],
  [
    'a loan of another run while it moves',
    { verdict: 'Updating' },
    'image-tag',
    [override('ours', 'hold')],
    true,
  ],
  ['a loan on one that was before it', {}, 'image-tag', [override('theirs')], false],
] as const)('%s', (...row) => {
  const [, now, method, overrides, expected] = row
  expect(hasBegun(planned(method), found(now), overrides)).toBe(expected)
})
