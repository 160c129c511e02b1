import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { bundle, certificate } from '../lib/checks/machinery/ca-text.ts'
import { type Checked, checked } from './check-report.ts'
import { eventually } from './installation.ts'
import { kvup, startPasted } from './kvup.ts'
import { kubectlProgram, type Lab, operatorManifest, type Release, startLab } from './lab.ts'
import { onlooker } from './only-reads.ts'
import { bindingsFor, type RoleManifest, roleManifests, without } from './roles.ts'

interface Definition {
  spec: { versions: { name: string; served: boolean; storage: boolean }[] }
}
interface Configuration {
  webhooks: { name: string; clientConfig: { caBundle?: string; service?: { name: string } } }[]
}

const account = 'checker'
const user = `system:serviceaccount:default:${account}`
const next = ['--to', 'v1.9.0']
/** To what is installed already, with the release's own manifest. */
const given = ['--to', 'v1.8.4', '--manifest', operatorManifest('v1.8.4')]
const exports = 'virtualmachineexports.export.kubevirt.io'
const validator = ['validatingwebhookconfiguration', 'virt-api-validator'] as const
const inKubeVirt = ['-n', 'kubevirt'] as const

let lab: Lab
let kubeconfig: string
let role: RoleManifest[]

beforeAll(async () => {
  lab = await startLab({ name: 'checks', operator: 'v1.8.4', methods: ['LiveMigrate'] })
  role = roleManifests((await kvup(lab, ['rbac', 'kvup-operator-manifest'])).stdout)
  kubeconfig = await lab.serviceAccountKubeconfig(account, list([...role, ...bindingsFor(role, account)]))
})
afterAll(() => lab.stop())

