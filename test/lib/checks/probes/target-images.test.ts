import { expect, test } from 'vitest'
import type { Deployment } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { theInstallation } from '../../../../src/lib/kubevirt/installation.ts'
import { targetImages } from '../../../../src/lib/checks/probes/target-images.ts'
import { knownReleases } from '../../../../src/lib/releases/releases.ts'
import { parseVersion } from '../../../../src/lib/releases/release-versions.ts'
import { evidence, withSpec } from '../evidence.ts'

interface Shape {
  to?: string
  image?: string
  env?: Readonly<Record<string, string>>
  spec?: object
  byTag?: true
}

function operator({ image = 'quay.io/kubevirt/virt-operator:v1.9.0', env = {} }: Shape): Deployment {
  const own = { VIRT_OPERATOR_IMAGE: image, ...env }
  const variables = Object.entries(own).map(([name, value]) => ({ name, value }))
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'virt-operator', namespace: 'kubevirt' },
    spec: { template: { spec: { containers: [{ name: 'virt-operator', image, env: variables }] } } },
  }
}

const images = (shape: Shape) =>
  targetImages({
    installation: theInstallation(withSpec(shape.spec ?? {}, evidence())),
    releases: knownReleases,
    target: parseVersion(shape.to ?? 'v1.9.0'),
    operator: operator(shape),
    replacesOperator: !shape.byTag,
  })

const byName = (shape: Shape): Record<string, string> =>
  Object.fromEntries(
    images(shape).map((one) => [one.of, 'image' in one ? one.image : `unknown: ${one.unknown}`]),
  )

const gates = (...featureGates: string[]) => ({
  configuration: { developerConfiguration: { featureGates } },
})

test('C6 a release as it is: everything by its tag, virt-template by its own', () => {
  expect(byName({})).toEqual({
    'virt-operator': 'quay.io/kubevirt/virt-operator:v1.9.0',
    'the install strategy': 'quay.io/kubevirt/virt-operator:v1.9.0',
    'virt-api': 'quay.io/kubevirt/virt-api:v1.9.0',
    'virt-controller': 'quay.io/kubevirt/virt-controller:v1.9.0',
    'virt-handler': 'quay.io/kubevirt/virt-handler:v1.9.0',
    'virt-launcher': 'quay.io/kubevirt/virt-launcher:v1.9.0',
    'virt-exportproxy': 'quay.io/kubevirt/virt-exportproxy:v1.9.0',
    'virt-exportserver': 'quay.io/kubevirt/virt-exportserver:v1.9.0',
    'virt-template-apiserver': 'quay.io/kubevirt/virt-template-apiserver:v0.2.2',
    'virt-template-controller': 'quay.io/kubevirt/virt-template-controller:v0.2.2',
    'libguestfs-tools': 'quay.io/kubevirt/libguestfs-tools:v1.9.0',
  })
})

const sum = `sha256:${'a'.repeat(64)}`
const pinned = `corp.example/kv/virt-launcher@${sum}`
const derived: readonly (readonly [what: string, shape: Shape, name: string, image: string])[] = [
  [
    'prefix',
    { image: 'corp.example:5000/x/kv-virt-operator:v1.9.0' },
    'virt-api',
    'corp.example:5000/x/kv-virt-api:v1.9.0',
  ],
  ['fixed image', { env: { VIRT_LAUNCHER_IMAGE: pinned } }, 'virt-launcher', pinned],
  [
    'empty variable',
    { env: { VIRT_LAUNCHER_IMAGE: '' } },
    'virt-launcher',
    'quay.io/kubevirt/virt-launcher:v1.9.0',
  ],
  [
    'checksum, up to v1.6',
    { to: 'v1.6.6', env: { VIRT_API_SHASUM: sum } },
    'virt-api',
    `quay.io/kubevirt/virt-api@${sum}`,
  ],
  [
    'operator by digest',
    { image: `quay.io/kubevirt/virt-operator@${sum}`, env: { KUBEVIRT_VERSION: 'v1.9.0' } },
    'virt-api',
    'quay.io/kubevirt/virt-api:v1.9.0',
  ],
  [
    'operator by digest, without a version',
    { image: `quay.io/kubevirt/virt-operator@${sum}` },
    'virt-api',
    'quay.io/kubevirt/virt-api:latest',
  ],
  [
    'imageRegistry',
    { spec: { imageRegistry: 'mirror.example' } },
    'virt-handler',
    'mirror.example/virt-handler:v1.9.0',
  ],
  [
    'imageRegistry, and what dumps the strategy: it loses the prefix',
    { image: 'corp.example/kv-virt-operator:v1.9.0', spec: { imageRegistry: 'mirror.example' } },
    'the install strategy',
    'mirror.example/virt-operator:v1.9.0',
  ],
  [
    'imageTag that kvup moves along',
    { spec: { imageTag: 'v1.8.4' } },
    'virt-api',
    'quay.io/kubevirt/virt-api:v1.9.0',
  ],
  [
    'image tag, with the operator that runs',
    { image: 'quay.io/kubevirt/virt-operator:v1.9.1', byTag: true },
    'virt-api',
    'quay.io/kubevirt/virt-api:v1.9.0',
  ],
  [
    'virt-template fixed',
    { to: 'v1.9.1', env: { VIRT_TEMPLATE_APISERVER_IMAGE: 'corp.example/t:1' } },
    'virt-template-apiserver',
    'corp.example/t:1',
  ],
  [
    'virt-template from a mirror',
    { spec: { imageRegistry: 'mirror.example' } },
    'virt-template-controller',
    'mirror.example/virt-template-controller:v0.2.2',
  ],
  [
    'virt-template of a release that is not known',
    { to: 'v1.9.1' },
    'virt-template-apiserver',
    'unknown: its tag is its own, and neither the manifest nor the release data says which',
  ],
]

