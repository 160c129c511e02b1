import { expect, test } from 'vitest'
import type { ContainerStatus, Pod } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { readPull } from '../../../../src/lib/checks/probes/probe-run.ts'
import fixture from './pull-verdict.json' with { type: 'json' }

const pod = (container: Partial<ContainerStatus> | undefined, status: Pod['status'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'kvup-probe-1' },
  status: { ...status, ...(container && { containerStatuses: [{ name: 'probe', ...container }] }) },
})
const snapshots = fixture.pods as unknown as (readonly [what: string, pod: Pod, is: string])[]

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
