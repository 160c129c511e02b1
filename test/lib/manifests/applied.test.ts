import { describe, expect, test } from 'vitest'
import { applied } from '../../../src/lib/kube/server-side-apply.ts'
import type { CustomResourceDefinition, Role } from '../../../src/lib/kube/kinds/extension-kinds.ts'
import type { FieldChange } from '../../../src/lib/kube/field-changes.ts'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import {
  applyManifest,
  changeOf,
  isApplied,
  liveOf,
  manifestChanges,
} from '../../../src/lib/manifests/apply-manifest.ts'
import { kindOf, type Manifest } from '../../../src/lib/manifests/manifest.ts'
import { Recording, dryRunningBy } from '../../../src/lib/engine/procedure-dry-run.ts'
import { changedFields } from '../../../src/lib/engine/dry-run-change.ts'
import { storeCluster } from '../../../src/simulator/api/store-client.ts'
import { Store } from '../../../src/simulator/api/store.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { container, example, liveOperator, objectIn, owner } from './example.ts'

/** The release before: another image, a variable and an argument that the new one no longer has. */
function older(): Manifest {
  const manifest = example((text) => text.replaceAll('v1.8.4', 'v1.7.0'))
  container(manifest.operator).env?.push({ name: 'OLD', value: '1' })
  container(manifest.operator).args?.push('--old')
  const role = objectIn(manifest, 'ClusterRole') as KubeObject & { rules: unknown[] }
  role.rules.pop()
  return manifest
}

/** As `kubectl apply` without `--server-side` leaves it. */
async function appliedClientSide(store: Store, object: KubeObject): Promise<void> {
  const { writer } = storeCluster(store, { fieldManager: 'kubectl-client-side-apply' })
  const annotations = {
    'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({
      ...object,
      metadata: { ...object.metadata, annotations: {} },
    }),
  }
  await writer.create(kindOf(object), { ...object, metadata: { ...object.metadata, annotations } })
}

async function installedBy(...managers: string[]) {
  const store = new Store(new SimClock())
  const cluster = storeCluster(store)
  for (const manager of managers)
    for (const object of older().objects)
      await (manager === 'kubectl-client-side-apply'
        ? appliedClientSide(store, object)
        : cluster.writer.apply(kindOf(object), object, { manager, force: true }))
  return cluster
}

const modes = ['client', 'server'] as const
const managers = ['kubectl', 'kvup', 'kubectl-client-side-apply']
const cases = modes.flatMap((mode) => managers.map((manager) => [mode, manager] as const))

test.each(cases)(
  'the %s’s dry run of a manifest is what applying it does: installed by %s',
  async (mode, manager) => {
    const { reader, writer, reviewer } = await installedBy(manager)
    const { objects } = example()
    const recording = new Recording(reader, (observed) => dryRunningBy(mode, reviewer, observed))
    await applyManifest(objects, recording)
    const before = await Promise.all(objects.map((object) => liveOf(reader, object)))
    await applyManifest(objects, { reader, writer })
    const after = await Promise.all(objects.map((object) => liveOf(reader, object)))
    const really = before.flatMap((was, index) => {
      const fields = changedFields(was, after[index]).filter((field) => !isDefault(field))
      return fields.length === 0 ? [] : [{ kind: was?.kind, fields }]
    })
    expect(really.map(({ kind }) => kind)).toEqual(['ClusterRole', 'Deployment'])
    const dryRunSteps = recording.changes.map(({ object: { kind }, fields }) => ({
      kind,
      fields: sorted(fields),
    }))
    expect(dryRunSteps).toEqual(really.map(({ kind, fields }) => ({ kind, fields: sorted(fields) })))
    expect(recording.changes.every(({ by }) => by === mode)).toBe(true)
    const paths = dryRunSteps.flatMap(({ fields }) => fields.map(({ path }) => path))
    expect(paths).toEqual(
      expect.arrayContaining(['rules[get pods]', expect.stringMatching(/env\[OLD\]\.value$/u)]),
    )
  },
)

const sorted = (fields: readonly FieldChange[]) => fields.toSorted((a, b) => (a.path < b.path ? -1 : 1))

/** The simulated server fills defaults in when an object is made, and not again where a takeover drops them; the real one does. */
const isDefault = ({ path }: FieldChange) => path.startsWith('spec.strategy.')

describe('what an apply makes of the live object, worked out here', () => {
  test('a new variable comes to those that are there, and a person’s stays', () => {
    const live = liveOperator([owner('kvup', 'Apply')], (d) => {
      container(d).env = [
        { name: 'MINE', value: '1' },
        { name: 'OLD', value: '1' },
      ]
    })
    const names = container(applied(example().operator, live)).env?.map(({ name }) => name)
    expect(names?.slice(0, 1)).toEqual(['MINE'])
    expect(names).not.toContain('OLD')
    expect(names).toEqual(expect.arrayContaining(container(example().operator).env!.map(({ name }) => name)))
  })

  test('a list without keys is replaced as a whole', () => {
    const wanted = structuredClone(example().operator)
    const live = liveOperator([owner('kvup', 'Apply')])
    const pod = (deployment: typeof wanted) => deployment.spec?.template?.spec as { tolerations?: object[] }
    pod(wanted).tolerations = [{ key: 'b' }]
    pod(live).tolerations = [{ key: 'a', tolerationSeconds: 5 }]
    expect(pod(applied(wanted, live)).tolerations).toStrictEqual([{ key: 'b' }])
  })

  test('the live object is left as it is', () => {
    const live = liveOperator([owner('kvup', 'Apply')], (d) =>
      container(d).env?.push({ name: 'OLD', value: '1' }),
    )
    const copy = structuredClone(live)
    applied(example().operator, live)
    expect(live).toEqual(copy)
  })
})

test('what somebody else owns as well stays, and is not waited for', async () => {
  const { reader, writer } = await installedBy('kubectl', 'helm')
  const { objects } = example()
  await applyManifest(objects, { reader, writer })
  const live = await liveOf(reader, example().operator)
  expect(container(live as never).env?.map(({ name }) => name)).toContain('OLD')
  expect(isApplied(await manifestChanges(reader, objects))).toBe(true)
})

test('a rule that is no longer limited, and a field that a schema no longer has, are differences', () => {
  const role = objectIn(example(), 'ClusterRole') as Role
  const limited = structuredClone(role)
  Object.assign(limited.rules?.[0] ?? {}, { resourceNames: ['kubevirt'] })
  expect(changeOf(role, limited)).toMatchObject({ is: 'changed', fields: ['rules[0].resourceNames'] })
  expect(applied(role, limited)).toEqual(role)

  const crd = objectIn(example(), 'CustomResourceDefinition') as CustomResourceDefinition
  const before = structuredClone(crd)
  const more = { openAPIV3Schema: { type: 'object', properties: { gone: { type: 'string' } } } }
  Object.assign(before.spec?.versions?.[0] ?? {}, { schema: more })
  expect(changeOf(crd, before).is).toBe('changed')
  expect(applied(crd, before)).toEqual(crd)
})
