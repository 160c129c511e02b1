import { describe, expect, test } from 'vitest'
import { Pods } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { Events } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { fieldTest, labelTest } from '../../../../src/simulator/api/list-options.ts'
import { freshStore, refused } from './fixture.ts'

test('a label selector that cannot be read is 400', () =>
  expect(refused(() => labelTest('a in b')).status).toBe(400))

describe('field selectors', () => {
  const pods = freshStore().kinds.resolve(Pods)
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'a' },
    spec: { nodeName: 'n' },
    status: { phase: 'Running' },
  }
  test.each([
    ['metadata.name=p', true],
    ['metadata.name!=p', false],
    ['status.phase=Running,spec.nodeName=n', true],
    ['status.phase=Pending', false],
  ])('%s: %s', (selector, expected) => expect(fieldTest(pods, selector)(pod)).toBe(expected))

  test('events by what they are about', () => {
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      involvedObject: { name: 'vm', kind: 'VirtualMachine' },
      type: 'Warning',
    }
    const events = freshStore().kinds.resolve(Events)
    expect(fieldTest(events, 'involvedObject.name=vm,type=Warning')(event)).toBe(true)
    expect(fieldTest(events, 'involvedObject.kind=Pod')(event)).toBe(false)
  })

  test('a field that the kind has no index for is 400', () =>
    expect(refused(() => fieldTest(pods, 'spec.replicas=1'))).toMatchObject({
      status: 400,
      message: 'field label not supported: spec.replicas',
    }))
})
