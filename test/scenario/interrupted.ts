import { expect } from 'vitest'
import type { KubeVirt } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import type { Simulation } from '../../src/simulator/simulated-cluster.ts'
import { interrupted } from '../../src/lib/kube/errors.ts'
import { brief, expectEnd } from './killed.ts'
import { type Ended, play, second, type Stage, type Terminal } from './stage.ts'

type Shape = Omit<Simulation, 'clock'>

/** An update, its steps, and when each of them began. */
export interface Phases {
  shape: Shape
  to: string
  spec: KubeVirt['spec']
  began: ReadonlyMap<string, number>
}

export async function phasesOf(shape: Shape, to: string): Promise<Phases> {
  let phases: Phases | undefined
  await play(shape, async (stage) => {
    const ended = await stage.upgrade(to, brief)
    expect(ended).toMatchObject({ code: 0 })
    const began = ended.events.flatMap((e) =>
      e.kind === 'step-started' ? [[e.step.id, e.after] as const] : [],
    )
    phases = { shape, to, spec: stage.kubevirt.spec, began: new Map(began) }
  })
  if (!phases) throw new Error('it has no phases')
  return phases
}

/** Ctrl-C or SIGTERM as soon as the event is told. */
export function stopAt(signal: 'SIGINT' | 'SIGTERM', at: (event: RunEvent) => boolean): Terminal {
  const stop = new AbortController()
  return {
    signal: stop.signal,
    commandLine: 'kvup upgrade --to it --yes',
    onEvent: (event) => void (at(event) && stop.abort(interrupted(signal))),
  }
}

/** Ended early, it left what the contract says, and the same line brings it to the end. */
export async function expectWayOn(stage: Stage, ended: Ended, { to, spec }: Phases): Promise<void> {
  const overrides = await stage.journal.overrides()
  const heldOrNot = stage.methods.length === 0 ? 1 : overrides.length
  expect(overrides).toHaveLength(heldOrNot)
  expect(ended.text).toContain('continues')
  expect(ended.text.includes('kvup workloads resume-updates')).toBe(overrides.length > 0)
  expect(stage.holder ?? '').toBe('')
  const resumed = await stage.upgrade(to, brief)
  expect(resumed.code).toBe(0)
  expect(Math.min(...resumed.events.map(({ after }) => after), second)).toBeLessThanOrEqual(second)
  await expectEnd(stage, spec)
}
