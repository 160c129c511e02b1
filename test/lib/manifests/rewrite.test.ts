import { expect, test } from 'vitest'
import { inNamespace } from '../../../src/lib/manifests/manifest.ts'
import { fromRegistry, registryToKeep } from '../../../src/lib/manifests/image-registry.ts'
import { container, example, liveOperator } from './example.ts'
import fixture from './rewrite.json' with { type: 'json' }

test('another namespace than the operator has is refused', () => {
  expect(() => inNamespace(example(), 'virt', false)).toThrow(
    expect.objectContaining({ exitCode: 2, reason: 'manifest-namespace' }),
  )
  expect(inNamespace(example(), 'kubevirt', false).namespace).toBe('kubevirt')
})

test('on request everything moves: objects, subjects, environment', () => {
  const moved = inNamespace(example(), 'virt', true)
  expect(moved.namespace).toBe('virt')
  const text = JSON.stringify(moved.objects)
  expect(text).toContain(
    '"subjects":[{"kind":"ServiceAccount","name":"kubevirt-operator","namespace":"virt"}]',
  )
  expect(text).toContain('{"name":"WATCH_NAMESPACE","value":"virt"}')
  expect(text).not.toMatch(/"namespace":"kubevirt"|"name":"kubevirt"[,}]/)
})

test('the example it is made from is left as it was', () => {
  const manifest = example()
  const before = JSON.stringify(manifest)
  inNamespace(manifest, 'virt', true)
  fromRegistry(manifest, { registry: 'mirror.example', prefix: '' })
  expect(JSON.stringify(manifest)).toBe(before)
})

const onMirror = (image: string) => liveOperator([], (live) => Object.assign(container(live), { image }))

test.each<[string, string | null, object | null]>(fixture.registries as never)(
  'the operator runs from %s, asked for %s',
  (image, asked, expected) => {
    const kept = registryToKeep(example(), onMirror(image), asked ?? undefined)
    expect(kept ? { registry: kept.registry, prefix: kept.prefix } : null).toEqual(expected)
  },
)

test('a manifest that is of a mirror is left alone', () => {
  const made = example((text) => text.replaceAll('quay.io/kubevirt', 'own.example/kv'))
  expect(registryToKeep(made, onMirror('mirror.example/kv/virt-operator:v1.7.0'))).toBeUndefined()
})

test('image and *_IMAGE variables come from the mirror, versions stay', () => {
  const { operator } = fromRegistry(example(), { registry: 'mirror.example/kv', prefix: 'corp-' })
  const { image, env } = container(operator)
  expect(image).toBe('mirror.example/kv/corp-virt-operator:v1.8.4')
  expect(env?.map(({ value }) => value)).toEqual([
    'mirror.example/kv/corp-virt-operator:v1.8.4',
    'kubevirt',
    'v1.8.4',
  ])
})
