import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, expectRolled } from './installation.ts'
import { kvup } from './kvup.ts'
import { type Lab, startLab } from './lab.ts'
import { bindingsFor, type Right, rightsIn, roleManifests, without } from './roles.ts'

const upgrade = ['upgrade', '--to', 'v1.8.4', '--yes', '--settle', '5s']
const account = 'upgrader'
const user = `system:serviceaccount:default:${account}`
/** Without these a run is poorer, not impossible: a warning, not exit 7. */
const optional = new Set(['events', 'pods/log'])

let lab: Lab
let kubeconfig: string
let role: Awaited<ReturnType<typeof roleManifests>>

beforeAll(async () => {
  lab = await startLab({
    name: 'rights',
    operator: 'v1.8.4',
    imageTag: 'v1.7.0',
    methods: ['LiveMigrate'],
  })
  const printed = await kvup(lab, ['rbac', 'kvup-upgrade'])
  role = roleManifests(printed.stdout)
  kubeconfig = await lab.serviceAccountKubeconfig(
    account,
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...role, ...bindingsFor(role, account)] }),
  )
})
afterAll(() => lab.stop())

async function grant(items: typeof role): Promise<void> {
  await lab.kubectl(['replace', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
}

/** As the API server sees it, which follows a changed role a moment later. */
async function has({ verb, resource, namespace }: Right): Promise<boolean> {
  const where = namespace === undefined ? ['-A'] : ['-n', namespace]
  const said = lab.kubectl(['auth', 'can-i', verb, resource, '--as', user, ...where])
  return said.then(
    (answer) => answer.trim() === 'yes',
    () => false,
  )
}

test('without any single verb that it needs, kvup ends with 7 before its first write', async () => {
  const since = new Date()
  const required = rightsIn(role).filter(({ resource }) => !optional.has(resource.split('.')[0] ?? ''))
  expect(required.length).toBeGreaterThan(5)
  for (const right of required) {
    await grant(without(role, right))
    await eventually(`${right.verb} ${right.resource} is taken away`, 10, async () => !(await has(right)))
    const { code, stderr } = await kvup(lab, upgrade, { kubeconfig })
    expect.soft({ right, code }).toEqual({ right, code: 7 })
    expect.soft(stderr).toContain(right.verb)
    expect.soft(stderr).toContain(right.resource.split('.')[0])
    const writes = await lab.auditWrites({ user, since })
    if (writes.length > 0)
      throw new Error(`without ${right.verb} ${right.resource}: ${JSON.stringify(writes)}`)
  }
})

test('with the printed role and nothing else, the whole upgrade goes through', async () => {
  await grant(role)
  await eventually('the role is granted', 10, async () =>
    (await Promise.all(rightsIn(role).map((right) => has(right)))).every(Boolean),
  )
  const outcome = await kvup(lab, upgrade, { kubeconfig })
  await expectRolled(lab, 'v1.8.4', ['LiveMigrate'])
  expect(outcome).toMatchObject({ code: 0 })
})
