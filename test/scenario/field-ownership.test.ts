import { describe, expect, test } from 'vitest'
import { type KubeVirt, KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { ownersOfField } from '../../src/lib/kube/field-owners.ts'
import { pathsOf } from '../../src/lib/engine/overrides.ts'
import { MachineConfigPools } from '../../src/lib/kube/kinds/openshift-kinds.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import { eusAbortOn, eusRunOn, small418 } from './eus/window-stage.ts'
import { hyperConvergeds, storedOwner } from './settings-owners.ts'
import type { ApplyOptions, Writer } from '../../src/lib/kube/cluster.ts'
import { ApiError } from '../../src/lib/kube/errors.ts'
import { byManifest, byTag, briefly as play, type Stage } from './stage.ts'

const writerWith = (writer: Writer, jsonPatch: Writer['jsonPatch']): Writer => ({
  create: (kind, object) => writer.create(kind, object),
  mergePatch: (kind, ref, change, on) => writer.mergePatch(kind, ref, change, on),
  jsonPatch,
  apply: (kind, object, options) => writer.apply(kind, object, options),
  delete: (kind, ref, only) => writer.delete(kind, ref, only),
  subresource: (kind, ref, call) => writer.subresource(kind, ref, call),
})

/** Incident 31: what kvup changed for a time belongs to its former owner again, so that his next apply is no conflict. */
const pointers = pathsOf('workload-updates')
const owners = (stage: Stage, paths = pointers) =>
  (ownersOfField(storedOwner(stage), paths) ?? []).map(({ manager, operation }) => `${manager} ${operation}`)
const applied = (stage: Stage, spec: KubeVirt['spec'], manager: string, more: ApplyOptions = {}) => {
  const metadata = { name: 'kubevirt', namespace: 'kubevirt' }
  const object: KubeVirt = { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata, ...(spec && { spec }) }
  return stage.cluster.writer.apply(KubeVirts, object, { manager, ...more })
}
const methods = (...workloadUpdateMethods: string[]) => ({
  workloadUpdateStrategy: { workloadUpdateMethods },
})

describe('incident 31: workloadUpdateMethods', () => {
  test('of who applies them are its own again after an upgrade: it applies the same and another value', () =>
    play(byTag, async (stage) => {
      const manager = 'kustomize-controller'
      await applied(stage, methods('LiveMigrate'), manager, { force: true })
      // Whoever applied the same beside it lets go, as where only one tool has the object.
      stage.edit(methods('Evict'))
      await applied(stage, methods('LiveMigrate'), manager, { force: true })
      expect(owners(stage)).toEqual([`${manager} Apply`])
      expect(await stage.upgrade('v1.8.4', { accept: ['managed-by-gitops'] })).toMatchObject({ code: 0 })
      expect(owners(stage)).toEqual([`${manager} Apply`])
      for (const method of ['LiveMigrate', 'Evict'])
        expect((await applied(stage, methods(method), manager)).spec).toMatchObject(methods(method))
    }))

  test('after the demo’s upgrade by tag kubectl-create has them, and kvup has the tag that it set for good', async () => {
    await play(byTag, async (stage) => {
      expect(owners(stage)).toEqual(['kubectl-create Update'])
      expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
      expect(owners(stage)).toEqual(['kubectl-create Update'])
      expect(stage.methods).toEqual(['LiveMigrate'])
      const kvup = stage.kubevirt.metadata.managedFields?.filter(({ manager }) => manager === 'kvup')
      expect(kvup?.map(({ fieldsV1 }) => fieldsV1)).toEqual([{ 'f:spec': { 'f:imageTag': {} } }])
      expect((await applied(stage, methods('LiveMigrate'), 'fleet')).spec).toMatchObject({
        imageTag: 'v1.8.4',
      })
    })
  })

  test('a registry that was taken out with the tag is a field of its owner again', async () => {
    await play({ ...byManifest, method: 'image-tag' }, async (stage) => {
      const paths = ['/spec/imageRegistry']
      expect(owners(stage, paths)).toEqual(['kubectl-create Update'])
      expect(await stage.upgrade('v1.9.0')).toMatchObject({ code: 0 })
      expect(stage.kubevirt.spec).toMatchObject({ imageTag: 'v1.9.0', imageRegistry: 'quay.io/kubevirt' })
      expect(owners(stage, paths)).toEqual(['kubectl-create Update'])
      expect(owners(stage, ['/spec/imageTag'])).toEqual(['kvup Update'])
      expect(owners(stage)).toEqual(['kubectl-create Update'])
    })
  })

  test.each(hyperConvergeds)('of $name are those of who had them', ({ shape }) =>
    play(shape, async (stage) => {
      const before = owners(stage)
      await stage.hold()
      expect(owners(stage)).toEqual(['kvup Update'])
      expect(await stage.restore()).toMatchObject({ code: 0 })
      expect(owners(stage)).toEqual(before)
      expect(await stage.journal.overrides()).toEqual([])
    }),
  )

  test('a person who set another value meanwhile keeps it, and keeps the field', async () => {
    await play(byTag, async (stage) => {
      await stage.hold()
      stage.edit(methods('Evict'))
      expect(await stage.restore({ keepCurrent: true })).toMatchObject({ code: 0 })
      expect(owners(stage)).toEqual(['kubectl-edit Update'])
    })
  })

  test('a note whose owners somebody spoilt gives the value back, and leaves the field with kvup', async () => {
    await play(byTag, async (stage) => {
      await stage.hold()
      const key = 'kvup.io/saved-workload-updates'
      const note = JSON.parse(stage.kubevirt.metadata.annotations?.[key] ?? '{}') as object
      stage.label({
        annotations: { [key]: JSON.stringify({ ...note, owners: [{ manager: 'x', path: '/spec' }] }) },
      })
      expect(await stage.restore()).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(['LiveMigrate'])
      expect(owners(stage)).toEqual(['kvup Update'])
    })
  })

  test.each([
    [403, 'Forbidden'],
    [409, 'Conflict'],
  ])(
    'a server that answers %i to every patch of managedFields keeps nobody from ending',
    async (status, reason) => {
      await play(byTag, async (stage) => {
        await stage.hold()
        const { cluster } = stage
        const jsonPatch: Writer['jsonPatch'] = (kind, ref, operations) => {
          if (operations.some(({ path }) => path === '/metadata/managedFields'))
            throw new ApiError(status, reason, 'managedFields are not to be written here')
          return cluster.writer.jsonPatch(kind, ref, operations)
        }
        const refusing = { ...cluster, writer: writerWith(cluster.writer, jsonPatch) }
        expect(await stage.restore({}, { cluster: refusing })).toMatchObject({ code: 0 })
        expect(stage.methods).toEqual(['LiveMigrate'])
        expect(owners(stage)).toEqual(['kvup Update'])
        expect(await stage.journal.overrides()).toEqual([])
      })
    },
  )

  test('somebody who writes in between is waited for: the patch is made anew on what he wrote', async () => {
    await play(byTag, async (stage) => {
      await stage.hold()
      const { cluster } = stage
      let isFirst = true
      const jsonPatch: Writer['jsonPatch'] = (kind, ref, operations) => {
        if (isFirst) stage.label({ labels: { somebody: 'else' } })
        isFirst = false
        return cluster.writer.jsonPatch(kind, ref, operations)
      }
      const busy = { ...cluster, writer: writerWith(cluster.writer, jsonPatch) }
      expect(await stage.restore({}, { cluster: busy })).toMatchObject({ code: 0 })
      expect(owners(stage)).toEqual(['kubectl-create Update'])
      expect(stage.kubevirt.metadata.labels).toMatchObject({ somebody: 'else' })
    })
  })
})

describe('what a window changed for a time', () => {
  test('is a field of its former owner again: a worker pool that was paused', () =>
    play(small418, async (stage) => {
      const { store } = stage.simulated
      const pool = { name: 'worker' }
      const whose = () => {
        const found = store.read(MachineConfigPools, pool) as KubeObject
        return (ownersOfField(found, ['/spec/paused']) ?? []).map(({ manager }) => manager)
      }
      expect(whose()).toEqual(['kubectl-create'])
      expect(await eusRunOn(stage, { until: 'pause-worker' })).toMatchObject({ code: 0 })
      expect(whose()).toEqual(['kvup'])
      expect(await eusAbortOn(stage)).toMatchObject({ code: 0 })
      expect(store.read(MachineConfigPools, pool)).toMatchObject({ spec: { paused: false } })
      expect(whose()).toEqual(['kubectl-create'])
      expect(await stage.journal.overrides()).toEqual([])
    }))
})
