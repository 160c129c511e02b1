import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, expectRolled, lockHolder } from './installation.ts'
import { kvup, startKvup } from './kvup.ts'
import { type Lab, startLab } from './lab.ts'

const upgrade = ['upgrade', '--to', 'v1.8.4', '--yes', '--stable-for', '5s']
let lab: Lab

beforeAll(async () => {
  lab = await startLab({
    name: 'two-at-once',
    operator: 'v1.8.4',
    imageTag: 'v1.7.0',
    methods: ['LiveMigrate'],
  })
})
afterAll(() => lab.stop())

const anAdmin = (name: string) => `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ${name}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: ${name}, namespace: default}]
`

test('a suspended holder is followed by the next run, a run beside that one is refused, and the holder that wakes writes nothing', async () => {
  const kubeconfig = await lab.serviceAccountKubeconfig('sleeper', anAdmin('sleeper'))
  const sleeper = startKvup(lab, upgrade, { kubeconfig })
  let before: string | undefined
  await eventually('the first run', 15, async () => (before = await lockHolder(lab)) !== undefined)
  sleeper.signal('SIGSTOP')
  expect(before).toContain(`/${sleeper.pid}/`)

  const suspendedAt = Date.now()
  const successor = startKvup(lab, upgrade)
  await eventually('the second run', 25, async () => {
    const holder = await lockHolder(lab)
    return holder !== undefined && holder !== before
  })
  expect(Date.now() - suspendedAt).toBeGreaterThan(10_000)
  const holder = await lockHolder(lab)
  expect(holder).toContain(`/${successor.pid}/`)

  const refused = await kvup(lab, upgrade)
  expect(refused).toMatchObject({ code: 6 })
  expect(refused.stderr).toContain(holder)

  const wokenAt = new Date()
  sleeper.signal('SIGCONT')
  expect(await sleeper.ended).toMatchObject({ code: 6 })
  expect(await successor.ended).toMatchObject({ code: 0 })
  await expectRolled(lab, 'v1.8.4', ['LiveMigrate'])
  const writes = await lab.auditWrites({ user: 'system:serviceaccount:default:sleeper', since: wokenAt })
  expect(writes.filter(({ code }) => code < 300)).toEqual([])
})
