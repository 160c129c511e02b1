import { describe, expect, test } from 'vitest'
import {
  backupOf,
  changeOf,
  conflictFindings,
  isApplied,
  manifestChanges,
  ownershipPatch,
} from '../../../src/lib/manifests/apply-manifest.ts'
import { parseManifest } from '../../../src/lib/manifests/manifest.ts'
import { container, example, liveOperator, objectIn, owner } from './example.ts'

const { operator: wanted } = example()

describe('what an apply would change', () => {
  test('defaults that the server filled in are no difference', () => {
    expect(changeOf(wanted, liveOperator([]))).toMatchObject({ is: 'same', fields: [], conflicts: [] })
  })

  test('a field of another value is, by its path', () => {
    const live = liveOperator([], (d) => Object.assign(container(d), { image: 'x/virt-operator:v1.7.0' }))
    expect(changeOf(wanted, live).fields).toEqual(['spec.template.spec.containers[virt-operator].image'])
  })

  test('the order of variables and one more of them are not', () => {
    const live = liveOperator([], (d) => {
      container(d).env = [{ name: 'MINE', value: '1' }, ...(container(d).env ?? []).toReversed()]
    })
    expect(changeOf(wanted, live).is).toBe('same')
  })

  test('one more argument is: that list is one value', () => {
    const live = liveOperator([], (d) => container(d).args?.push('-v'))
    expect(changeOf(wanted, live).fields).toEqual(['spec.template.spec.containers[virt-operator].args'])
  })

  test('the same quantity in other words is no difference', () => {
    const live = liveOperator([], (d) =>
      Object.assign(container(d), { resources: { requests: { cpu: '0.01', memory: '460800Ki' } } }),
    )
    expect(changeOf(wanted, live).is).toBe('same')
  })

  test('what the server leaves out because it is empty is no difference', () => {
    const priority = objectIn(example(), 'PriorityClass')
    const { globalDefault: _, ...live } = priority as unknown as { globalDefault: boolean }
    expect(changeOf(priority, live as never).is).toBe('same')
  })

  test.each([owner('kvup', 'Apply'), owner('kubectl', 'Apply')])(
    'a field that an earlier apply has set and the manifest lacks goes: $manager',
    (before) => {
      const live = liveOperator([before], (d) => container(d).env?.push({ name: 'OLD', value: '1' }))
      expect(changeOf(wanted, live).fields).toEqual(['spec.template.spec.containers[virt-operator].env[OLD]'])
    },
  )

  test('after a client-side apply its annotation tells what goes', () => {
    const before = structuredClone(wanted)
    container(before).env?.push({ name: 'OLD', value: '1' })
    const live = liveOperator([owner('kubectl-client-side-apply', 'Update')], (d) => {
      container(d).env?.push({ name: 'OLD', value: '1' })
      d.metadata.annotations = {
        'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({
          ...before,
          metadata: { ...before.metadata, annotations: {} },
        }),
      }
    })
    expect(changeOf(wanted, live).fields).toEqual(['spec.template.spec.containers[virt-operator].env[OLD]'])
  })

  test('what the annotation remembers and somebody has removed since is no difference', () => {
    const before = structuredClone(wanted)
    container(before).env?.push({ name: 'OLD', value: '1' })
    const live = liveOperator([], (d) => {
      const annotation = JSON.stringify(before)
      d.metadata.annotations = { 'kubectl.kubernetes.io/last-applied-configuration': annotation }
    })
    expect(changeOf(wanted, live).is).toBe('same')
  })

  test('the rights that a role gains and loses', () => {
    const role = objectIn(example(), 'ClusterRole')
    const live = {
      ...role,
      rules: [
        {
          apiGroups: ['kubevirt.io'],
          resources: ['kubevirts', 'kubevirts/status'],
          verbs: ['get', 'delete'],
        },
      ],
    }
    expect(changeOf(role, live).rights).toEqual({
      gained: [
        'list kubevirts.kubevirt.io',
        'list kubevirts.kubevirt.io/status',
        'patch kubevirts.kubevirt.io',
        'patch kubevirts.kubevirt.io/status',
        'get pods',
      ],
      lost: ['delete kubevirts.kubevirt.io', 'delete kubevirts.kubevirt.io/status'],
    })
  })

  test('what is not there is created', async () => {
    const nothing = { get: async () => ({ is: 'absent' as const }) }
    const changes = await manifestChanges(nothing, example().objects)
    expect(changes.map(({ is }) => is)).toEqual(Array.from({ length: 7 }, () => 'created'))
    expect(isApplied(changes)).toBe(false)
  })
})

