import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Found, Reader, Ref } from '../../../../src/lib/kube/cluster.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'
import type { Kind, KubeObject } from '../../../../src/lib/kube/object.ts'
import type { ClusterServiceVersion, InstallPlan } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { planContents } from '../../../../src/lib/upgrade/methods/install-plan-contents.ts'
import fixture from './install-plan-contents.json' with { type: 'json' }

const csvName = (version: string) => `kubevirt-hyperconverged-operator.v${version}`
const crdName = 'hostpathprovisioners.hostpathprovisioner.kubevirt.io'

interface Brings {
  kubevirt?: string
  registry?: string
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[]
}

function csv(
  version: string,
  { kubevirt = 'v1.7.0', registry = 'quay.io/kubevirt', rules = [] }: Brings = {},
) {
  const containers = [
    {
      name: 'virt-operator',
      image: `${registry}/virt-operator:${version}`,
      env: [{ name: 'KUBEVIRT_VERSION', value: kubevirt }],
    },
  ]
  const object: ClusterServiceVersion = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name: csvName(version), namespace: 'openshift-cnv' },
    spec: {
      version,
      install: {
        spec: {
          deployments: [{ name: 'virt-operator', spec: { template: { spec: { containers } } } }],
          clusterPermissions: [{ serviceAccountName: 'a', rules }],
        },
      },
    },
  }
  return object
}

const crd = (versions: string[], storedVersions: string[] = []) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: crdName },
  spec: { versions: versions.map((name, i) => ({ name, served: true, storage: i === versions.length - 1 })) },
  status: { storedVersions },
})

const yaml = (object: KubeObject): string =>
  `# a file of a bundle\n${Object.entries(object)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join('\n')}\n`

type Packing = (text: string) => string
/** As the API shows what OLM has encoded itself. */
const twice: Packing = (text) => Buffer.from(gzipSync(text).toString('base64')).toString('base64')
const once: Packing = (text) => gzipSync(text).toString('base64')

const bundle = (files: Record<string, string>, kind: 'data' | 'binaryData' = 'binaryData') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'abc', namespace: 'olm' },
  [kind]: files,
})

const reference = JSON.stringify({ kind: 'ConfigMap', name: 'abc', namespace: 'olm', catalogSourceName: 'x' })

function plan(objects: readonly Pick<KubeObject, 'kind' | 'metadata'>[]): InstallPlan {
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'InstallPlan',
    metadata: { name: 'install-a', namespace: 'openshift-cnv' },
    spec: { clusterServiceVersionNames: [csvName('1.18.0')] },
    status: {
      phase: 'RequiresApproval',
      plan: objects.map(({ kind, metadata: { name } }) => ({
        resource: { kind, name, manifest: reference },
      })),
    },
  }
}

/** Has these; reading `forbidden` kinds is refused. */
function reader(objects: readonly KubeObject[], forbidden: readonly string[] = []): Reader {
  return {
    get: <T extends KubeObject>(kind: Kind<T>, { name }: Ref): Promise<Found<T>> => {
      if (forbidden.includes(kind.kind)) return Promise.reject(new ApiError(403, 'Forbidden', 'may not'))
      const object = objects.find((one) => one.kind === kind.kind && one.metadata.name === name)
      return Promise.resolve(object === undefined ? { is: 'absent' } : { is: 'object', object: object as T })
    },
  } as Partial<Reader> as Reader
}

const old = csv('1.17.3', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] })
const fresh = csv('1.18.0', {
  kubevirt: 'v1.8.4',
  registry: 'evil.example/kubevirt',
  rules: [{ apiGroups: ['', 'ssp.kubevirt.io'], resources: ['pods', 'secrets'], verbs: ['get'] }],
})
const definition = crd(['v1beta1', 'v1'])
const extra = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'webhook' } }
const present = crd(['v1alpha1', 'v1beta1'], ['v1alpha1', 'v1beta1'])

const files = (pack: Packing): Record<string, string> =>
  Object.fromEntries([fresh, definition, extra].map((object) => [`${object.kind}.yaml`, pack(yaml(object))]))

