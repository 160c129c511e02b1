import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Role, RoleBinding } from '../../../src/lib/kube/kinds/extension-kinds.ts'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { Namespaces } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { kvup } from '../in-process.ts'
import { type Alive, put, serveCluster, type Served, serveObjects } from './simulated.ts'

const shape = { version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', speed: 1 } as const
const open: Served[] = []
afterEach(async () => {
  for (const served of open.splice(0)) await served.stop()
})

async function keep<S extends Served>(opening: Promise<S>): Promise<S> {
  const served = await opening
  open.push(served)
  return served
}
const cluster = (users: string[] = []): Promise<Alive> =>
  keep(serveCluster({ ...shape, methods: ['LiveMigrate'], users }))

/** Every command that asks the cluster, so that none of them fails in its own way. */
const asking = [
  ['status'],
  ['upgrade', '--to', 'v1.8.4', '--yes'],
  ['history'],
  ['restore-settings', '--yes'],
] as const

/** The same end for each of them: this code, these words on stderr, nothing on stdout. */
async function ends(served: { kubeconfig?: string }, ...flags: readonly string[]) {
  const ended = await Promise.all(asking.map((argv) => kvup([...argv, ...flags], served)))
  return ended.map(({ code, stdout, stderr }) => ({ code, stdout, stderr }))
}

const all = (code: number, words: RegExp) =>
  asking.map(() => ({ code, stdout: '', stderr: expect.stringMatching(words) as string }))

describe('what is installed', () => {
  test('no KubeVirt: exit 3', async () => {
    expect(await ends(await keep(serveObjects()))).toEqual(all(3, /^error: KubeVirt is not installed here\n/))
  })

  test('two of them: exit 3, both named', async () => {
    const served = await cluster()
    served.store.put(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
    served.store.put(KubeVirts, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'KubeVirt',
      metadata: { name: 'second', namespace: 'other' },
    })
    expect(await ends(served)).toEqual(
      all(3, /kubevirt\/kubevirt.*other\/second|other\/second.*kubevirt\/kubevirt/s),
    )
    expect(served.writes()).toEqual([])
  })

  test('an operator without its resource: status says what it waits for, the others refuse', async () => {
    const served = await cluster()
    const empty = await keep(serveObjects())
    for (const object of served.store.everything())
      if (object.kind === 'Deployment' && object.metadata.name === 'virt-operator') put(empty.store, object)
    const [status, upgrade] = await Promise.all([
      kvup(['status'], empty),
      kvup(['upgrade', '--to', 'v1.8.4', '--yes'], empty),
    ])
    expect(status).toMatchObject({ code: 0, stderr: '' })
    expect(status.stdout).toMatch(/virt-operator v1\.8\.4 .* no KubeVirt resource/)
    expect(upgrade.code).toBe(3)
    expect(empty.writes()).toEqual([])
  })
})

describe('no server', () => {
  test('a refused port: exit 8 within seconds, the address named', async () => {
    const served = await keep(serveObjects())
    const began = performance.now()
    expect(await ends(served, '--server', 'http://127.0.0.1:1')).toEqual(
      all(8, /127\.0\.0\.1:1.*ECONNREFUSED/),
    )
    expect(performance.now() - began).toBeLessThan(15_000)
  })

  test('nothing configured: exit 2, for a retry does not help, and how to configure it', async () => {
    expect(await ends({})).toEqual(all(2, /no cluster is configured.*\n.*--kubeconfig FILE/))
  })

  test('a server that fails: exit 8, after trying again', async () => {
    const served = await cluster()
    served.faults.add({ is: 'refused', status: 500 })
    const { code, stderr } = await kvup(['status', '--request-timeout', '2s'], served)
    expect(code).toBe(8)
    expect(stderr).toContain('etcdserver')
    expect(served.store.audit.filter(({ userAgent }) => userAgent.startsWith('kvup/')).length).toBe(0)
  })
})

describe('kubeconfig', () => {
  test('KUBECONFIG that names no file: exit 2', async () => {
    expect(await ends({ kubeconfig: '/nonexistent/config' })).toEqual(all(2, /KUBECONFIG names no file/))
  })

  test('a context that is not there: exit 2, and those that are', async () => {
    const served = await keep(serveObjects([], ['jane']))
    expect(await ends(served, '--context', 'prod')).toEqual(all(2, /no context "prod"; it has: sim, jane/))
  })

  test.each([
    ['--cluster', /no cluster "nope"/],
    ['--user', /no user "nope"/],
  ])('%s nope: exit 2', async (flag, word) => {
    const { code, stderr } = await kvup(['status', flag, 'nope'], await keep(serveObjects()))
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(word) as string })
  })

  test('a file that is no kubeconfig: exit 2, the file named', async () => {
    const served = await keep(serveObjects())
    const file = join(served.folder, 'broken')
    writeFileSync(file, '{ not: [yaml')
    const { code, stderr } = await kvup(['status'], { kubeconfig: file })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(file) as string })
  })
})

describe('credentials and rights', () => {
  test('expired: exit 7, as whom, and how to log in', async () => {
    const served = await cluster()
    served.faults.add({ is: 'unauthorized' })
    expect(await ends(served)).toEqual(all(7, /does not accept the credentials of admin.*\n.*log in again/))
    expect(served.writes()).toEqual([])
  })

  test('manner 31: forbidden: verb, resource, namespace, as whom, and the Role that mends it', async () => {
    const served = await cluster(['jane'])
    expect(await ends(served, '--context', 'jane')).toEqual(
      all(7, /jane may not list kubevirts\.kubevirt\.io.*\n.*kvup rbac kvup-/),
    )
    expect(served.writes()).toEqual([])
  })

  test('allowed to look only: exit 7 before the first write, each missing right named', async () => {
    const served = await cluster(['jane'])
    const { stdout } = await kvup(['rbac', 'kvup-view', '-o', 'json'])
    const { items } = JSON.parse(stdout) as { items: Role[] }
    for (const role of items) bind(served, role)
    expect(await kvup(['status', '--context', 'jane'], served)).toMatchObject({ code: 0, stderr: '' })
    const upgrade = await kvup(['upgrade', '--to', 'v1.8.4', '--yes', '--context', 'jane'], served)
    expect(upgrade.code).toBe(7)
    expect(upgrade.stderr).toMatch(/may not patch kubevirts\.kubevirt\.io/)
    expect(upgrade.stderr).toMatch(/namespace kubevirt/)
    expect(upgrade.stderr).toMatch(/kvup rbac kvup-upgrade \| kubectl apply -f -/)
    expect(served.writes()).toEqual([])
  })
})

/** Gives a role to jane. */
function bind({ store }: Served, role: Role) {
  const { name, namespace } = role.metadata
  put(store, role)
  put(store, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: `${role.kind}Binding`,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: role.kind, name },
    subjects: [{ kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.k8s.io' }],
  } as RoleBinding)
}
