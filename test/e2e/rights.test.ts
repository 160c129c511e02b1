import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, expectRolled } from './installation.ts'
import { kvup } from './kvup.ts'
import { type Lab, startLab } from './lab.ts'
import { bindingsFor, type Right, rightsIn, roleManifests, without } from './roles.ts'

const upgrade = ['upgrade', '--to', 'v1.8.4', '--yes', '--settle', '5s']
const account = 'upgrader'
const user = `system:serviceaccount:default:${account}`
/** Without these a run says less, or cannot do an extra: a warning, not exit 7. */
const optional = new Set([
  'nodes',
  'events',
  'pods/log',
  'persistentvolumeclaims',
  'datavolumes.cdi.kubevirt.io',
  'customresourcedefinitions.apiextensions.k8s.io',
  'apiservices.apiregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'delete virtualmachineinstancemigrations.kubevirt.io',
])
const isRequired = ({ verb, resource }: Right): boolean =>
  !optional.has(resource) && !optional.has(`${verb} ${resource}`)

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
async function has({ verb, resource, namespace = '', name = '' }: Right): Promise<boolean> {
  const [path = '', ...group] = resource.split('.')
  const [plural, subresource = ''] = path.split('/')
  const resourceAttributes = { verb, group: group.join('.'), resource: plural, subresource, namespace, name }
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, groups: ['system:serviceaccounts', 'system:authenticated'], resourceAttributes },
  }
  const answer = await lab.kubectl(['create', '-f', '-', '-o', 'json'], JSON.stringify(review))
  return (JSON.parse(answer) as { status: { allowed: boolean } }).status.allowed
}

test('without any single verb that it needs, kvup ends with 7 before its first write', async () => {
  const since = new Date()
  await grant(role.map((each) => ({ ...each, rules: [] })))
  const all = rightsIn(role)
  await eventually('the rights are gone', 10, async () => !(await has(all.at(-1)!)))
  const required: Right[] = []
  const everybodys: string[] = []
  for (const right of all.filter(isRequired)) {
    if (await has(right)) everybodys.push(`${right.verb} ${right.resource}`)
    else required.push(right)
  }
  // KubeVirt itself lets every authenticated user read these (ClusterRole kubevirt.io:default)
  expect(everybodys).toEqual(['get kubevirts.kubevirt.io', 'list kubevirts.kubevirt.io'])
  expect(required.length).toBeGreaterThan(20)
  const others: string[] = []
  for (const right of required) {
    const what = `${right.verb} ${right.resource}`
    await grant(without(role, right))
    await eventually(`${what} is taken away`, 10, async () => !(await has(right)))
    const { code, stderr } = await kvup(lab, upgrade, { kubeconfig })
    const names = stderr.includes(right.verb) && stderr.includes(right.resource)
    if (code !== 7 || !names) others.push(`${what}: exit ${code}, ${stderr.split('\n').at(0)}`)
    const writes = await lab.auditWrites({ user, since })
    if (writes.length > 0) throw new Error(`without ${what} it wrote: ${JSON.stringify(writes.slice(0, 3))}`)
  }
  expect(others).toEqual([])
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
