import { expect, test } from 'vitest'
import type { Override } from '../../../src/lib/engine/journal.ts'
import { overrideRemedy } from '../../../src/lib/output/views/report-lines.ts'

const object = { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', name: 'kubevirt', uid: 'u' }
const override: Omit<Override, 'id' | 'path' | 'was'> = {
  by: 'jane@here',
  at: '2026-01-01T00:00:00Z',
  procedure: 'upgrade to v1.8.4',
  object,
}

test('the methods have a line of their own; an imageTag that was taken out comes back with the upgrade', () => {
  const was = { present: true, value: ['LiveMigrate'] } as const
  const path = '/spec/workloadUpdateStrategy/workloadUpdateMethods'
  const methods: Override = { ...override, id: 'workload-updates', path, was }
  expect(overrideRemedy(methods)).toBe('kvup workloads resume-updates')
  const tag = { present: true, value: { tag: 'v1.7.4' } } as const
  const imageTag: Override = { ...override, id: 'image-tag', path: '/spec/imageTag', was: tag }
  expect(overrideRemedy(imageTag)).toBe('kvup upgrade --to v1.8.4')
})

const remedy = (id: string, path: string) => overrideRemedy({ procedure: 'eus to 4.20', id, path })

test('what a window borrowed goes back by the commands of the window', () => {
  expect(remedy('workload-updates', '/spec/workloadUpdateStrategy/workloadUpdateMethods')).toBe(
    'kvup restore-settings workload-updates',
  )
  expect(remedy('node-health-check/gpu', '/spec/pauseRequests')).toBe(
    'kvup restore-settings node-health-check/gpu',
  )
  expect(remedy('pool-paused/gpu', '/spec/paused')).toBe('kvup eus abort')
  expect(remedy('platform-channel', '/spec/channel')).toBe('kvup eus abort')
  expect(remedy('desired-update', '/spec/desiredUpdate')).toBe('kvup eus abort')
})
