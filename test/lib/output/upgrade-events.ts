import type { RunEvent, StepSummary } from '../../../src/lib/engine/step.ts'

const minute = 60_000
const step = (id: string, title: string, estimate: number, more: Partial<StepSummary> = {}): StepSummary => ({
  id,
  title,
  estimate,
  ...more,
})

export const steps = {
  hold: step('pause-workload-updates', 'pause automatic VM updates', 2000, { part: 'Prepare' }),
  operator: step('virt-operator', 'virt-operator', minute, { part: 'Operator' }),
  strategy: step('install-strategy', 'install CRDs and RBAC', minute, { part: 'Operator' }),
  handler: step('virt-handler', 'virt-handler', 4 * minute, { part: 'virt-handler' }),
  controller: step('virt-controller', 'virt-controller', minute, { part: 'virt-controller' }),
  api: step('virt-api', 'virt-api', minute, { part: 'virt-api', ahead: 'consoles and VNC drop once' }),
  healthy: step('healthy', 'verify', 35_000, { part: 'Verify', ahead: 'stable for 30 s' }),
  restore: step('resume-workload-updates', 'resume automatic VM updates', 2000, {
    part: 'Verify',
    ahead: 'automatic VM updates resume',
  }),
}
const all = Object.values(steps)

export const at = (time: string): string => `2026-11-21T07:${time}Z`
const until = '2026-11-21T08:10:02Z'

/** An upgrade of a KubeVirt, up to the moment that screens show. */
export const upgradeEvents: RunEvent[] = [
  {
    kind: 'run-started',
    at: at('10:02'),
    procedure: 'upgrade to v1.9.0',
    title: 'KubeVirt v1.8.4 → v1.9.0 on prod-eu',
    steps: all,
  },
  { kind: 'step-started', at: at('10:02'), step: steps.hold, index: 0, total: 8 },
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
    note: 'automatic VM updates paused',
    tookMs: 400,
  },
  { kind: 'step-started', at: at('10:03'), step: steps.operator, index: 1, total: 8 },
  { kind: 'step-done', at: at('10:41'), step: steps.operator, changed: true, tookMs: 38_000 },
  { kind: 'step-started', at: at('10:41'), step: steps.strategy, index: 2, total: 8 },
  {
    kind: 'step-done',
    at: at('11:14'),
    step: steps.strategy,
    changed: false,
    note: 'CRDs and RBAC installed',
    tookMs: 33_000,
  },
  { kind: 'step-started', at: at('11:14'), step: steps.handler, index: 3, total: 8 },
  waitingForHandler(at('13:05'), 12, 'node-13 restarting, then 7 more'),
  waitingForHandler(at('13:14'), 13, 'node-14 restarting, then 6 more'),
]

export function waitingForHandler(when: string, done: number, now: string): RunEvent {
  return {
    kind: 'step-waiting',
    at: when,
    step: steps.handler,
    state: { is: 'waiting', on: 'virt-handler', now, progress: { done, total: 20, of: 'nodes' } },
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
