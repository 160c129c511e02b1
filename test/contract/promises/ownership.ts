import { describe, expect, test } from 'vitest'
import { type KubeVirt, KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { type FieldOwner, ownersOfField, ownershipBack } from '../../../src/lib/kube/field-owners.ts'
import type { Backend } from '../contract-backend.ts'
import { kubeVirt, objectIn, refOf, refusal } from './objects.ts'

const pointer = '/spec/workloadUpdateStrategy/workloadUpdateMethods'
const strategy = (...workloadUpdateMethods: string[]) => ({
  workloadUpdateStrategy: { workloadUpdateMethods },
})
const whose = (object: KubeVirt) =>
  (ownersOfField(object, [pointer]) ?? []).map(({ manager, operation }) => `${manager} ${operation}`)

/** The way of a temporary change: somebody's field is taken by a patch, set back, and given to its owners by managedFields alone. */
export function ownershipPromises(backend: Backend): void {
  const { writer, reader } = {
    writer: () => backend().cluster.writer,
    reader: () => backend().cluster.reader,
  }
  const stored = async (of: KubeVirt) => objectIn(await reader().get(KubeVirts, refOf(of)))
  const apply = (of: KubeVirt, spec: KubeVirt['spec'], manager: string) =>
    writer().apply(KubeVirts, { ...of, ...(spec && { spec }) }, { manager })

  /** Pauses as kvup does, with an annotation, and sets back. */
  async function takenAndBack(of: KubeVirt, was: readonly string[]): Promise<readonly FieldOwner[]> {
    const owners = ownersOfField(await stored(of), [pointer]) ?? []
    const metadata = { annotations: { 'kvup.io/saved-x': '1' } }
    await writer().mergePatch(KubeVirts, refOf(of), { metadata, spec: strategy() })
    expect(whose(await stored(of))).toEqual(['kvup Update'])
    await writer().mergePatch(KubeVirts, refOf(of), { spec: strategy(...was) })
    return owners
  }

  async function given(of: KubeVirt, owners: readonly FieldOwner[]): Promise<KubeVirt> {
    const operations = ownershipBack(await stored(of), [pointer], owners)
    expect(operations.map(({ op, path }) => `${op} ${path}`)).toEqual([
      'test /metadata/resourceVersion',
      'replace /metadata/managedFields',
    ])
    return writer().jsonPatch(KubeVirts, refOf(of), [
      ...operations,
      { op: 'remove', path: '/metadata/annotations/kvup.io~1saved-x' },
    ])
  }

  describe('a field that kvup changed for a time', () => {
    test.each(['fleet', 'kustomize-controller', 'helm'])(
      'is again that of %s, which applies the same and another value without a conflict',
      async (manager) => {
        const made = kubeVirt(backend, {})
        const spec = { imageTag: 'v1.7.4', ...strategy('LiveMigrate') }
        await apply(made, spec, manager)
        const owners = await takenAndBack(made, ['LiveMigrate'])
        // Until then the next apply with another value is refused.
        expect((await refusal(apply(made, { ...spec, ...strategy('Evict') }, manager))).message).toContain(
          'kvup',
        )
        const after = await given(made, owners)
        expect(after.spec).toEqual(spec)
        expect(after.metadata.annotations ?? {}).toEqual({})
        expect(whose(after)).toEqual([`${manager} Apply`])
        expect((after.metadata.managedFields ?? []).map((one) => one.manager)).toEqual([manager])
        expect((await apply(made, spec, manager)).spec).toEqual(spec)
        const other = { ...spec, ...strategy('Evict') }
        expect((await apply(made, other, manager)).spec).toEqual(other)
        expect(
          (await apply(made, { imageTag: 'v1.7.4' }, manager)).spec?.workloadUpdateStrategy ?? {},
        ).toEqual({})
      },
    )

    test('is again that of who had patched nothing else, and whose entry was gone with it', async () => {
      const made = kubeVirt(backend, { imageTag: 'v1.7.4' })
      await apply(made, { imageTag: 'v1.7.4' }, 'fleet')
      await apply(made, strategy('LiveMigrate'), 'hand')
      const owners = await takenAndBack(made, ['LiveMigrate'])
      expect(owners).toMatchObject([{ manager: 'hand', operation: 'Apply', only: {} }])
      const after = await given(made, owners)
      expect(whose(after)).toEqual(['hand Apply'])
      expect((await refusal(apply(made, strategy('Evict'), 'fleet'))).message).toContain('hand')
      expect((await apply(made, strategy('Evict'), 'hand')).spec).toMatchObject(strategy('Evict'))
    })

    test('that two had is both of theirs again, and stays until both have let go', async () => {
      const made = kubeVirt(backend, {})
      const spec = { imageTag: 'v1.7.4', ...strategy('LiveMigrate') }
      await apply(made, spec, 'fleet')
      await apply(made, spec, 'helm')
      const after = await given(made, await takenAndBack(made, ['LiveMigrate']))
      expect([...whose(after)].sort()).toEqual(['fleet Apply', 'helm Apply'])
      expect((await apply(made, { imageTag: 'v1.7.4' }, 'fleet')).spec).toEqual(spec)
    })

    test('is not given where somebody wrote since it was read', async () => {
      const made = kubeVirt(backend, {})
      await apply(made, { imageTag: 'v1.7.4', ...strategy('LiveMigrate') }, 'fleet')
      const owners = await takenAndBack(made, ['LiveMigrate'])
      const operations = ownershipBack(await stored(made), [pointer], owners)
      await writer().mergePatch(KubeVirts, refOf(made), { metadata: { labels: { somebody: 'else' } } })
      expect((await refusal(writer().jsonPatch(KubeVirts, refOf(made), operations))).status).toBe(422)
      expect(whose(await stored(made))).toEqual(['kvup Update'])
    })

    test('has no owner where it had none: kvup alone lets go', async () => {
      const made = kubeVirt(backend, {})
      await apply(made, { imageTag: 'v1.7.4' }, 'fleet')
      await takenAndBack(made, ['LiveMigrate'])
      const after = await given(made, [])
      expect(whose(after)).toEqual([])
      expect(after.spec).toMatchObject(strategy('LiveMigrate'))
      expect((await apply(made, { imageTag: 'v1.7.4', ...strategy('Evict') }, 'fleet')).spec).toMatchObject(
        strategy('Evict'),
      )
    })
  })
}
