import { expect, test } from 'vitest'
import type { Event, Node } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { ContainerStatus, Pod } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { podTrouble } from '../../../src/lib/kubevirt/diagnosis/pod-trouble.ts'

const at = new Date('2026-11-21T10:00:00Z')
const started = '2026-11-21T09:50:00Z'

function pod(status: Pod['status'], metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'kubevirt', creationTimestamp: started, ...metadata },
    spec: { nodeName: 'node-7' },
    status: { startTime: started, ...status },
  }
}
const container = (status: Omit<ContainerStatus, 'name'>): Pod =>
  pod({ phase: 'Running', containerStatuses: [{ name: 'c', image: 'r/i:t', ...status }] })
const event = (change: Partial<Event>): Event => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e' },
  firstTimestamp: '2026-11-21T09:55:00Z',
  ...change,
})
const lost: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-7' },
  status: { conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime: '2026-11-21T07:00:00Z' }] },
}

const cases: readonly (readonly [string, Pod, { node?: Node; events?: Event[] }, object | undefined])[] = [
  ['a ready pod', pod({ conditions: [{ type: 'Ready', status: 'True' }] }), { node: lost }, undefined],
  ['a pod that starts', container({ state: { waiting: { reason: 'ContainerCreating' } } }), {}, undefined],
  [
    'a failing pull, since the event and with its text',
    container({
      state: { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "r/i:t"' } },
    }),
    { events: [event({ reason: 'Failed', message: 'Failed to pull image "r/i:t": not found' })] },
    {
      kind: 'image',
      terminal: true,
      image: 'r/i:t',
      since: '2026-11-21T09:55:00Z',
      message: expect.stringMatching(/not found$/),
    },
  ],
  [
    'a failing pull without events: since the pod started',
    container({ state: { waiting: { reason: 'ErrImagePull', message: 'x' } } }),
    {},
    { kind: 'image', since: started, container: 'c' },
  ],
  [
    'a missing ConfigMap',
    container({
      state: { waiting: { reason: 'CreateContainerConfigError', message: 'configmap "x" not found' } },
    }),
    {},
    { kind: 'container', terminal: true, reason: 'CreateContainerConfigError' },
  ],
  [
    'a crash loop, with how it ended',
    container({
      restartCount: 5,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
    }),
    {},
    { kind: 'crash', terminal: true, message: '5 restarts, OOMKilled, exit code 137' },
  ],
  [
    'a crash loop between two back-offs',
    container({ restartCount: 2, ready: false, state: { running: {} } }),
    {},
    { kind: 'crash', terminal: true },
  ],
  [
    'one restart is no loop',
    container({ restartCount: 1, ready: false, state: { running: {} } }),
    {},
    undefined,
  ],
  [
    'an init container counts',
    pod({ initContainerStatuses: [{ name: 'i', state: { waiting: { reason: 'InvalidImageName' } } }] }),
    {},
    { kind: 'image', reason: 'InvalidImageName', container: 'i' },
  ],
  [
    'no node fits',
    pod({
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }],
    }),
    {},
    { kind: 'unschedulable', terminal: false, message: '0/3 nodes' },
  ],
  [
    'a lost node comes before what its containers say',
    container({ state: { waiting: { reason: 'ImagePullBackOff' } } }),
    { node: lost },
    { kind: 'node', reason: 'NotReady', since: '2026-11-21T07:00:00Z' },
  ],
  [
    'a pod of the strategy Job that failed',
    pod({
      phase: 'Failed',
      containerStatuses: [{ name: 'c', state: { terminated: { exitCode: 1, message: 'boom' } } }],
    }),
    {},
    { kind: 'crash', terminal: true, message: 'exit code 1: boom' },
  ],
  [
    'what only events tell, the last of them',
    pod({ phase: 'Pending' }),
    {
      events: [
        event({ reason: 'Old', lastTimestamp: started }),
        event({ reason: 'FailedMount', message: 'no secret' }),
      ],
    },
    { kind: 'not-ready', reason: 'FailedMount', message: 'no secret', terminal: false },
  ],
  ['going within its grace', pod({}, { deletionTimestamp: '2026-11-21T10:00:10Z' }), {}, undefined],
  ['not going away', pod({}, { deletionTimestamp: '2026-11-21T09:59:00Z' }), {}, { kind: 'terminating' }],
  [
    'not going away, as its node is lost',
    pod({}, { deletionTimestamp: '2026-11-21T09:59:00Z' }),
    { node: lost },
    { kind: 'node' },
  ],
]

test.each(cases)('%s', (_name, found, { node, events = [] }, trouble) => {
  expect({ trouble: podTrouble(found, { node, events, at }) }).toMatchObject({ trouble })
})
