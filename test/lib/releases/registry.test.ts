import { expect, test } from 'vitest'
import { parseRegistry } from '../../../src/lib/manifests/image-registry.ts'

test.each([
  ['quay.io/kubevirt', 'quay.io/kubevirt'],
  ['quay.io/kubevirt/', 'quay.io/kubevirt'],
  ['mirror.example:5000/a/b_c/d--e', 'mirror.example:5000/a/b_c/d--e'],
  ['localhost:5000', 'localhost:5000'],
  ['10.0.0.1/x', '10.0.0.1/x'],
  ['[fd00::1]:5000/virt', '[fd00::1]:5000/virt'],
  ['registry', 'registry'],
])('%s is a registry', (text, is) => {
  expect(parseRegistry(text)).toBe(is)
})

test.each([
  ['', 'it is empty'],
  ['/', 'it is empty'],
  ['https://quay.io/kubevirt', 'without https://'],
  ['quay.io/kubevirt:v1.8.4', 'without a tag'],
  ['quay.io/kubevirt@sha256:abc', 'without a tag or digest'],
  ['a b', 'write it like'],
  ['quay.io/kube\nvirt', 'write it like'],
  ['-x', 'write it like'],
  ['quay.io//kubevirt', 'write it like'],
  ['x'.repeat(300), 'too long'],
])('%j is exit 2', (text, why) => {
  expect(() => parseRegistry(text)).toThrow(
    expect.objectContaining({
      exitCode: 2,
      reason: 'not-a-registry',
      message: expect.stringContaining(why) as string,
    }),
  )
})
