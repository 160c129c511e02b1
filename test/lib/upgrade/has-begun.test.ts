import { expect, test } from 'vitest'
import type { Override } from '../../../src/lib/engine/journal.ts'
import { parseVersion } from '../../../src/lib/releases/release-versions.ts'
import { hasBegun, type UpgradeState, type UpgradePlan } from '../../../src/lib/upgrade/upgrade-plan.ts'
import fixture from './has-begun.json' with { type: 'json' }

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

test.each<[string, Now, UpgradePlan['method'], Override[], boolean]>(fixture.rows as never)(
  '%s',
  (...row) => {
    const [, now, method, overrides, expected] = row
    expect(hasBegun(planned(method), found(now), overrides)).toBe(expected)
  },
)
