import { expect, test } from 'vitest'
import type { Entry } from '../../../src/lib/engine/journal.ts'
import { clusterState, type Judged, type StateInputs } from '../../../src/lib/status/cluster-state.ts'
import { pausedUpdates } from './paused-updates.ts'

const takenAt = '2026-11-25T12:00:00Z'
const by = 'root@jump'

const paused = pausedUpdates({ procedure: 'pause updates', at: takenAt })

const healthy: Judged = {
  takenAt,
  verdict: 'Healthy',
  why: [],
  installation: { namespace: 'kubevirt', manager: { kind: 'plain' } },
  observed: { version: 'v1.7.4' },
  target: { version: 'v1.7.4' },
}

const outdated = (labelled: number, newer: number, resuming?: StateInputs['resuming']) => {
  const workloads = { instances: 12, outdated: { labelled, ...(newer > 0 && { newer }) } }
  const { why, next } = clusterState({ report: { ...healthy, workloads }, overrides: [paused], resuming })
  return [why.at(-1), next]
}

const resumes = 'kvup workloads resume-updates     resumes automatic VM updates'
const lists = 'kvup workloads outdated'

test.each([
  [
    'refused',
    outdated(12, 12, 'refused'),
    '12 VMs running, 12 on a newer virt-launcher need a restart',
    lists,
  ],
  [
    'not known',
    outdated(4, 1),
    '12 VMs running, 3 outdated, 1 on a newer virt-launcher needs a restart',
    lists,
  ],
  ['taken', outdated(12, 0, 'taken'), '12 VMs running, 12 outdated', resumes],
  ['not asked, for none is outdated', outdated(0, 0), '12 VMs running, none outdated', resumes],
])('resuming is %s: the line is offered only where it works', (_, found, vms, next) => {
  expect(found).toEqual([vms, next])
})

test('of an upgrade that was given up, what holds KubeVirt up is said, and repaired first', () => {
  const what = { at: takenAt, by, procedure: 'upgrade to v1.8.4', step: '', text: '' }
  const entries: readonly Entry[] = [
    { ...what, what: 'started' },
    { ...what, what: 'failed' },
  ]
  const cause = {
    kind: 'refused',
    component: 'virt-handler',
    reason: 'FailedCreate',
    terminal: false,
    namespace: 'kubevirt',
    pods: [],
    nodes: [],
    sentence: 'the ResourceQuota pods is used up',
    commands: ['kubectl -n kubevirt describe resourcequota pods'],
  } as const
  const { headline, next, afterwards } = clusterState({
    report: { ...healthy, verdict: 'Updating', target: { version: 'v1.8.4' }, why: [cause] },
    entries,
  })
  expect(headline).toContain('KubeVirt is blocked: the ResourceQuota pods is used up')
  expect([next, afterwards]).toEqual([cause.commands[0], 'kvup upgrade --to v1.8.4     continues'])
})
