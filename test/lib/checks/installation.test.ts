import { describe, expect, test } from 'vitest'
import type { Check } from '../../../src/lib/checks/check-definition.ts'
import {
  lastAppliedSize,
  oneKubeVirt,
  settledNow,
} from '../../../src/lib/checks/groups/installation-checks.ts'
import {
  crdStoredVersions,
  imagesPinned,
  operatorNotOlder,
} from '../../../src/lib/checks/groups/target-checks.ts'
import {
  customizeComponents,
  fieldOwners,
  foreignEdits,
} from '../../../src/lib/checks/groups/customization-checks.ts'
import type { ManagedField } from '../../../src/lib/kube/object.ts'
import type { Cause } from '../../../src/lib/kubevirt/diagnosis/pod-trouble.ts'
import type { FullSnapshot } from '../../../src/lib/kubevirt/full-snapshot.ts'
import { itemsOf } from '../../../src/lib/kube/known.ts'
import { ask, crd, evidence, known, question, said, unread, withSpec } from './evidence.ts'
import fixture from './installation.json' with { type: 'json' }

const to = (check: Check, found: FullSnapshot, more: object = {}) =>
  said(ask(check, { snapshot: found, target: 'v1.9.0', ...more }).findings)

const patched = (patch: string, type = 'strategic', resourceName = 'virt-api') =>
  withSpec({
    customizeComponents: { patches: [{ resourceName, resourceType: 'Deployment', type, patch }] },
  })

const exporting = (...stored: string[]) =>
  evidence({
    crds: known(crd('virtualmachineexports', 'export.kubevirt.io', ['v1beta1', 'v1alpha1'], stored)),
  })

const editedBy = (who: string, subresource?: string) => {
  const found = evidence()
  const [handler] = itemsOf(found.daemonsets)
  const fieldsV1 = {
    'f:spec': {
      'f:template': {
        'f:spec': { 'f:containers': { 'k:{"name":"virt-handler"}': { 'f:resources': {} } } },
      },
    },
  }
  Object.assign(handler?.metadata ?? {}, {
    managedFields: [
      { manager: 'virt-operator', fieldsV1: {} },
      { manager: who, fieldsV1, ...(subresource && { subresource }) },
    ],
  })
  return found
}

test('healthy-now', () => {
  expect(ask(settledNow).is).toBe('passed')
  const { rolloutStatus } = question()
  const updating = {
    ...rolloutStatus,
    verdict: 'Updating',
    target: { version: 'v1.9.0' },
    waitingFor: 'virt-handler: 1/3 updated',
  } as const
  expect(ask(settledNow, { rolloutStatus: updating }).findings).toMatchObject([
    { level: 'blocker', summary: 'KubeVirt is Updating: waiting for virt-handler: 1/3 updated' },
  ])
  expect(said(ask(settledNow, { rolloutStatus: updating, target: 'v1.9.0' }).findings)).toEqual([
    'info healthy-now',
  ])
  // Neither where to nor from where is known: that is no joining.
  const { waitingFor } = updating
  const unknown = { ...rolloutStatus, verdict: 'Updating', target: {}, waitingFor } as const
  expect(said(ask(settledNow, { rolloutStatus: unknown }).findings)).toEqual(['blocker healthy-now'])
  expect(ask(settledNow, { snapshot: evidence({ pods: unread }) }).is).toBe('not-checked')
})

test.each<[string | null, string[], string]>(fixture.settled as never)(
  'healthy-now, to %s, with %s in the way: %s',
  (target, kinds, level) => {
    const why = kinds.map((kind) => ({ kind, sentence: kind, commands: [] }) as unknown as Cause)
    const rolloutStatus = { ...question().rolloutStatus, verdict: 'Stalled', why } as const
    expect(said(ask(settledNow, { rolloutStatus, ...(target && { target }) }).findings)).toEqual([
      `${level} healthy-now`,
    ])
  },
)

const entry = (manager: string, operation: string, fieldsV1: ManagedField['fieldsV1'], more: object = {}) =>
  ({ manager, operation, fieldsV1, ...more }) as ManagedField
const methods = { 'f:spec': { 'f:workloadUpdateStrategy': { 'f:workloadUpdateMethods': {} } } }
const applied = entry('argocd-controller', 'Apply', { 'f:spec': { 'f:imageTag': {} } })
const ownedBy = (...managedFields: ManagedField[]) => {
  const { installation } = question()
  const { kubevirt } = installation
  const metadata = { ...kubevirt.metadata, managedFields, resourceVersion: '7' }
  return ask(fieldOwners, { installation: { ...installation, kubevirt: { ...kubevirt, metadata } } }).findings
}

describe('field-owners', () => {
  test('a patch of the methods under server-side apply, with the patch that gives the field back', () => {
    const [finding] = ownedBy(applied, entry('kubectl-patch', 'Update', methods))
    expect(finding?.summary).toContain('kubectl-patch owns spec.workloadUpdateStrategy.workloadUpdateMethods')
    expect(finding?.remedy[1]).toContain(
      '[{"op":"test","path":"/metadata/resourceVersion","value":"7"},{"op":"remove","path":"/metadata/managedFields/1"}]',
    )
  })

  test('an entry that owns more is not taken away', () => {
    const more = { 'f:spec': { ...methods['f:spec'], 'f:infra': { 'f:replicas': {} } } }
    expect(ownedBy(applied, entry('kubectl-edit', 'Update', more))[0]?.remedy).toHaveLength(1)
  })

  test.each<[string, ManagedField[]]>(fixture.owned as never)('nothing where %s', (_, fields) => {
    expect(ownedBy(...fields)).toEqual([])
  })
})

