import { describe, expect, test } from 'vitest'
import type {
  CustomResourceDefinition,
  Role,
  RoleBinding,
} from '../../../src/lib/kube/kinds/extension-kinds.ts'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { changeOf } from '../../../src/lib/manifests/apply-manifest.ts'
import { manifestDiff } from '../../../src/lib/manifests/manifest-diff.ts'
import { changedFields } from '../../../src/lib/engine/dry-run-change.ts'
import { container, example, liveOperator, objectIn } from './example.ts'
import fixture from './manifest-diff.json' with { type: 'json' }

const source = { origin: 'example.yaml', sha256: 'ab12' }
const rbac = 'rbac.authorization.k8s.io/v1'

type Pair = [wanted: KubeObject, live: KubeObject | undefined]
const diffOf = (pairs: readonly Pair[], left: readonly KubeObject[] = []) =>
  manifestDiff(
    pairs.map(([wanted, live]) => changeOf(wanted, live)),
    left,
    source,
  )

describe('objects', () => {
  test('those that are new or change, in their order; what is the same is left out', () => {
    const { objects } = example()
    const live = liveOperator([], (d) => Object.assign(container(d), { image: 'old' }))
    const same = objectIn(example(), 'Namespace')
    const priority = objectIn(example(), 'PriorityClass')
    const { operator } = example()
    expect(objects).toContainEqual(same)
    const pairs: Pair[] = [
      [same, same],
      [priority, undefined],
      [operator, live],
    ]
    const left = { apiVersion: rbac, kind: 'ClusterRole', metadata: { name: 'kubevirt-old' } }
    expect(diffOf(pairs, [left])).toMatchObject({
      ...source,
      objects: [
        { kind: 'PriorityClass', name: 'kubevirt-cluster-critical', is: 'created' },
        { kind: 'Deployment', namespace: 'kubevirt', name: 'virt-operator', is: 'changed' },
      ],
      rights: [],
      crds: [],
      left: ['ClusterRole kubevirt-old'],
    })
  })

  test('everything is there already', () => {
    const all = example().objects.map((object): Pair => [object, object])
    expect(diffOf(all)).toMatchObject({ objects: [], rights: [], crds: [], left: [] })
  })
})

const role = (name: string, ...rights: string[]): Role => ({
  apiVersion: rbac,
  kind: 'ClusterRole',
  metadata: { name },
  rules: rights.map((right) => {
    const [verb = '', resource = ''] = right.split(' ')
    return { apiGroups: [''], resources: [resource], verbs: [verb] }
  }),
})

const namespaced = (of: Role): Role => ({
  ...of,
  kind: 'Role',
  metadata: { ...of.metadata, namespace: 'kubevirt' },
})

const binding = (name: string, to: string, kind = 'ClusterRole'): RoleBinding => ({
  apiVersion: rbac,
  kind: `${kind}Binding`,
  metadata: { name, ...(kind === 'Role' && { namespace: 'kubevirt' }) },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: to },
  subjects: [{ kind: 'ServiceAccount', name: 'kubevirt-operator', namespace: 'kubevirt' }],
})

const same = (object: KubeObject): Pair => [object, object]
const operator = same(example().operator)

describe('C3: rights that the running operator loses before it is replaced', () => {
  const own = role('own', 'get pods', 'list nodes')
  const before = role('own', 'get pods', 'patch virtualmachineinstances')

  test('by the binding of the account of its pods', () => {
    const { rights, unseen } = diffOf([[own, before], same(binding('b', 'own')), operator])
    expect(rights).toEqual([
      {
        kind: 'ClusterRole',
        role: 'own',
        gained: ['list nodes'],
        lost: ['patch virtualmachineinstances'],
        lostWhileRunning: ['patch virtualmachineinstances'],
      },
    ])
    expect(unseen).toContain('virt-handler')
  })

  test.each<[string, Pair[], KubeObject[], string[]]>([
    ['of a role that it does not have', [[own, before], operator], [], []],
    [
      'that another of its roles holds',
      [
        [own, before],
        same(binding('b', 'own')),
        same(role('more', 'patch virtualmachineinstances')),
        same(binding('c', 'more')),
        operator,
      ],
      [],
      [],
    ],
    [
      'that a wildcard covers now',
      [[role('own', '* virtualmachineinstances', 'get pods'), before], same(binding('b', 'own')), operator],
      [],
      [],
    ],
    [
      'that a role holds which the manifest leaves where it is',
      [[own, before], same(binding('b', 'own')), operator],
      [role('old', 'patch virtualmachineinstances'), binding('c', 'old')],
      [],
    ],
    [
      'of a role in its namespace that a ClusterRole holds everywhere',
      [
        [namespaced(role('here', 'get pods')), namespaced(role('here', 'get pods', 'get secrets'))],
        same(binding('c', 'here', 'Role')),
        same(role('all', 'get secrets')),
        same(binding('b', 'all')),
        operator,
      ],
      [],
      [],
    ],
  ])('%s', (_, pairs, left, lostWhileRunning) => {
    const [first] = diffOf(pairs, left).rights
    expect(first?.lost).toHaveLength(1)
    expect(first?.lostWhileRunning).toEqual(lostWhileRunning)
    expect(first).not.toHaveProperty('narrowed')
  })

  test('that it holds in its own namespace only from then on: narrowed, and not lost', () => {
    const pairs: Pair[] = [
      [own, before],
      same(binding('b', 'own')),
      same(namespaced(role('here', 'patch virtualmachineinstances'))),
      same(binding('c', 'here', 'Role')),
      operator,
    ]
    expect(diffOf(pairs).rights[0]).toMatchObject({
      lost: [],
      lostWhileRunning: [],
      narrowed: ['patch virtualmachineinstances'],
    })
  })
})