const list = (items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
const replace = (...items: readonly object[]) => lab.kubectl(['replace', '-f', '-'], list(items))

/** What the API server says to a write that it would refuse; undefined where it would take it. */
async function refusal(args: readonly string[], input?: string): Promise<string | undefined> {
  try {
    await lab.kubectl([...args, '--dry-run=server'], input)
    return undefined
  } catch (error) {
    return String(error)
  }
}

/** A remedy carried out as a person would: the line that it begins with, and then what its sentence says, for which there is no line. */
async function carryOut(remedy: readonly string[], bySentence: () => Promise<unknown>): Promise<void> {
  const env = { PATH: `${path.dirname(kubectlProgram)}:${process.env['PATH']}` }
  const [line = '', sentence] = remedy
  const [command = ''] = line.split(/ {5}/)
  expect(await startPasted(lab, command, { env }).ended).toMatchObject({ code: 0 })
  expect(sentence).toContain('then set status.storedVersions of the CRD to ')
  await bySentence()
}

const remedyOf = ({ of }: Checked, id: string) => of(id).findings.flatMap(({ remedy }) => remedy)

test('what is in order passes with the printed role alone, nothing is left unchecked and nothing is written', async () => {
  const since = new Date()
  const { code, blockers, items, of } = await checked(lab, next, { kubeconfig })
  expect(blockers).toEqual([])
  expect(items.filter(({ is }) => is === 'not-checked')).toEqual([])
  for (const id of [
    'hop-supported',
    'kubernetes-window',
    'healthy-now',
    'crd-stored-versions',
    'rights',
    'api-services',
    'webhooks-answering',
    'certificates',
    'leader-leases',
  ])
    expect.soft(of(id)).toMatchObject({ id, is: 'passed' })
  expect(code).toBe(0)
  expect(await lab.auditWrites({ user, since })).toEqual([])
})

test('every command that only reads sends no write, not even a dry run', async () => {
  const watch = await onlooker(lab)
  for (const args of [
    ['check'],
    ['check', ...given],
    ['status'],
    ['history'],
    ['version'],
    ['wait', '--for', 'healthy', '--timeout', '20s'],
    ['snapshot', '--to-file', 'everything.ndjson.gz'],
    ['check', '--from', 'everything.ndjson.gz', ...next],
  ])
    expect.soft(await watch(args), args.join(' ')).toMatchObject({ writes: [], dryRunSteps: [] })
})

test.each([
  ['v1.7.4', 'downgrade', 'Kubernetes 1.35 is too new for KubeVirt v1.7'],
  ['v1.11.0', 'minor-skipped', 'Kubernetes 1.35 is too old for KubeVirt v1.11'],
])('path: to %s blocks with %s, and because %s, unless all of it is accepted', async (to, hop, window) => {
  const found = await checked(lab, ['--to', to])
  expect(found.of('hop-supported').findings).toContainEqual(
    expect.objectContaining({ id: hop, level: 'blocker' }),
  )
  expect(found.of('kubernetes-window').findings).toMatchObject([
    { id: 'kubernetes-window', level: 'blocker', summary: expect.stringContaining(window) as string },
  ])
  expect(found.code).toBe(3)
  const ids = new Set(found.blockers.map((line) => line.split(':')[0] ?? ''))
  const accepted = [...ids].flatMap((id) => ['--accept', id])
  expect(await checked(lab, ['--to', to, ...accepted])).toMatchObject({ code: 0 })
})

test('rights: without one verb it is named and blocks, without an optional one what it is for is not checked', async () => {
  const patch = { verb: 'patch', resource: 'kubevirts.kubevirt.io', namespace: 'kubevirt' }
  const crds = { verb: 'list', resource: 'customresourcedefinitions.apiextensions.k8s.io' }
  await replace(...without(without(role, patch), crds))
  let found: Checked | undefined
  await eventually('the rights are gone', 10, async () => {
    found = await checked(lab, next, { kubeconfig })
    return found.of('rights').findings.length === 2
  })
  expect(found?.of('rights').findings).toMatchObject([
    { id: 'rights', level: 'blocker', objects: ['patch kubevirts.kubevirt.io in namespace kubevirt'] },
    {
      id: 'rights-optional',
      level: 'warning',
      objects: ['list customresourcedefinitions.apiextensions.k8s.io'],
    },
  ])
  expect(found?.of('crd-stored-versions')).toMatchObject({
    is: 'not-checked',
    findings: [{ level: 'not-checked' }],
  })
  expect(found?.code).toBe(3)
  await replace(...role)
})

test('rights: an operator with the roles of v1.7.0 may not grant what v1.8.4 does', async () => {
  const byTag = [...given, '--method', 'image-tag']
  await lab.kubectl(['replace', '-f', '-'], await operatorRole('v1.7.0'))
  const lacking = await checked(lab, byTag)
  expect(lacking.of('operator-rights')).toMatchObject({ is: 'found', findings: [{ level: 'blocker' }] })
  const [{ objects = [] } = {}] = lacking.of('operator-rights').findings
  expect(objects).toContain('create virtualmachinetemplates.template.kubevirt.io')
  expect(objects.filter((right) => / virtualmachines\.kubevirt\.io/.test(right))).toEqual([])
  expect(lacking.code).toBe(3)

  await lab.kubectl(['replace', '-f', '-'], await operatorRole('v1.8.4'))
  const granted = await checked(lab, byTag)
  expect(granted.of('operator-rights')).toMatchObject({ is: 'passed' })
  expect(granted.of('rbac-diff')).toMatchObject({ is: 'passed' })
  expect(granted.code).toBe(0)
})

async function operatorRole(release: Release): Promise<string> {
  const documents = parseAllDocuments(await readFile(operatorManifest(release), 'utf8'))
  const roles = documents
    .map((document) => document.toJS() as RoleManifest | null)
    .filter((object) => object?.kind === 'ClusterRole' && object.metadata.name === 'kubevirt-operator')
  expect(roles).toHaveLength(1)
  return JSON.stringify(roles[0])
}

test('CRDs: a version of the KubeVirt CRD that is stored and not in the manifest blocks; its remedy mends it', async () => {
  const apply = ['apply', '--server-side', '--force-conflicts', '-f', operatorManifest('v1.8.4')]
  const crd = await lab.object<Definition>('get', 'crd', 'kubevirts.kubevirt.io')
  const old = { ...crd.spec.versions.find(({ storage }) => !storage), name: 'v1alpha2', served: false }
  await replace({ ...crd, spec: { ...crd.spec, versions: [...crd.spec.versions, old] } })
  await stored('kubevirts.kubevirt.io', ['v1alpha2', 'v1'])

  const found = await checked(lab, given)
  expect(found.of('crd-stored-versions')).toMatchObject({
    is: 'found',
    findings: [{ level: 'blocker', objects: ['customresourcedefinition/kubevirts.kubevirt.io'] }],
  })
  expect(found.code).toBe(3)
  expect(await refusal(apply)).toMatch(/status.storedVersions.*v1alpha2/)

  await carryOut(remedyOf(found, 'crd-stored-versions'), () => stored('kubevirts.kubevirt.io', ['v1']))
  expect(await checked(lab, given)).toMatchObject({ code: 0, blockers: [] })
  expect(await refusal(apply)).toBeUndefined()
})

const stored = (name: string, storedVersions: readonly string[]) =>
  lab.kubectl([
    'patch',
    'crd',
    name,
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status: { storedVersions } }),
  ])