const old = (...managers: Parameters<typeof liveOperator>[0]) =>
  liveOperator(managers, (d) => Object.assign(container(d), { image: 'x/virt-operator:v1.7.0' }))

describe('ownership', () => {
  test.each(['kubectl-client-side-apply', 'kubectl', 'kubectl-edit', 'before-first-apply', 'kvup'])(
    '%s is overruled',
    (manager) => {
      expect(changeOf(wanted, old(owner(manager, 'Update'))).conflicts).toEqual([])
    },
  )

  test('anybody else is the blocker manifest-conflicts, by manager and field', () => {
    const [finding] = conflictFindings([changeOf(wanted, old(owner('argocd-controller', 'Apply')))])
    expect(finding).toMatchObject({ id: 'manifest-conflicts', level: 'blocker' })
    expect(finding?.summary).toContain(
      'argocd-controller has spec.template.spec.containers[virt-operator].image',
    )
    expect(finding?.objects).toEqual(['Deployment virt-operator'])
  })

  test('who owns only a field that stays the same is in nobody’s way', () => {
    const change = changeOf(wanted, liveOperator([owner('argocd-controller', 'Apply')]))
    expect(change).toMatchObject({ is: 'same', conflicts: [] })
  })

  test.each([
    [[], 'rules'],
    [[{ verbs: ['get'] }, { apiGroups: [''], resources: ['pods'], verbs: ['get'] }], 'rules[0].apiGroups'],
  ])('%#: who owns a list as a whole owns what is in it', (rules, first) => {
    const role = objectIn(example(), 'ClusterRole')
    const helm = { manager: 'helm', operation: 'Update', fieldsV1: { 'f:rules': {} } }
    const live = { ...role, rules, metadata: { ...role.metadata, managedFields: [helm] } }
    const [conflict] = changeOf(role, live).conflicts
    expect(conflict).toMatchObject({ manager: 'helm' })
    expect(conflict?.fields[0]).toBe(first)
  })

  test('the same key twice in a path is told apart', () => {
    const template = { manager: 'helm', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:template': {} } } }
    expect(changeOf(wanted, old(template)).conflicts).toHaveLength(1)
    const elsewhere = { manager: 'helm', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:selector': {} } } }
    expect(changeOf(wanted, old(elsewhere)).conflicts).toEqual([])
  })

  test('what the appliers own is given to kvup, other hands keep theirs', () => {
    const label = { manager: 'kubectl-label', operation: 'Update', fieldsV1: { 'f:metadata': {} } }
    const live = liveOperator([owner('kubectl-client-side-apply', 'Update'), label])
    const patch = ownershipPatch(live)
    expect(patch?.[0]).toEqual({ op: 'test', path: '/metadata/resourceVersion', value: '7' })
    expect(patch?.[1]).toMatchObject({
      op: 'replace',
      path: '/metadata/managedFields',
      value: [label, { manager: 'kvup', operation: 'Apply' }],
    })
    expect(ownershipPatch(liveOperator([owner('kvup', 'Apply'), label]))).toBeUndefined()
  })

  test('it is joined with what kvup owns already', () => {
    const own = { ...owner('kvup', 'Apply'), fieldsV1: { 'f:spec': { 'f:replicas': {} } } }
    const patch = ownershipPatch(liveOperator([own, owner('kubectl', 'Apply')]))
    const [, { value }] = patch as unknown as [unknown, { value: [{ fieldsV1: { 'f:spec': object } }] }]
    expect(value).toHaveLength(1)
    expect(Object.keys(value[0].fieldsV1['f:spec']).sort()).toEqual(['f:replicas', 'f:template'])
  })
})

test('the backup is the way back: what is replaced, clean, and how to apply it', () => {
  const live = liveOperator([owner('kubectl', 'Apply')], (d) =>
    Object.assign(container(d), { image: 'quay.io/kubevirt/virt-operator:v1.7.0' }),
  )
  const changes = [changeOf(objectIn(example(), 'PriorityClass'), undefined), changeOf(wanted, live)]
  const text = backupOf(changes, { file: "it's.yaml", from: 'v1.7.0', to: 'v1.8.4', uid: 'u-1' })
  expect(text).toContain(`-f 'it'\\''s.yaml'`)
  expect(text).toContain('# PriorityClass kubevirt-cluster-critical did not exist before.')
  const [saved, ...more] = parseManifest(text, 'backup')
  expect(more).toEqual([])
  expect(saved?.metadata).toEqual({
    labels: wanted.metadata.labels,
    name: 'virt-operator',
    namespace: 'kubevirt',
  })
  expect(JSON.stringify(saved)).toContain('virt-operator:v1.7.0')
  expect(text).not.toMatch(/managedFields|resourceVersion|status:/)
})
