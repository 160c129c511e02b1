import { expect, test } from 'vitest'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import { assessRollout } from '../../src/lib/kubevirt/rollout-status.ts'
import { causeParts, statusParts, takeSnapshot } from '../../src/lib/kubevirt/snapshot.ts'
import { renderLive } from '../../src/lib/output/progress/live-view.ts'
import { progressOf } from '../../src/lib/output/progress/run-progress.ts'
import { paintFor } from '../../src/lib/output/terminal.ts'
import { scenarioNamed } from '../../src/simulator/scenarios.ts'
import { minute, play, second, type Stage } from './stage.ts'

const plain = paintFor({ colour: false, unicode: true })
const bad: ReadonlySet<string> = new Set(['Stalled', 'Degraded'])

/** Looks once a second, beside the run, until KubeVirt is stalled or the run is over; the answer says when that was. */
async function turned(stage: Stage, isOver: () => boolean): Promise<number> {
  const parts = [...statusParts, ...causeParts]
  for (;;) {
    await stage.until(second)
    const snapshot = await takeSnapshot(stage.cluster.reader, parts, stage.clock, stage.home)
    if (isOver() || bad.has(assessRollout(snapshot, stage.clock.now()).verdict)) return stage.now
  }
}

/** What stands in 24 lines of so many columns. */
const screen = (events: readonly RunEvent[], at: number, columns: number) =>
  renderLive(progressOf(events), new Date(at), { columns: columns - 1, rows: 24 }, plain)
const squeezed = (text: string) => text.replaceAll(/[\s\\]/gu, '')

const rows = [
  [
    'wrong-tag',
    'Operator',
    /cannot pull .*virt-operator:v1\.8\.5/u,
    { timeout: '4m', accept: ['release-unknown'] },
  ],
  ['canary-crash', 'virt-handler', /virt-handler on \S+ is in CrashLoopBackOff/u, { timeout: '4m' }],
  ['unschedulable', 'virt-api', /virt-api.*node/u, { timeout: '14m' }],
] satisfies [string, string, RegExp, object][]

test.each(rows)(
  '%s: its stage turns to STALLED within 15 s of the verdict, with the cause',
  async (name, stageName, cause, typed) => {
    const scenario = scenarioNamed(name)
    if (scenario === undefined || !('upgrade' in scenario)) throw new Error(`no upgrade: ${name}`)
    const { cluster, faults, upgrade } = scenario
    await play(cluster, async (stage) => {
      if (faults) stage.simulated.faults.set(faults)
      const events: RunEvent[] = []
      let shownAt: number | undefined
      let why = ''
      let isOver = false
      const verdict = turned(stage, () => isOver)
      const ended = await stage.upgrade(
        upgrade.to,
        { method: upgrade.method, ...typed },
        {
          onEvent(event) {
            if (shownAt !== undefined) return
            events.push(event)
            if (event.kind !== 'step-waiting' || event.state.is !== 'stalled') return
            shownAt = stage.now
            why = event.state.why
          },
        },
      )
      isOver = true
      const at = await verdict
      expect(ended.code).toBe(4)
      expect(shownAt).toBeDefined()
      expect(why).toMatch(cause)
      expect((shownAt ?? Infinity) - at).toBeLessThanOrEqual(15 * second)
      expect(ended.error?.message).toMatch(/^timed out after \d+ m \(--timeout\) while /u)
      for (const columns of [120, 80, 40]) {
        const lines = screen(events, (shownAt ?? 0) + second, columns)
        expect(lines.length).toBeLessThan(24)
        expect(lines.join('\n')).toMatch(new RegExp(` ✖ ${stageName} [^\\n]*\\n? *[^\\n]*STALLED for `, 'u'))
        // Broken where the terminal ends, and whole all the same.
        expect(squeezed(lines.join(''))).toContain(squeezed(why))
      }
    })
  },
  2 * minute,
)
