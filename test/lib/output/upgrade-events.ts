import type { RunEvent, StepSummary } from '../../../src/lib/engine/step.ts'

const minute = 60_000
const step = (id: string, title: string, estimate: number): StepSummary => ({ id, title, estimate })

export const steps = {
  hold: step('pause-workload-updates', 'hold workload updates', 2000),
  operator: step('virt-operator', 'virt-operator', minute),
  strategy: step('install-strategy', 'install strategy, CRDs, RBAC', minute),
  handler: step('virt-handler', 'virt-handler', 4 * minute),
  controller: step('virt-controller', 'virt-controller', minute),
  api: step('virt-api', 'virt-api', minute),
  restore: step('restore', 'give workload updates back', 2000),
}
const all = Object.values(steps)

export const at = (time: string): string => `2026-11-21T07:${time}Z`
const until = '2026-11-21T08:10:02Z'

/** An upgrade of a KubeVirt, up to the moment that screens show. */
export const upgradeEvents: RunEvent[] = [
  { kind: 'run-started', at: at('10:02'), procedure: 'KubeVirt v1.8.4 → v1.9.0', steps: all },
  { kind: 'step-started', at: at('10:02'), step: steps.hold, index: 0, total: 7 },
  {
    kind: 'step-applied',
    at: at('10:02'),
    step: steps.hold,
    change: 'workloadUpdateMethods: [] (was [LiveMigrate])',
  },
  {
    kind: 'step-done',
    at: at('10:02'),
    step: steps.hold,
    changed: true,
    note: 'kept LiveMigrate',
    tookMs: 400,
  },
  { kind: 'step-started', at: at('10:03'), step: steps.operator, index: 1, total: 7 },
  { kind: 'step-done', at: at('10:41'), step: steps.operator, changed: true, note: '2/2', tookMs: 38_000 },
  { kind: 'step-started', at: at('10:41'), step: steps.strategy, index: 2, total: 7 },
  { kind: 'step-done', at: at('11:14'), step: steps.strategy, changed: false, tookMs: 33_000 },
  { kind: 'step-started', at: at('11:14'), step: steps.handler, index: 3, total: 7 },
  waitingForHandler(at('13:05'), 12, 'node-13 (ContainerCreating, 3s)'),
  waitingForHandler(at('13:14'), 13, 'node-14 (ContainerCreating, 9s)'),
]

export function waitingForHandler(when: string, done: number, on: string): RunEvent {
  return {
    kind: 'step-waiting',
    at: when,
    step: steps.handler,
    state: { is: 'waiting', on: `virt-handler on ${on}`, progress: { done, total: 20 } },
    until,
  }
}

export const stalledEvents: RunEvent[] = [
  ...upgradeEvents.slice(0, 7),
  {
    kind: 'step-waiting',
    at: at('11:30'),
    step: steps.strategy,
    state: {
      is: 'stalled',
      on: 'pod kubevirt-5f3c-job',
      why: 'cannot pull quay.io/kubevirt/virt-operator:v1.9.10: not found',
      remedy: ['kvup upgrade --to v1.9.1', 'kvup upgrade --to v1.8.4'],
    },
    until,
  },
]
