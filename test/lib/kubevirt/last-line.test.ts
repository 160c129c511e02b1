import { expect, test } from 'vitest'
import { complaint, lastLine } from '../../../src/lib/kubevirt/diagnosis/pod-trouble.ts'

const line = (level: string, msg: string, more: object = {}) =>
  JSON.stringify({ component: 'virt-handler', level, msg, pos: 'virt-handler.go:1', ...more })

const cases: readonly (readonly [string, string[], string | undefined])[] = [
  ['an empty log', ['', '  '], undefined],
  ['plain text', ['starting', 'exec format error'], 'exec format error'],
  [
    'the last that complains, though others follow',
    [line('info', 'a'), line('error', 'no kvm', { reason: 'ENOENT' }), line('info', 'bye')],
    'no kvm: ENOENT',
  ],
  ['the last one where none complains', [line('info', 'a'), line('warning', 'b')], 'b'],
  ['klog', ['I0101 10:00:00.1 1 main.go:3] hello', 'E0101 10:00:01.1 1 main.go:4] no lease'], 'no lease'],
  [
    'a panic, not the foot of its stack',
    [
      line('error', 'x'),
      'panic: nil map',
      '',
      'goroutine 1 [running]:',
      'main.main()',
      '\t/go/main.go:9 +0x1',
    ],
    'panic: nil map',
  ],
  ['text that would move the cursor', ['\u001b[2Jgone\u0007\tfar'], '[2Jgone far'],
  ['JSON that is none', ['{"level":"error"'], '{"level":"error"'],
  ['JSON without a message', ['first', line('error', '')], 'first'],
  ['a long line', ['x'.repeat(500)], `${'x'.repeat(159)}…`],
]

test.each(cases)('%s', (_name, lines, expected) => {
  expect(lastLine(`${lines.join('\n')}\n`)).toBe(expected)
})

test('a log without a complaint has none to quote', () => {
  expect(complaint([line('info', 'all is well'), 'text'].join('\n'))).toBeUndefined()
  expect(complaint(line('fatal', 'etcdserver: request is too large'))).toBe(
    'etcdserver: request is too large',
  )
})
