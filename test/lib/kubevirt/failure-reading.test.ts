import { expect, test } from 'vitest'
import { readFailure } from '../../../src/lib/kubevirt/diagnosis/diagnosis.ts'
import failures from './failure-reading.json' with { type: 'json' }

const place = { namespace: 'kv', target: 'v1.9.0' }
const failed = 'An error occurred during deployment: '

test.each(failures)('$name', ({ text, kind, message, command }) => {
  const found = readFailure(text, place)
  expect(found).toMatchObject({ kind, message })
  expect(found?.commands[0]).toBe(command)
})

test('what is not known is told as it is', () => {
  expect(
    readFailure(`${failed}virtualmachineclusterinstancetypes "cx1" already exists`, place),
  ).toBeUndefined()
})
