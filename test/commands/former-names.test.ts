import { expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { example } from '../lib/kubevirt/example.ts'
import { runText } from '../lib/run-text.ts'

const { reader, clock } = example('healthy')
const cluster = { reader } as Cluster
const kvup = (line: string) => runText(line.split(' '), { cluster, clock })

test.each([
  ['upgrade --to v1.9.0 --settle soon', 'upgrade --to v1.9.0 --stable-for soon'],
  ['upgrade --to v1.9.0 --settle=soon', 'upgrade --to v1.9.0 --stable-for=soon'],
  [
    'upgrade --to v1.9.0 --leave-held --wait-workloads',
    'upgrade --to v1.9.0 --leave-paused --wait-workloads',
  ],
  [
    'upgrade --to v1.9.0 --no-hold-workloads --leave-held',
    'upgrade --to v1.9.0 --no-pause-updates --leave-paused',
  ],
  ['workloads update --stall-timeout soon', 'workloads update --stalled-after soon'],
])('%s is refused as %s is, in the present words', async (former, present) => {
  const [was, is] = [await kvup(former), await kvup(present)]
  expect(was).toEqual(is)
  expect(is.code).toBe(2)
})

test('what follows -- is no flag', async () => {
  const { code, err } = await kvup('explain -- --settle')
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('--settle') })
})

test('wait --for settled is wait --for healthy', async () => {
  const [was, is] = [await kvup('wait --for settled -o json'), await kvup('wait --for healthy -o json')]
  expect(JSON.parse(was.out)).toEqual(JSON.parse(is.out))
  expect(JSON.parse(is.out)).toMatchObject({ for: 'healthy', met: true })
})

test.each([
  ['upgrade --version v1.9.0', 'did you mean --to v1.9.0?'],
  ['upgrade --version=v1.9.0', 'did you mean --to v1.9.0?'],
  ['upgrade --version', 'did you mean --to VERSION?'],
  ['status --version', 'kvup status --help'],
])('%s is no question for the version of kvup', async (line, helps) => {
  const { code, out, err } = await kvup(line)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toContain("unknown option '--version")
  expect(err).toContain(helps)
})

test('kvup --version is', async () => {
  expect(await kvup('--version')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\d+\.\d+\.\d+\S*\n$/u),
  })
})

test('a duration that is none: its examples stand there once', async () => {
  const { err } = await kvup('upgrade --to v1.9.0 --timeout abc')
  expect(err).toBe('error: "abc" is not a duration\n  write it like 90s, 5m, 1h30m or 2d\n')
})

test('a saved cluster that is not there: that it is missing, and how to save one to another name', async () => {
  const { code, err } = await kvup('check --from /nope')
  expect(code).toBe(2)
  expect(err).toContain('cannot read /nope: the file or folder does not exist')
  expect(err).not.toContain('--to-file /nope')
  expect(err).toMatch(/kvup snapshot --to-file cluster\.ndjson\.gz {3,}\S/u)
})
