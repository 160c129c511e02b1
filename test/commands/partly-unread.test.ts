import { expect, test } from 'vitest'
import { oneNamespaceHelps, partlyUnread } from '../../src/lib/kubevirt/snapshot.ts'
import { commandSpeech } from '../../src/lib/output/command-line.ts'
import { ApiError, type KvupError } from '../../src/lib/kube/errors.ts'

const speech = commandSpeech({ name: 'kvup', connection: [] })
const asTyped = (error: unknown) => speech.error(error) as KvupError

test('what was not readable ends in exit 7, with a command that works when the line is pasted', () => {
  expect(partlyUnread([])).toBeUndefined()
  const error = partlyUnread([{ why: 'pods is forbidden' }, { why: 'also' }])
  expect(error).toMatchObject({
    exitCode: 7,
    reason: 'partly-unread',
    message: 'kvup may not read everything: pods is forbidden, and 1 more',
  })
  expect(asTyped(error).remedy).toEqual([
    'kvup rbac kvup-view | kubectl apply -f -     # then bind it to this user',
  ])
})

test('who may not see all namespaces is told how to ask for one; other failures stay what they are', () => {
  const refused = new ApiError(403, 'Forbidden', 'pods is forbidden', { remedy: 'kubectl auth whoami' })
  const line = 'kvup workloads outdated'
  const { remedy } = asTyped(oneNamespaceHelps(refused, line))
  expect(remedy.at(-1)).toBe('kvup workloads outdated -n NAMESPACE     # in a namespace that you may read')
  const other = new TypeError('else')
  expect(oneNamespaceHelps(other, line)).toBe(other)
})
