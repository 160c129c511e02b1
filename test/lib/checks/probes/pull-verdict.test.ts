import { expect, test } from 'vitest'
import type { ContainerStatus, Pod } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { readPull } from '../../../../src/lib/checks/probes/probe-run.ts'

const pod = (container: Partial<ContainerStatus> | undefined, status: Pod['status'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'kvup-probe-1' },
  status: { ...status, ...(container && { containerStatuses: [{ name: 'probe', ...container }] }) },
})
const waiting = (reason: string, message = '') => ({ state: { waiting: { reason, message } } })

const snapshots: readonly (readonly [what: string, pod: Pod, is: string])[] = [
  ['nothing yet', pod(undefined), 'waiting'],
  ['a container that is being created', pod(waiting('ContainerCreating')), 'waiting'],
  ['a pull that fails', pod(waiting('ErrImagePull')), 'failing'],
  ['a pull that backs off', pod(waiting('ImagePullBackOff')), 'failing'],
  ['a name that is none', pod(waiting('InvalidImageName')), 'failing'],
  ['a policy that never pulls', pod(waiting('ErrImageNeverPull')), 'failing'],
  ['a user that may not be root', pod(waiting('CreateContainerConfigError')), 'pulled'],
  ['a program that is not there, by CRI-O', pod(waiting('CreateContainerError')), 'pulled'],
  [
    'a program that is not there, by containerd',
    pod({ state: { terminated: { reason: 'StartError', exitCode: 128 } } }, { phase: 'Failed' }),
    'pulled',
  ],
  ['it runs', pod({ state: { running: {} } }), 'pulled'],
  ['its image has an id', pod({ imageID: 'r/x@sha256:1', ...waiting('Whatever') }), 'pulled'],
  [
    'a deadline while it backs off',
    pod(waiting('ImagePullBackOff'), { phase: 'Failed', reason: 'DeadlineExceeded' }),
    'ended',
  ],
  [
    'a deadline, and nothing is known of the container',
    pod(
      { state: { terminated: { reason: 'ContainerStatusUnknown', exitCode: 137 } } },
      { phase: 'Failed', reason: 'DeadlineExceeded' },
    ),
    'ended',
  ],
  ['a kubelet that has no room', pod(undefined, { phase: 'Failed', reason: 'OutOfpods' }), 'ended'],
]

test.each(snapshots)('C6 %s', (_, given, is) => {
  expect(readPull(given).is).toBe(is)
})

test('C6 what ended for another reason says which', () => {
  expect(readPull(pod(undefined, { phase: 'Failed', reason: 'OutOfpods', message: 'too many' }))).toEqual({
    is: 'ended',
    why: 'its pod ended: OutOfpods',
    message: 'too many',
  })
})
