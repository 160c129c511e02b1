// Whole upgrades, ended early in each of their steps and resumed: more than 3 s of processor time.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import { stopAt } from './interrupted.ts'
import { brief, expectEnd, isEvery } from './killed.ts'
import { byManifest, byTag, type Ended, briefly as play, second, type Stage } from './stage.ts'

const procedures = [
  {
    name: 'image tag',
    shape: byTag,
    to: 'v1.8.4',
    changes: 'set-image-tag',
    components: '',
  },
  {
    name: 'operator manifest',
    shape: byManifest,
    to: 'v1.9.0',
    changes: 'apply-operator-manifest virt-operator',
    components: ' virt-exportproxy virt-template-apiserver virt-template-controller',
  },
] as const

/** Of a step that began so long after the run. */
type Ending = (
  stage: Stage,
  to: string,
  step: { id: string; began: number },
) => Promise<{ ended: Ended; after: number }>

const by =
  (signal: 'SIGINT' | 'SIGTERM', ...kinds: readonly RunEvent['kind'][]): Ending =>
  async (stage, to, { id }) => {
    const is = (e: RunEvent) => kinds.includes(e.kind) && 'step' in e && e.step.id === id
    const ended = await stage.upgrade(to, brief, stopAt(signal, is))
    return { ended, after: ended.events.find(is)?.after ?? -Infinity }
  }

const endings: readonly (readonly [how: string, code: number, end: Ending])[] = [
  ['Ctrl-C when it begins', 130, by('SIGINT', 'step-started')],
  ['SIGTERM while it is waited for or done', 143, by('SIGTERM', 'step-waiting', 'step-done')],
  [
    '--timeout',
    4,
    async (stage, to, { began }) => ({
      ended: await stage.upgrade(to, { ...brief, timeout: `${began + 1}ms` }),
      after: began,
    }),
  ],
]

/** Every second step in one way; others, and in other ways, with the next seed. */
const first = createHash('sha256').update(String(process.env['KVUP_SEED'])).digest()[0] ?? 0
const drawnFor = (step: number) => (isEvery ? endings : [endings[((first + step) >> 1) % endings.length]!])

describe.each(procedures)('manner 35: ended early, $name', async ({ shape, to, changes, components }) => {
  const steps: { id: string; began: number }[] = []
  let stage: Stage | undefined
  await play(shape, async (played) => {
    stage = played
    const ended = await played.upgrade(to, brief)
    for (const e of ended.events) if (e.kind === 'step-started') steps.push({ id: e.step.id, began: e.after })
  })
  const spec = stage?.kubevirt.spec

  test('its steps', () => {
    expect(steps.map(({ id }) => id).join(' ')).toBe(
      `pause-workload-updates migrations-in-flight ${changes} install-strategy virt-handler virt-controller virt-api${components} healthy virt-controller-leads resume-workload-updates healthy-again`,
    )
  })

  for (const [index, step] of [...steps.entries()].filter(([at]) => isEvery || (at + first) % 2 === 0))
    for (const [how, code, end] of drawnFor(index))
      test(`in ${step.id}, ${how}: ${code} within 2 s, what is left is told, resumed to the same end`, () =>
        play(shape, async (at) => {
          const { ended, after: told } = await end(at, to, step)
          expect(ended.code).toBe(code)
          expect(ended.took - told).toBeLessThan(2 * second)
          const overrides = await at.journal.overrides()
          expect(overrides).toHaveLength(at.methods.length === 0 ? 1 : overrides.length)
          expect(ended.text).toContain('continues')
          expect(ended.text.includes('kvup workloads resume-updates')).toBe(overrides.length > 0)
          expect(at.holder ?? '').toBe('')
          const resumed = await at.upgrade(to, brief)
          expect(resumed.code).toBe(0)
          expect(Math.min(...resumed.events.map(({ after }) => after), second)).toBeLessThanOrEqual(second)
          await expectEnd(at, spec)
        }))
})
