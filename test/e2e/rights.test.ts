import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Access } from '../../src/lib/kube/cluster.ts'
import { accessOf, probeAccess, requiredAccess, statusAccess } from '../../src/lib/upgrade/roles.ts'
import { eventually, expectRolled } from './installation.ts'
import { kvup } from './kvup.ts'
import { type Lab, startLab } from './lab.ts'
import { bindingsFor, type Right, rightsIn, roleManifests, without } from './roles.ts'

const upgrade = ['upgrade', '--to', 'v1.8.4', '--yes', '--stable-for', '5s']
const account = 'upgrader'
const user = `system:serviceaccount:default:${account}`
/** Without these a run says less, or cannot do an extra: a warning, not exit 7. */
const optional = new Set(
  requiredAccess('image-tag', 'kubevirt')
    .filter((need) => need.optional)
    .map(({ access }) => keyOfAccess(access)),
)
/** An upgrade does not use these. */
const onlyChecks = difference(
  [...accessOf('kvup-upgrade', 'kubevirt'), ...probeAccess('kubevirt'), ...statusAccess('kubevirt')],
  requiredAccess('image-tag', 'kubevirt'),
)
/** Nobody may call these optional: without them there is no lock, no journal, no upgrade and no verdict. */
const indispensable = [
  'create leases.coordination.k8s.io',
  'patch leases.coordination.k8s.io',
  'create configmaps',
  'patch configmaps',
  'get configmaps',
  'patch kubevirts.kubevirt.io',
  'watch kubevirts.kubevirt.io',
  'list daemonsets.apps',
  'list deployments.apps',
  'list pods',
]

function nameOf({ verb, group, resource, subresource }: Access): string {
  const path = subresource === undefined ? resource : `${resource}/${subresource}`
  return `${verb} ${group === '' ? path : `${path}.${group}`}`
}

/** As `keyOf` has it for the same right. */
function keyOfAccess({ verb, namespace = '', name = '', ...access }: Access): string {
  return [nameOf({ verb, ...access }), namespace, name].join(' ')
}

const everywhere = ({ verb, resource }: Right): Right => ({ verb, resource })

const keyOf = ({ verb, resource, namespace = '', name = '' }: Right) =>
  [verb, resource, namespace, name].join(' ')

function difference(all: readonly { access: Access }[], used: readonly { access: Access }[]): Set<string> {
  const keys = (some: typeof all) => some.map(({ access }) => keyOfAccess(access))
  const inUse = new Set(keys(used))
  return new Set(keys(all).filter((key) => !inUse.has(key)))
}

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

function reviewOf({ verb, resource, namespace = '', name = '' }: Right): object {
  const [path = '', ...group] = resource.split('.')
  const [plural, subresource = ''] = path.split('/')
  const resourceAttributes = { verb, group: group.join('.'), resource: plural, subresource, namespace, name }
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, groups: ['system:serviceaccounts', 'system:authenticated'], resourceAttributes },
  }
}

/** All of them, as the API server sees it, which follows a changed role a moment later. */
async function has(...rights: readonly Right[]): Promise<boolean> {
  const list = { apiVersion: 'v1', kind: 'List', items: rights.map(reviewOf) }
  const answer = await lab.kubectl(
    ['create', '-f', '-', '-o', 'jsonpath={.status.allowed} '],
    JSON.stringify(list),
  )
  const answers = answer.trim().split(/\s+/u)
  expect(answers).toHaveLength(rights.length)
  return answers.every((allowed) => allowed === 'true')
}

test('without any single verb that it needs, kvup ends with 7 before its first write', async () => {
  const since = new Date()
  await grant(role.map((each) => ({ ...each, rules: [] })))
  const all = rightsIn(role)
  await eventually('the rights are gone', 10, async () => !(await has(all.at(-1)!)))
  const required: Right[] = []
  const everybodys: string[] = []
  for (const right of all) {
    const what = `${right.verb} ${right.resource}`
    if (optional.has(keyOf(right)) || onlyChecks.has(keyOf(right))) continue
    if (await has(right)) everybodys.push(what)
    else required.push(right)
  }
  // KubeVirt itself lets every authenticated user read these (ClusterRole kubevirt.io:default)
  expect(everybodys).toEqual(['get kubevirts.kubevirt.io', 'list kubevirts.kubevirt.io'])
  const names = required.map(({ verb, resource }) => `${verb} ${resource}`)
  expect(names).toEqual(expect.arrayContaining(indispensable))
  const others: string[] = []
  for (const right of required) {
    const what = `${right.verb} ${right.resource}`
    // Checks may ask the same of all namespaces, which would grant it here as well.
    await grant(without(without(role, right), everywhere(right)))
    await eventually(`${what} is taken away`, 10, async () => !(await has(right)))
    const { code, stderr } = await kvup(lab, upgrade, { kubeconfig })
    const named = stderr.includes(right.verb) && stderr.includes(right.resource)
    if (code !== 7 || !named) others.push(`${what}: exit ${code}, ${stderr.split('\n').at(0)}`)
    const writes = await lab.auditWrites({ user, since })
    if (writes.length > 0) throw new Error(`without ${what} it wrote: ${JSON.stringify(writes.slice(0, 3))}`)
  }
  expect(others).toEqual([])
})

test('with the printed role and nothing else, the whole upgrade goes through', async () => {
  await grant(role)
  await eventually('the role is granted', 20, () => has(...rightsIn(role)))
  const outcome = await kvup(lab, upgrade, { kubeconfig })
  await expectRolled(lab, 'v1.8.4', ['LiveMigrate'])
  expect(outcome).toMatchObject({ code: 0 })
})