describe('what an InstallPlan installs, from its ConfigMap', () => {
  test.each([
    ['gzip and base64, as OLM writes it', bundle(files(twice))],
    ['gzip', bundle(files(once))],
    [
      'plain text',
      bundle(
        files((text) => text),
        'data',
      ),
    ],
  ])('%s: five lines', async (_name, map) => {
    const found = await planContents(reader([map, present]), plan([fresh, definition, extra]), [old])
    expect(found).toEqual(fixture.contents)
  })

  test('what does not change is not told', async () => {
    const same = crd(['v1beta1', 'v1'], ['v1'])
    const map = bundle(files(twice))
    const { lines, losses } = await planContents(reader([map, same]), plan([fresh, definition]), [fresh])
    expect(lines.join()).not.toContain('CRDs')
    expect(losses).toEqual([])
  })

  test('a version that is no longer served and still there loses nothing that is stored', async () => {
    const still = {
      ...definition,
      spec: {
        versions: [
          { name: 'v1alpha1', served: false },
          { name: 'v1beta1', served: true },
        ],
      },
    }
    const map = bundle({ a: twice(yaml(still)) })
    expect((await planContents(reader([map, present]), plan([still]), [])).losses).toEqual([])
  })
})

const spec = (part: object) => ({ ...fresh, spec: part })

describe('what cannot be read is said, and nothing is called unchanged', () => {
  test.each(fixture.unread as unknown as [string, KubeObject[], string[], string][])(
    '%s',
    async (_name, objects, forbidden, why) => {
      const found = await planContents(reader(objects, forbidden), plan([fresh, definition]), [old])
      expect(found.unread).toBe(true)
      expect(found.lines.at(-1)).toContain(`contents not checked: ${why}`)
      expect(found.lines.length).toBeLessThanOrEqual(5)
    },
  )

  test.each(fixture.odd as unknown as [string, object][])(
    'an object that nobody has checked: %s',
    async (_name, object) => {
      const map = bundle({ f: JSON.stringify(object) }, 'data')
      const { lines, unread } = await planContents(reader([map]), plan([extra]), [old])
      expect(unread).toBe(true)
      expect(lines.at(-1)).toMatch(/contents not checked: \S+ \S+ is not as the API has it$/u)
    },
  )

  test('what is null is as if it were not there, as in the API', async () => {
    const nulls = spec({
      relatedImages: [null],
      install: { spec: { deployments: [null], clusterPermissions: null } },
    })
    const found = await planContents(reader([bundle({ f: JSON.stringify(nulls) }, 'data')]), plan([fresh]), [
      old,
    ])
    expect(found.unread).toBe(false)
  })

  test('an object that is nested in a hundred thousand levels', async () => {
    const deep = `{"kind":"ClusterServiceVersion","metadata":{"name":"x"},"spec":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_001)}`
    const found = await planContents(reader([bundle({ f: deep }, 'data')]), plan([extra]), [])
    expect(found.lines.at(-1)).toContain('ClusterServiceVersion x is not as the API has it')
  })

  test('of ten thousand CRDs two hundred are compared, and names of a megabyte are cut', async () => {
    const named = Array.from({ length: 10_000 }, (_, i) => ({ ...definition, metadata: { name: `c${i}` } }))
    const many = plan([])
    const manifests = named.map((object) => ({ resource: { manifest: JSON.stringify(object) } }))
    const steps = [...manifests, { resource: { kind: 'Service', name: 'y'.repeat(1_000_000) } }]
    const asked: string[] = []
    const counting: Reader = {
      ...reader([]),
      get: (kind, ref) => (asked.push(ref.name), reader([]).get(kind, ref)),
    }
    const found = await planContents(counting, { ...many, status: { ...many.status, plan: steps } }, [])
    expect(asked).toHaveLength(200)
    expect(found.lines.at(-1)).toContain('it has 10000 CRDs')
    expect(Math.max(...found.lines.map((line) => line.length))).toBeLessThan(1000)
  })

  test('CRDs that may not be read are not compared', async () => {
    const map = bundle(files(twice))
    const kinds = ['CustomResourceDefinition']
    const { lines, losses } = await planContents(reader([map], kinds), plan([fresh, definition]), [old])
    expect(lines.join()).toContain(`${crdName} with v1beta1, v1 (not compared)`)
    expect(losses).toEqual([])
  })
})

describe('what a bundle holds and does not say', () => {
  test('a CSV that the plan does not name', async () => {
    const map = bundle({ a: yaml(fresh), b: yaml(csv('6.6.6')) }, 'data')
    expect((await planContents(reader([map]), plan([fresh]), [old])).hidden).toEqual([csvName('6.6.6')])
  })

  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'helper' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  }
  test('a binding to a role that is no part of it, unless it is there already', async () => {
    const map = bundle({ a: yaml(csv('1.18.0')), b: yaml(binding) }, 'data')
    const rights = async (there: readonly KubeObject[]) =>
      (await planContents(reader([map, ...there]), plan([fresh]), [old])).lines.filter((line) =>
        /rights/u.test(line),
      )
    expect(await rights([])).toEqual(['new cluster-wide rights: all of ClusterRole cluster-admin'])
    expect(await rights([binding])).toEqual([])
  })
})