test('the fields of a role are its rights, whichever rules they stand in', () => {
  const before = role('a', 'get pods', 'get nodes')
  const after = role('a', 'list secrets', 'get nodes')
  expect(changedFields(before, after)).toEqual([
    { path: 'rules[get pods]', from: true },
    { path: 'rules[list secrets]', to: true },
  ])
  expect(changedFields(role('a', 'get pods', 'get nodes'), role('a', 'get nodes', 'get pods'))).toEqual([])
})

const schema = (properties: object, more: object = {}) => ({
  openAPIV3Schema: { type: 'object', ...more, properties },
})

type Versions = NonNullable<NonNullable<CustomResourceDefinition['spec']>['versions']>
const crd = (...versions: Versions): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'kubevirts.kubevirt.io' },
  spec: { versions },
})
const version = (name: string, stored: boolean, properties: object): Versions[number] => ({
  name,
  served: true,
  storage: stored,
  schema: schema(properties),
})

const text = { type: 'string' }
describe('CRDs', () => {
  test('versions that come and go, and the stored one', () => {
    const before = crd(version('v1alpha3', true, { a: text }), version('v1', false, { a: text }))
    const after = crd(version('v1', true, { a: text }), version('v2', false, { a: text }))
    expect(diffOf([[after, before]]).crds).toEqual([
      {
        name: 'kubevirts.kubevirt.io',
        versionsAdded: ['v2'],
        versionsRemoved: ['v1alpha3'],
        storageFrom: 'v1alpha3',
        storageTo: 'v1',
        schemas: [],
      },
    ])
  })

  test('a new one has no version before it', () => {
    expect(diffOf([[crd(version('v1', true, { a: text })), undefined]]).crds).toEqual([
      { name: 'kubevirts.kubevirt.io', versionsAdded: ['v1'], versionsRemoved: [], schemas: [] },
    ])
  })

  test.each(fixture.schemas as unknown as [string, object, object, [from: string, to: string]][])(
    'fields of the API: %s',
    (_, before, after, [from, to]) => {
      const [was, is] = [crd(version('v1', true, before)), crd(version('v1', true, after))]
      expect(diffOf([[is, was]]).crds[0]?.schemas).toEqual([{ version: 'v1', from, to }])
      const path = 'spec.versions[v1].schema'
      expect(changedFields(was, is)).toEqual([{ path, from, to }])
    },
  )

  test('the order of members is no change', () => {
    const one = crd({ ...version('v1', true, {}), schema: schema({ a: text }, { x: 1, y: 2 }) })
    const other = crd({ ...version('v1', true, {}), schema: schema({ a: text }, { y: 2, x: 1 }) })
    expect(changedFields(one, other)).toEqual([])
  })

  test('a version that is new or gone is told with the number of its fields', () => {
    const [one, two] = [version('v1', true, { a: text }), version('v2', false, { a: text, b: text })]
    expect(changedFields(crd(one), crd(one, two))).toEqual([
      { path: 'spec.versions[v2].name', to: 'v2' },
      { path: 'spec.versions[v2].served', to: true },
      { path: 'spec.versions[v2].storage', to: false },
      { path: 'spec.versions[v2].schema', to: '2 fields' },
    ])
    expect(changedFields(crd(one, two), crd(one))).toContainEqual({
      path: 'spec.versions[v2].schema',
      from: '2 fields',
    })
  })
})