test('one-kubevirt names the one that nobody follows', () => {
  const found = evidence()
  const [one] = itemsOf(found.kubevirts)
  if (one === undefined) throw new Error('no KubeVirt')
  const asked = question()
  const second = { ...one, metadata: { ...one.metadata, namespace: 'virt', uid: 'other' } }
  const both = evidence({ kubevirts: known(one, second) })
  expect(ask(oneKubeVirt).is).toBe('passed')
  const { uid: _, ...metadata } = one.metadata
  const ofFile = evidence({ kubevirts: known({ ...one, metadata }) })
  expect(ask(oneKubeVirt, { snapshot: ofFile, installation: asked.installation }).is).toBe('passed')
  expect(
    ask(oneKubeVirt, { snapshot: both, installation: asked.installation, rolloutStatus: asked.rolloutStatus })
      .findings,
  ).toMatchObject([
    {
      level: 'blocker',
      objects: ['kubevirt/virt/kubevirt'],
      remedy: [expect.stringMatching(/^delete virt\/kubevirt by hand, and only it: /u)],
    },
  ])
})

test.each<['image-tag' | 'operator-manifest', string, string[]]>(fixture.operators as never)(
  'operator-not-older: %s to %s',
  (method, target, findings) => {
    expect(said(ask(operatorNotOlder, { method, target }).findings)).toEqual(findings)
  },
)

test('operator-not-older: a tag that is pinned while an operator before v1.7 comes', () => {
  const found = JSON.parse(
    JSON.stringify(withSpec({ imageTag: 'v1.5.0' })).replaceAll('v1.8.4', 'v1.5.3'),
  ) as FullSnapshot
  expect(to(operatorNotOlder, found, { target: 'v1.6.6' })).toEqual(['blocker pinned-tag'])
  expect(to(operatorNotOlder, withSpec({ imageTag: 'v1.8.4' }))).toEqual([])
})

test('images-pinned matters to image-tag alone', () => {
  const found = evidence()
  const env = itemsOf(found.operators)[0]?.spec?.template?.spec?.containers?.[0]?.env
  env?.push({ name: 'VIRT_API_IMAGE', value: 'quay.io/kubevirt/virt-api@sha256:1' })
  expect(to(imagesPinned, found)).toEqual([])
  expect(to(imagesPinned, found, { method: 'image-tag' })).toEqual(['blocker images-pinned'])
  expect(to(imagesPinned, evidence(), { method: 'image-tag' })).toEqual([])
})

describe('customize-components', () => {
  test.each([
    [
      'an image',
      patched('{"spec":{"template":{"spec":{"containers":[{"name":"virt-api","image":"x:v1.8.4"}]}}}}'),
      'blocker',
    ],
    [
      'an image by JSON patch',
      patched('[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"x"}]', 'json'),
      'blocker',
    ],
  ])('%s', (_, found, level) => {
    expect(to(customizeComponents, found)).toEqual([`${level} customize-components`])
  })
})

describe('crd-stored-versions', () => {
  test('the only one that is stored is replaced by the one that will be', () => {
    const { findings } = ask(crdStoredVersions, { snapshot: exporting('v1alpha1'), target: 'v1.9.0' })
    expect(findings[0]?.remedy[1]).toContain('to v1beta1: ')
  })
  test('while it is what new objects are stored as, writing them again would not help', () => {
    const found = evidence({
      crds: known(
        crd('virtualmachineexports', 'export.kubevirt.io', ['v1alpha1', 'v1beta1'], ['v1alpha1', 'v1beta1']),
      ),
    })
    expect(ask(crdStoredVersions, { snapshot: found, target: 'v1.9.0' }).findings[0]?.remedy).toEqual([
      'upgrade over a release that stores another version than v1alpha1: kvup releases',
    ])
  })
  test('passes where it is not stored, or not dropped yet', () => {
    expect(to(crdStoredVersions, exporting('v1beta1'))).toEqual([])
    expect(to(crdStoredVersions, exporting('v1alpha1', 'v1beta1'), { target: 'v1.8.5' })).toEqual([])
  })
  test('the manifest decides for the CRD that it brings', () => {
    const found = evidence({
      crds: known(crd('kubevirts', 'kubevirt.io', ['v1', 'v1alpha3'], ['v1alpha3', 'v1'])),
    })
    expect(to(crdStoredVersions, found, { manifest: [crd('kubevirts', 'kubevirt.io', ['v1'])] })).toEqual([
      'blocker crd-stored-versions',
    ])
    expect(
      to(crdStoredVersions, found, { manifest: [crd('kubevirts', 'kubevirt.io', ['v1', 'v1alpha3'])] }),
    ).toEqual([])
  })
  test('what is stored and comes with a later release closes the way back', () => {
    const found = evidence({
      crds: known(crd('virtualmachineexports', 'export.kubevirt.io', ['v1', 'v1beta1'], ['v1beta1', 'v1'])),
    })
    expect(said(ask(crdStoredVersions, { snapshot: found, target: 'v1.8.4' }).findings)).toEqual([
      'blocker no-way-back',
    ])
    expect(to(crdStoredVersions, found)).toEqual([])
  })
})

test.each([
  [0, []],
  [241_714, []],
  [255_000, ['warning last-applied-size']],
])('last-applied-size: %i bytes', (size, findings) => {
  const big = crd('kubevirts', 'kubevirt.io', ['v1'])
  big.metadata.annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(size) }
  expect(to(lastAppliedSize, evidence({ crds: known(big) }))).toEqual(findings)
})

describe('foreign-edits', () => {
  test.each([
    ['virt-operator', undefined],
    ['kube-controller-manager', 'status'],
    ['k3s', 'status'],
  ])('%s is expected', (name, subresource) => {
    expect(ask(foreignEdits, { snapshot: editedBy(name, subresource) }).is).toBe('passed')
  })
})
