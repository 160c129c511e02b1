import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { kvup } from '../in-process.ts'
import { type Alive, serveCluster } from './simulated.ts'

const token = 'sim-admin'
const password = 'correct-horse-battery'

let alive: Alive
beforeAll(async () => {
  alive = await serveCluster({ version: 'v1.7.4', vms: 1, methods: ['LiveMigrate'], speed: 1 })
})
afterAll(() => alive.stop())

const levels = ['6', '7', '8', '9'] as const

test.each(levels)('manner 12: -v %s shows requests, and never a token', async (level) => {
  const file = join(alive.folder, 'token')
  writeFileSync(file, token)
  const config = JSON.parse(readFileSync(alive.kubeconfig, 'utf8')) as { users: { user: object }[] }
  config.users[0]!.user = { token }
  const kubeconfig = join(alive.folder, 'with-token')
  writeFileSync(kubeconfig, JSON.stringify(config))
  const ends = await Promise.all([
    kvup(['status', '-v', level, '--token-file', file], alive),
    kvup(['status', '-v', level], { kubeconfig }),
    kvup(['upgrade', '--to', 'v1.6.0', '-v', level], { kubeconfig }),
  ])
  for (const { stdout, stderr } of ends) {
    expect(stderr).toMatch(/GET http:\/\/127\.0\.0\.1:\d+\/apis\/kubevirt\.io/)
    expect(stdout + stderr).not.toContain(token)
  }
})

/** A release has no Secret, but a mirror may add one with its pull credentials. */
const withSecret = (objects: KubeObject[]): KubeObject[] => [
  ...objects,
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'pull', namespace: 'kubevirt' },
    stringData: { password },
    data: { encoded: Buffer.from(password).toString('base64') },
  } as KubeObject,
]

test('a Secret in a manifest is refused, and what it holds is never shown', async () => {
  const flags = ['--manifest', alive.manifest('v1.8.4', withSecret), '--method', 'operator-manifest']
  const ended = await kvup(['upgrade', '--to', 'v1.8.4', ...flags, '--dry-run=server', '-v', '9'], alive)
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('Secret pull') as string })
  expect(ended.stdout + ended.stderr).not.toContain(password)
  expect(ended.stdout + ended.stderr).not.toContain(Buffer.from(password).toString('base64'))
})
