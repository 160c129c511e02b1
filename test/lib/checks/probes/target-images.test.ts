import { expect, test } from 'vitest'
import type { Deployment } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { theInstallation } from '../../../../src/lib/kubevirt/installation.ts'
import { targetImages } from '../../../../src/lib/checks/probes/target-images.ts'
import { knownReleases } from '../../../../src/lib/releases/releases.ts'
import { parseVersion } from '../../../../src/lib/releases/release-versions.ts'
import { evidence, withSpec } from '../evidence.ts'
import fixture from './target-images.json' with { type: 'json' }

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

test('C6 a release as it is: everything by its tag, virt-template by its own', () => {
  expect(byName({})).toEqual(fixture.byTag)
})

const derived = fixture.derived as unknown as (readonly [
  what: string,
  shape: Shape,
  name: string,
  image: string,
])[]

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
const there = fixture.there as unknown as (readonly [to: string, spec: object, more: readonly string[]])[]

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