test('CRDs: a stored version that the release data says is dropped blocks; its remedy mends it', async () => {
  await stored(exports, ['v1alpha1', 'v1beta1'])
  const found = await checked(lab, next)
  expect(found.of('crd-stored-versions')).toMatchObject({
    is: 'found',
    findings: [{ level: 'blocker', objects: [`customresourcedefinition/${exports}`] }],
  })
  expect(found.code).toBe(3)
  await carryOut(remedyOf(found, 'crd-stored-versions'), () => stored(exports, ['v1beta1']))
  expect((await checked(lab, next)).of('crd-stored-versions')).toMatchObject({ is: 'passed' })
})

/** As the real API server finds out: it asks this webhook about every VM. */
const createVm = () =>
  refusal(
    ['create', '-f', '-'],
    JSON.stringify({
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: { name: 'asked', namespace: 'default' },
      spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
    }),
  )

async function caOfValidator(caBundle: string): Promise<readonly string[]> {
  const found = await lab.object<Configuration>('get', ...validator)
  const webhooks = found.webhooks.map((webhook) => ({
    ...webhook,
    clientConfig: { ...webhook.clientConfig, caBundle },
  }))
  await replace({ ...found, webhooks })
  return webhooks.map(({ name }) => name)
}

test('webhooks: a CA that is garbage or expired and a service without endpoints are found, and virt-operator mends them', async () => {
  expect(await createVm()).toBeUndefined()
  // It would mend a CA within seconds.
  await lab.kubectl([...inKubeVirt, 'scale', 'deployment', 'virt-operator', '--replicas=0'])
  await gone('virt-operator')

  const names = await caOfValidator(Buffer.from('garbage').toString('base64'))
  const garbage = await checked(lab, next)
  expect(garbage.of('webhooks-answering').findings).toContainEqual(
    expect.objectContaining({
      level: 'blocker',
      objects: names,
      summary: expect.stringContaining('no PEM certificate') as string,
    }),
  )
  expect(garbage.code).toBe(3)
  await eventually('the API server cannot use the CA', 10, async () =>
    /root cert/.test((await createVm()) ?? ''),
  )

  await caOfValidator(bundle(certificate(new Date(), { since: 8, left: -1 })))
  const expired = await checked(lab, next)
  expect(expired.of('certificates')).toMatchObject({
    is: 'found',
    findings: [{ level: 'blocker', objects: ['validatingwebhookconfiguration/virt-api-validator'] }],
  })
  await eventually('the API server does not trust it', 10, async () => /x509/.test((await createVm()) ?? ''))

  await lab.kubectl([...inKubeVirt, 'scale', 'deployment', 'virt-api', '--replicas=0'])
  await gone('virt-api')
  const silent = await checked(lab, next)
  expect(silent.of('webhooks-answering').findings).toContainEqual(
    expect.objectContaining({
      level: 'blocker',
      objects: names,
      summary: expect.stringContaining('service virt-api, which has no ready endpoint') as string,
    }),
  )
  expect(silent.of('api-services').findings.flatMap(({ objects }) => objects)).toContain(
    'apiservice/v1.subresources.kubevirt.io',
  )

  await lab.kubectl([...inKubeVirt, 'scale', 'deployment', 'virt-operator', '--replicas=2'])
  expect(await kvup(lab, ['wait', '--for', 'healthy', '--timeout', '120s'])).toMatchObject({ code: 0 })
  expect(await checked(lab, next)).toMatchObject({ code: 0, blockers: [] })
  expect(await createVm()).toBeUndefined()
})

const gone = (name: string) =>
  lab.kubectl([...inKubeVirt, 'wait', 'pod', '-l', `kubevirt.io=${name}`, '--for=delete', '--timeout=60s'])
