import { expect, test } from 'vitest'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import { asYaml } from '../../src/lib/manifests/apply-manifest.ts'
import { jsonPatch } from '../../src/simulator/api/patch.ts'
import fixture from './trust-m3-manifests.json' with { type: 'json' }
import { byManifest, briefly as play, type Stage } from './stage.ts'

/** What is done to a genuine manifest. */
interface Tampering {
  /** The first object of this kind, or the one of this kind and name. */
  of?: string
  /** What is put where in it, by JSON pointers; `copy`: in a copy that stands beside it. */
  add?: Readonly<Record<string, unknown>>
  copy?: true
  adds?: readonly unknown[]
}

const find = (objects: readonly KubeObject[], of: string) => {
  const [wanted, name] = of.split(' ')
  const found = objects.find(
    ({ kind, metadata }) => kind === wanted && (name === undefined || metadata.name === name),
  )
  if (!found) throw new Error(`no ${of}`)
  return found
}

function tampered(stage: Stage, { of, add = {}, copy, adds = [] }: Tampering): string {
  const objects = stage.simulated.operatorManifest('v1.9.0')
  const whole = [...objects, ...adds] as KubeObject[]
  if (of === undefined) return asYaml(whole)
  const old = find(objects, of)
  const patch = Object.entries(add).map(([path, value]) => ({ op: 'add', path, value }))
  const changed = jsonPatch(old, patch) as KubeObject
  return asYaml(copy ? [...whole, changed] : whole.map((one) => (one === old ? changed : one)))
}

const inKubevirt = (apiVersion: string, kind: string, name: string) => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'kubevirt' },
})

const paths = { manifest: 'file.yaml' } as const

test('M3 what a manifest adds to that of its release is refused, with what it is', async () => {
  await play(byManifest, async (stage) => {
    for (const { name, why, ...tampering } of fixture as (Tampering & { name: string; why: string })[]) {
      stage.files.set('file.yaml', tampered(stage, tampering))
      const { code, error, text } = await stage.upgrade('v1.9.0', paths)
      expect([name, code, error?.reason]).toEqual([name, 3, 'manifest-extras'])
      expect(text).toMatch(new RegExp(why, 'u'))
    }
    stage.files.set('file.yaml', tampered(stage, { adds: [inKubevirt('batch/v1', 'CronJob', 'a')] }))
    expect(await stage.upgrade('v1.9.0', paths)).toMatchObject({ code: 2, error: { reason: 'unknown-kind' } })
    // Images of another registry need a person's word, and --yes is none.
    const release = asYaml(stage.simulated.operatorManifest('v1.9.0'))
    stage.files.set('file.yaml', release.replaceAll('quay.io/kubevirt', 'evil.example/kubevirt'))
    const elsewhere = await stage.upgrade('v1.9.0', paths)
    expect(elsewhere).toMatchObject({ code: 3, error: { reason: 'manifest-registry' } })
    expect(elsewhere.text).toContain('evil.example/kubevirt')
    const namespace = find(stage.simulated.operatorManifest('v1.8.4'), 'Namespace')
    stage.simulated.store.put(stage.simulated.store.kinds.ofObject(namespace)!, {
      ...namespace,
      metadata: { name: 'kubevirt', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    })
    stage.files.set('file.yaml', release)
    const lowered = await stage.upgrade('v1.9.0', paths)
    expect(lowered).toMatchObject({ code: 3, error: { reason: 'manifest-extras' } })
    expect(lowered.text).toMatch(/lowers pod-security\.kubernetes\.io\/enforce from restricted to privileged/)
    expect(stage.writes()).toEqual([])
  })
})

test('M3 the dry run shows what pods run before versions, and what is new by name', async () => {
  await play(byManifest, async (stage) => {
    stage.files.set(
      'file.yaml',
      tampered(stage, {
        of: 'Deployment',
        add: {
          '/spec/template/spec/hostPID': true,
          '/spec/template/spec/volumes': [{ name: 'host', hostPath: { path: '/' } }],
          '/spec/template/spec/initContainers': [{ name: 'root', image: 'evil.example/root' }],
        },
        adds: [inKubevirt('v1', 'ServiceAccount', 'kubevirt-helper')],
      }),
    )
    const dry = await stage.upgrade(
      'v1.9.0',
      { ...paths, dryRun: 'client', accept: ['manifest-extras'] },
      { output: 'wide' },
    )
    const at = (text: string) => dry.text.indexOf(text)
    for (const first of ['hostPID', 'hostPath', 'initContainers']) {
      expect(at(first)).toBeGreaterThan(0)
      expect(at(first)).toBeLessThan(at('KUBEVIRT_VERSION') === -1 ? Infinity : at('KUBEVIRT_VERSION'))
    }
    expect(dry.text).toContain('1 is new: ServiceAccount kubevirt-helper')
  })
})