test.each(derived)('C6 the image with %s', (_, shape, name, image) => {
  expect(byName(shape)[name]).toBe(image)
})

test('C6 with an image tag virt-operator itself stays', () => {
  expect(byName({ byTag: true })).not.toHaveProperty('virt-operator')
})

test('C6 a variable that is filled in from elsewhere is not guessed', () => {
  const deployment = operator({})
  deployment.spec?.template?.spec?.containers?.[0]?.env?.push({
    name: 'VIRT_API_IMAGE',
    valueFrom: { configMapKeyRef: { name: 'images', key: 'api' } },
  })
  const all = targetImages({
    installation: theInstallation(evidence()),
    releases: knownReleases,
    target: parseVersion('v1.9.0'),
    operator: deployment,
    replacesOperator: true,
  })
  expect(all.find(({ of }) => of === 'virt-api')).toMatchObject({
    unknown: 'VIRT_API_IMAGE of virt-operator is filled in from elsewhere',
  })
})

test('C6 an operator that says nothing leaves everything unknown', () => {
  expect(byName({ image: 'corp.example/operator:1', to: 'v1.8.4' })).toEqual({
    'virt-operator': 'corp.example/operator:1',
    'all components': 'unknown: virt-operator names no image',
  })
})

const always = ['virt-operator', 'the install strategy', 'virt-api', 'virt-controller', 'virt-handler']
const exporting = ['virt-exportproxy', 'virt-exportserver']
const templates = ['virt-template-apiserver', 'virt-template-controller']
const there: readonly (readonly [to: string, spec: object, more: readonly string[]])[] = [
  ['v1.8.4', {}, []],
  ['v1.8.4', gates('VMExport', 'Template'), [...exporting, ...templates]],
  ['v1.7.4', gates('Template'), []],
  ['v1.9.0', {}, [...exporting, ...templates]],
  [
    'v1.9.0',
    { configuration: { developerConfiguration: { disabledFeatureGates: ['Template', 'VMExport'] } } },
    [],
  ],
  ['v1.9.0', { configuration: { virtTemplateDeployment: { enabled: false } } }, exporting],
  ['v1.5.3', gates('DecentralizedLiveMigration', 'PersistentReservation'), ['pr-helper']],
  ['v1.6.6', gates('DecentralizedLiveMigration'), ['virt-synchronization-controller']],
  ['v1.8.4', gates('Sidecar'), ['sidecar-shim']],
]

test.each(there)('C6 what there is in %s with %j', (to, spec, more) => {
  expect(Object.keys(byName({ to, spec })).toSorted()).toEqual(
    [...always, 'virt-launcher', 'libguestfs-tools', ...more].toSorted(),
  )
})

test('C6 pull secrets and pull policy are those of the KubeVirt, of virt-operator those of its Deployment', () => {
  const all = images({ spec: { imagePullSecrets: [{ name: 'mirror' }], imagePullPolicy: 'Always' } })
  const own = all.filter(({ of }) => of === 'virt-operator').map(({ pulling }) => pulling)
  expect(own).toEqual([{ imagePullPolicy: 'IfNotPresent' }])
  const others = all.filter(({ of }) => of !== 'virt-operator').map(({ pulling }) => pulling)
  const wanted = { imagePullPolicy: 'Always', imagePullSecrets: [{ name: 'mirror' }] }
  expect(others).toEqual(others.map(() => wanted))
})
