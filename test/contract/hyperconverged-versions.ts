import { expect, test } from 'vitest'
import type { Cluster, DeepPartial } from '../../src/lib/kube/cluster.ts'
import { atVersion } from '../../src/lib/kube/object.ts'
import { type HyperConverged, HyperConvergeds } from '../../src/lib/kube/kinds/operator-kinds.ts'

type Version = 'v1beta1' | 'v1'

/** A server with the CRD of HyperConverged and nobody who acts on it. */
export interface WithHyperConverged {
  cluster: Cluster
  namespace: string
  stored: Version
}

const missing = 'no such field'

function methodsAt(object: HyperConverged, version: Version): unknown {
  const top: Record<string, unknown> = { ...object.spec }
  const place = version === 'v1' ? (top['virtualization'] as typeof top | undefined) : top
  const strategy = place?.['workloadUpdateStrategy'] as { workloadUpdateMethods?: unknown } | undefined
  return strategy === undefined ? missing : strategy.workloadUpdateMethods
}

/**
 * What the server makes of what is written, as it was seen on the real one with the real CRDs. The simulator keeps the same.
 * `other` is served as well, with nobody who converts.
 */
export function hyperConvergedPromises(
  other: Version | undefined,
  open: () => Promise<WithHyperConverged>,
): void {
  let started: Promise<WithHyperConverged> | undefined
  let made = 0
  const at = async () => {
    const { cluster, namespace, stored } = await (started ??= open())
    const kind = atVersion(HyperConvergeds, stored)
    const below = (strategy: unknown) =>
      stored === 'v1'
        ? { virtualization: { workloadUpdateStrategy: strategy } }
        : { workloadUpdateStrategy: strategy }
    const create = async (spec: Record<string, unknown> | undefined) => {
      const name = `kubevirt-hyperconverged-${++made}`
      const object = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name, namespace } }
      await cluster.writer.create(kind, spec === undefined ? object : { ...object, spec })
      return { name, namespace }
    }
    const read = async (ref: { name: string; namespace: string }, version: Version = stored) => {
      const found = await cluster.reader.get(atVersion(HyperConvergeds, version), ref)
      if (found.is !== 'object') throw new Error(`no ${ref.name}`)
      return methodsAt(found.object, version)
    }
    return { cluster, kind, below, create, read, stored }
  }

  test.each([
    ['without a spec', undefined, ['LiveMigrate']],
    ['with an empty spec', {}, ['LiveMigrate']],
  ])('created %s it migrates', async (_, spec, methods) => {
    const { create, read } = await at()
    expect(await read(await create(spec))).toEqual(methods)
  })

  test.each([
    ['{}', {}, ['LiveMigrate']],
    ['null', null, ['LiveMigrate']],
    ['null methods', { workloadUpdateMethods: null }, ['LiveMigrate']],
    ['another field alone', { batchEvictionSize: 5 }, ['LiveMigrate']],
    ['[]', { workloadUpdateMethods: [] }, []],
    ['a typo', { workloadUpdateMethods: ['LiveMigration'] }, ['LiveMigration']],
  ])('created with the strategy %s', async (_, strategy, methods) => {
    const { create, read, below } = await at()
    expect(await read(await create(below(strategy)))).toEqual(methods)
  })

  test.each([
    ['[] stays', { workloadUpdateMethods: [] }, []],
    ['null methods are the default', { workloadUpdateMethods: null }, ['LiveMigrate']],
    ['a null strategy is the default', null, ['LiveMigrate']],
  ])('merge patch: %s', async (_, strategy, methods) => {
    const { cluster, kind, create, read, below } = await at()
    const ref = await create(below({ workloadUpdateMethods: [] }))
    const patch = { spec: below(strategy) } as DeepPartial<HyperConverged>
    await cluster.writer.mergePatch(kind, ref, patch)
    expect(await read(ref)).toEqual(methods)
  })

  test('JSON patch: what is removed is the default', async () => {
    const { cluster, kind, create, read, below, stored } = await at()
    const ref = await create(below({ workloadUpdateMethods: [] }))
    const path = `/spec${stored === 'v1' ? '/virtualization' : ''}/workloadUpdateStrategy/workloadUpdateMethods`
    await cluster.writer.jsonPatch(kind, ref, [{ op: 'remove', path }])
    expect(await read(ref)).toEqual(['LiveMigrate'])
  })

  test('a field that the CRD does not have is dropped, at the top and further down', async () => {
    const { cluster, kind, create, below } = await at()
    const unknown = { noSuchField: { a: 1 } }
    const ref = await create({ ...below({ workloadUpdateMethods: [], ...unknown }), ...unknown })
    const found = await cluster.reader.get(kind, ref)
    expect(found.is).toBe('object')
    expect(JSON.stringify(found)).not.toContain('noSuchField')
  })

  if (other === undefined) return
  test('a label through the version that is not stored loses [], where nobody converts', async () => {
    const { cluster, create, read, below } = await at()
    const ref = await create(below({ workloadUpdateMethods: [] }))
    expect(await read(ref, other)).toBe(missing)
    expect(await read(ref)).toEqual([])
    await cluster.writer.mergePatch(atVersion(HyperConvergeds, other), ref, {
      metadata: { labels: { a: 'b' } },
    })
    expect(await read(ref)).toEqual(['LiveMigrate'])
  })
}
