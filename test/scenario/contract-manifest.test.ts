import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { ClusterRoles } from '../../src/lib/kube/kinds/extension-kinds.ts'
import { asYaml } from '../../src/lib/manifests/apply-manifest.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import { byManifest, briefly as play, type Stage } from './stage.ts'

const backup = { backup: 'before.yaml' } as const

test('contract: what is replaced is saved before the first write, URL and sha256 are journalled, and fields of kubectl taken over', async () => {
  await play(byManifest, async (stage) => {
    const wroteAt = new Map<string, number>()
    const set = stage.files.set.bind(stage.files)
    stage.files.set = (file, text) => {
      wroteAt.set(file, stage.writes().length)
      return set(file, text)
    }
    const ended = await stage.upgrade('v1.9.0', backup)
    expect(ended).toMatchObject({ code: 0, documents: [{ backup: 'before.yaml' }] })
    // A tag is never set by itself.
    expect(stage.film.every(({ spec }) => spec?.imageTag === undefined)).toBe(true)
    expect(wroteAt.get('before.yaml')).toBe(0)
    expect(stage.files.get('before.yaml')).toContain('virt-operator:v1.8.4')
    expect(ended.text).toContain('before.yaml')
    const sum = createHash('sha256')
      .update(stage.files.get('v1.9.0.yaml') ?? '')
      .digest('hex')
    const said = (await stage.journal.entries()).map(({ text }) => text)
    expect(said.some((text) => text.includes('v1.9.0.yaml') && text.includes(sum.slice(0, 16)))).toBe(true)
    // Fields that kubectl set are taken over without asking.
    const operator = stage.simulated.store
      .everything()
      .find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'virt-operator')
    const managers = (operator?.metadata.managedFields ?? []).map(
      ({ manager, operation }) => `${manager} ${operation}`,
    )
    expect(managers).toContain('kvup Apply')
    expect(managers.filter((manager) => manager.startsWith('kubectl'))).toEqual([])
  })
})

test('contract: a resumed run keeps what the first one saved', async () => {
  await play(byManifest, async (stage) => {
    await stage.upgrade('v1.9.0', { ...backup, until: 'virt-operator' })
    const saved = stage.files.get('before.yaml')
    expect(await stage.upgrade('v1.9.0', backup)).toMatchObject({ code: 0 })
    expect(stage.files.get('before.yaml')).toBe(saved)
  })
})

test('contract: another manager of a field is the blocker manifest-conflicts, taken by name', async () => {
  await play(byManifest, async (stage) => {
    const { writer } = stage.simulated.cluster({
      user: 'x',
      groups: ['system:masters'],
      fieldManager: 'capi',
    })
    const operator = stage.simulated.operatorManifest('v1.8.4').find(({ kind }) => kind === 'Deployment')
    await writer.apply(stage.simulated.store.kinds.ofObject(operator!)!, operator!, { force: true })
    const refused = await stage.upgrade('v1.9.0')
    expect(refused).toMatchObject({ code: 3, error: { reason: 'manifest-conflicts' } })
    expect(refused.text).toContain('capi')
    expect(stage.writes()).toEqual([])
    expect(await stage.upgrade('v1.9.0', { accept: ['manifest-conflicts'] })).toMatchObject({ code: 0 })
  })
})

test('contract: a mirror registry in use is kept', async () => {
  await play({ ...byManifest, registry: 'mirror.example/kubevirt' }, async (stage) => {
    stage.files.set('public.yaml', stage.files.get('v1.9.0.yaml') ?? '')
    const text = asYaml(stage.simulated.operatorManifest('v1.9.0')).replaceAll('mirror.example', 'quay.io')
    stage.files.set('public.yaml', text)
    expect(await stage.upgrade('v1.9.0', { manifest: 'public.yaml' })).toMatchObject({ code: 0 })
    expect(stage.kubevirt.status?.observedKubeVirtRegistry).toBe('mirror.example/kubevirt')
  })
})

test('contract: objects that the new manifest lacks are listed and left', async () => {
  await play(byManifest, async (stage) => {
    const old = {
      apiVersion: ClusterRoles.apiVersion,
      kind: ClusterRoles.kind,
      metadata: { name: 'kubevirt-operator-of-old', labels: { 'kubevirt.io': '' } },
    }
    stage.simulated.store.put(ClusterRoles, old)
    const ended = await stage.upgrade('v1.9.0')
    expect(ended.code).toBe(0)
    expect(ended.text).toContain('kubevirt-operator-of-old')
    expect(stage.simulated.store.read(ClusterRoles, old.metadata)).toBeDefined()
    const deleted = stage.writes().filter(({ verb }) => verb === 'delete')
    expect(deleted.map(({ resource, name }) => `${resource}/${name}`)).toEqual(['configmaps/kvup-census-1'])
  })
})

/** A file instead of the release's, and how it is refused. */
async function withFile(stage: Stage, text: string, options = {}) {
  stage.files.set('file.yaml', text)
  const ended = await stage.upgrade('v1.9.0', { manifest: 'file.yaml', ...options })
  expect(stage.writes()).toEqual([])
  return ended
}

test('bad input: what is no manifest, another version, a wrong checksum, a missing file: exit 2, nothing changed', async () => {
  await play(byManifest, async (stage) => {
    const other = asYaml(stage.simulated.operatorManifest('v1.8.5'))
    const right = asYaml(stage.simulated.operatorManifest('v1.9.0'))
    expect(await withFile(stage, 'hello')).toMatchObject({ code: 2 })
    expect(await withFile(stage, '<html>404</html>')).toMatchObject({ code: 2 })
    expect(await withFile(stage, other)).toMatchObject({ code: 2 })
    expect(await withFile(stage, right, { manifestSha256: 'a'.repeat(64) })).toMatchObject({ code: 2 })
    expect(await stage.upgrade('v1.9.0', { manifest: 'missing.yaml' })).toMatchObject({ code: 2 })
    expect(stage.writes()).toEqual([])
  })
})

test('bad input: a manifest of another namespace is refused, or rewritten on request', async () => {
  await play(byManifest, async (stage) => {
    const elsewhere = asYaml(stage.simulated.operatorManifest('v1.9.0').map(moved))
    expect((await withFile(stage, elsewhere)).code).not.toBe(0)
    const options = { manifest: 'file.yaml', rewriteNamespace: true }
    expect(await stage.upgrade('v1.9.0', options)).toMatchObject({ code: 0 })
  })
})

const moved = (object: KubeObject): KubeObject => {
  const text = JSON.stringify(object).replaceAll('"namespace":"kubevirt"', '"namespace":"virt"')
  const made = JSON.parse(text) as KubeObject
  return made.kind === 'Namespace' ? { ...made, metadata: { ...made.metadata, name: 'virt' } } : made
}
