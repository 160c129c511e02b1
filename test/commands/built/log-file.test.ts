import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kvup } from '../in-process.ts'
import { bin, environment, startProcess } from './program.ts'
import { type Alive, serveCluster } from './simulated.ts'

const folder = mkdtempSync(join(tmpdir(), 'kvup-log-'))
let cluster: Alive
beforeAll(async () => {
  cluster = await serveCluster({
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    methods: ['LiveMigrate'],
    vms: 2,
  })
})
afterAll(async () => {
  await cluster.stop()
  rmSync(folder, { recursive: true })
})

const file = join(folder, 'kvup.log')
const without = (text: string) => text.replaceAll(/^\S+T\S+Z /gmu, '')

test('what is typed, what is said and how it ended are in the log, also of a run that is refused', async () => {
  const line = ['upgrade', '--to', 'v1.8.4', '--stable-for', '1s', '--yes', '--log-file', file]
  const done = await kvup([...line, '-q'], cluster)
  expect({ code: done.code, stderr: done.stderr }).toEqual({ code: 0, stderr: '' })
  const refused = await kvup(
    ['upgrade', '--to', 'v1.7.4', '--yes', '--log-file', file, '-o', 'json'],
    cluster,
  )
  expect(refused.code).toBe(3)
  const log = without(readFileSync(file, 'utf8'))
  const [first, second = ''] = log.split(/^(?=kvup \S+: )/mu)
  expect(first).toMatch(new RegExp(`^kvup \\S+: kvup ${[...line, '-q'].join(' ')}\n`, 'u'))
  expect(first).toMatch(/^virt-api: done/mu)
  expect(first).toMatch(/\nexit 0\n$/u)
  expect(second).toMatch(/\nerror: .*\nexit 3\n$/su)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a file that is refused ends the command before the cluster is asked', async () => {
  const link = join(folder, 'link.log')
  symlinkSync(join(folder, 'elsewhere'), link)
  const requests = cluster.store.audit.length
  const ended = await kvup(['status', '--log-file', link], cluster)
  expect(ended).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('it is a symbolic link'),
  })
  expect(
    cluster.store.audit.slice(requests).filter(({ userAgent }) => userAgent.startsWith('kvup/')),
  ).toEqual([])
})

test('where the disk is full it is said once, and the command goes on', async () => {
  const full = join(folder, 'full.log')
  const script = `trap '' XFSZ; ulimit -f 0; exec "${process.execPath}" "${bin}" status --log-file "${full}"`
  const { NODE_COMPILE_CACHE: _, ...env } = environment(cluster)
  const ended = await startProcess('/bin/sh', ['-c', script], { ...cluster, env }).ended
  expect(ended.code).toBe(0)
  expect(ended.stdout).toContain('virt-handler')
  expect(ended.stderr.match(/nothing more is written to/gu)).toHaveLength(1)
})

test('-q asks nothing: who is not there to see the plan does not agree to it', async () => {
  const ended = await kvup(
    ['upgrade', '--to', 'v1.8.5', '--method', 'image-tag', '-q', '--accept', 'release-unknown'],
    cluster,
  )
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('--quiet forbids it') })
})
