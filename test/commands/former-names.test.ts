import { expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { program } from '../../src/cli.ts'
import { former, refuseFormer } from '../../src/commands/former.ts'
import { example } from '../lib/kubevirt/example.ts'
import { runText } from '../lib/run-text.ts'

const { reader, clock } = example('healthy')
const cluster = { reader } as Cluster
const kvup = (line: string) => runText(line.split(' '), { cluster, clock })

test.each([
  ['upgrade --to v1.9.0 --settle 1m', 'kvup upgrade has no --settle any more', '--stable-for'],
  ['--context x upgrade --settle=1m', 'kvup upgrade has no --settle any more', '--stable-for'],
  [
    'workloads update --stall-timeout 1m',
    'kvup workloads update has no --stall-timeout any more',
    '--stalled-after',
  ],
  ['workloads hold -n shop', 'kvup workloads has no hold any more', 'kvup workloads pause-updates'],
  ['job status', 'kvup job has no status any more', 'kubectl get jobs,pods'],
  ['help workloads hold', 'kvup workloads has no hold any more', 'kvup workloads pause-updates'],
  ['-n rollout rollout show', 'kvup has no rollout any more', 'kvup workloads live-update'],
])('%s: exit 2 with what does it now', async (line, what, now) => {
  const { code, out, err } = await kvup(line)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toContain(what)
  expect(err).toContain(now)
  const document = JSON.parse((await kvup(`-o json ${line}`)).out)
  expect(document).toMatchObject({ status: 'failed', error: { code: 2 } })
})

test('each row of what left is said by the command tree as it is', async () => {
  const root = await program('kvup', () => async () => undefined, 'all')
  for (const [was, ...now] of former) {
    expect([was, now]).not.toEqual([was, []])
    const words = was.startsWith('-') ? ['status', ...was.split(' ')] : was.split(' ')
    expect(() => refuseFormer(root, words)).toThrow(`has no ${was.replace(/^[^-].* /u, '')} any more`)
  }
})

test('a name that left as the value of a flag, behind -- or of the completion is none', async () => {
  const root = await program('kvup', () => async () => undefined, 'all')
  for (const line of [
    'status -n rollout',
    'explain -- --settle',
    '__complete -- rollout',
    'job --name status -- upgrade',
    '-n rollout status',
  ])
    expect(() => refuseFormer(root, line.split(' '))).not.toThrow()
})

test('what follows -- is no flag', async () => {
  const { code, err } = await kvup('explain -- --settle')
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('--settle') })
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
