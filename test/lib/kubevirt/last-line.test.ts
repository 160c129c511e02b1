import { expect, test } from 'vitest'
import { complaint, lastLine } from '../../../src/lib/kubevirt/diagnosis/pod-trouble.ts'
import fixture from './last-line.json' with { type: 'json' }

const line = (level: string, msg: string, more: object = {}) =>
  JSON.stringify({ component: 'virt-handler', level, msg, pos: 'virt-handler.go:1', ...more })

test.each<[string, string[], string | null]>(fixture.cases as never)('%s', (_name, lines, expected) => {
  expect(lastLine(`${lines.join('\n')}\n`)).toBe(expected ?? undefined)
})

test('a log without a complaint has none to quote', () => {
  expect(complaint([line('info', 'all is well'), 'text'].join('\n'))).toBeUndefined()
  expect(complaint(line('fatal', 'etcdserver: request is too large'))).toBe(
    'etcdserver: request is too large',
  )
})
