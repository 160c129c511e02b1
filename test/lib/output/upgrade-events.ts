import type { RunEvent, StepSummary } from '../../../src/lib/engine/step.ts'
import fixture from './upgrade-events.json' with { type: 'json' }

/** Of an upgrade, by short names. */
export const steps = fixture.steps as unknown as Readonly<
  Record<
    'hold' | 'operator' | 'strategy' | 'handler' | 'controller' | 'api' | 'healthy' | 'restore',
    StepSummary
  >
>
export const at = (time: string): string => `2026-11-21T07:${time}Z`
const until = '2026-11-21T08:10:02Z'

/** An upgrade of a KubeVirt, up to the moment that screens show. */
export const upgradeEvents = fixture.upgradeEvents as unknown as RunEvent[]

export function waitingForHandler(when: string, done: number, now: string): RunEvent {
  return {
    kind: 'step-waiting',
    at: when,
    step: steps.handler,
    state: { is: 'waiting', on: 'virt-handler', now, progress: { done, total: 20, of: 'nodes' } },
    until,
  }
}

export const stalledEvents = fixture.stalledEvents as unknown as RunEvent[]
