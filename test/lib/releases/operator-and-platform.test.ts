import { expect, test } from 'vitest'
import { againstPlatform } from '../../../src/lib/releases/platform-releases.ts'
import { operatorVersionOf } from '../../../src/lib/releases/release-versions.ts'
import type { HyperConvergedRelease } from '../../../src/lib/releases/releases.ts'
import fixture from './operator-and-platform.json' with { type: 'json' }

/** 1.16 is in no row, and 4.20 in none. */
const hyperconverged: readonly HyperConvergedRelease[] = fixture.rows

test.each(fixture.judged)('$operator on platform $platform: $is, for $what', ({ operator, platform, is }) => {
  const version = operatorVersionOf(operator)
  expect(version && againstPlatform(version, platform, { hyperconverged }).is).toBe(is)
})
