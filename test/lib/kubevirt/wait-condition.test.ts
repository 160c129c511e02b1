import { expect, test } from 'vitest'
import { statusReport } from '../../../src/lib/status/status-report.ts'
import { missingFor, parseWaitCondition } from '../../../src/lib/status/wait-condition.ts'
import { example } from './example.ts'

const settled = example('healthy')
const report = await statusReport(settled.reader, settled.clock)
const version = report.observed?.version ?? ''
const outdated = (labelled?: number) => ({
  ...report,
  workloads: { outdated: labelled === undefined ? {} : { labelled } },
})

test('what holds of a settled cluster', () => {
  expect(missingFor(parseWaitCondition('healthy'), report)).toBeUndefined()
  expect(missingFor(parseWaitCondition(`version=${version}`), report)).toBeUndefined()
  expect(missingFor(parseWaitCondition('workloads=0'), outdated(0))).toBeUndefined()
})

test('what is missing is said', () => {
  expect(missingFor(parseWaitCondition('version=v1.99.0'), report)).toBe(
    `version v1.99.0: KubeVirt is healthy at ${version}`,
  )
  expect(missingFor(parseWaitCondition('workloads=0'), outdated(2))).toBe('2 outdated VMs to move')
  expect(missingFor(parseWaitCondition('workloads=0'), outdated())).toContain('which kvup may not read')
})

test.each(['updating-canary-passed', 'wrong-tag', 'operator-may-not-grant'])(
  '%s: none of them holds, whatever version and labels say',
  async (name) => {
    const { reader, clock } = example(name)
    const now = await statusReport(reader, clock)
    for (const typed of ['healthy', `version=${now.observed?.version ?? 'v1.7.0'}`, 'workloads=0'])
      expect(missingFor(parseWaitCondition(typed), now)).toBeTruthy()
  },
)

test.each([
  ['pools-update', 'no-such-condition'],
  ['setled', 'no-such-condition'],
  ['workloads=1', 'no-such-condition'],
  ['version=1.8', 'not-a-version'],
])('%s cannot be waited for', (typed, reason) => {
  expect(() => parseWaitCondition(typed)).toThrow(expect.objectContaining({ exitCode: 2, reason }))
})

test('an unknown one is answered with all there are', () => {
  expect(() => parseWaitCondition('helthy')).toThrow(
    expect.objectContaining({
      remedy: ['did you mean healthy?', '--for takes healthy, version=VERSION, workloads=0 or pools-updated'],
    }),
  )
})
