import { describe, expect, test } from 'vitest'
import { mustBeVersion, operatorManifest, parseManifest } from '../../../src/lib/manifests/manifest.ts'
import { example, exampleText } from './example.ts'

const names = (objects: readonly { kind: string }[]) => objects.map(({ kind }) => kind)

describe('parseManifest', () => {
  test('reads every document, without what only a server writes', () => {
    const objects = parseManifest(exampleText, 'x')
    expect(objects).toHaveLength(7)
    expect(objects[1]?.metadata).toEqual({
      labels: { 'operator.kubevirt.io': '' },
      name: 'kubevirts.kubevirt.io',
    })
  })

  test('unfolds a List, as JSON too', () => {
    const items = parseManifest(exampleText, 'x')
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
    expect(names(parseManifest(list, 'x'))).toEqual(names(items))
  })

  test('reads scalars as kubectl does', () => {
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {mode: 0644, on: yes, day: 2026-11-21, time: 12:30:45}`
    expect(parseManifest(text, 'x')[0]).toMatchObject({
      data: { mode: 420, true: true, day: '2026-11-21', time: '12:30:45' },
    })
  })

  test.each([
    ['<!DOCTYPE html><html></html>', 'an HTML page'],
    ['', 'it is empty'],
    ['# nothing\n---\n', 'it is empty'],
    ['just a line of text', 'text that is no Kubernetes object'],
    ['a: b\n  c: [', 'it is no YAML'],
    ['\u0000\u0001ELF', 'a binary file'],
    ['kind: Deployment\nmetadata: {name: a}', 'without apiVersion, kind or name'],
    [`${exampleText}\n---\n${exampleText}`, 'Namespace kubevirt is in it twice'],
    [
      'a: &a [1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c]',
      'alias',
    ],
  ])('%#: refuses what is none', (text, why) => {
    expect(() => parseManifest(text, 'x')).toThrow(
      expect.objectContaining({
        exitCode: 2,
        reason: 'not-a-manifest',
        message: expect.stringContaining(why),
      }),
    )
  })
})

describe('operatorManifest', () => {
  test('puts what others need first and the Deployment last', () => {
    expect(names(example().objects)).toEqual([
      'Namespace',
      'CustomResourceDefinition',
      'PriorityClass',
      'ClusterRole',
      'ServiceAccount',
      'RoleBinding',
      'Deployment',
    ])
    expect(example().namespace).toBe('kubevirt')
  })

  const cr = 'apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: kubevirt, namespace: kubevirt}'
  test.each([
    [cr, 'it looks like a kubevirt-cr.yaml'],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}', 'it has ConfigMap'],
    [exampleText.slice(0, exampleText.lastIndexOf('---')), 'the Deployment virt-operator is missing'],
    [
      exampleText.slice(exampleText.lastIndexOf('---')),
      'the CustomResourceDefinition kubevirts.kubevirt.io is missing',
    ],
    ['apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata: {name: a}', 'HyperConverged'],
  ])('%#: says what it looks like instead', (text, why) => {
    expect(() => operatorManifest(parseManifest(text, 'x'), 'x')).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringContaining(why) }),
    )
  })

  test('a kind that has no business there is refused by name', () => {
    const foreign = `${exampleText}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: token}`
    expect(() => operatorManifest(parseManifest(foreign, 'x'), 'x')).toThrow(
      expect.objectContaining({ reason: 'unknown-kind', message: expect.stringContaining('Secret token') }),
    )
  })
})

describe('mustBeVersion', () => {
  test('passes the version that it is of', () => {
    expect(() => mustBeVersion(example(), 'v1.8.4')).not.toThrow()
  })

  test.each([
    [(t: string) => t, 'v1.9.0', 'is of v1.8.4 (VIRT_OPERATOR_IMAGE), not of v1.9.0'],
    [(t: string) => t.replace('value: v1.8.4', 'value: v1.8.3'), 'v1.8.4', 'is of v1.8.3 (KUBEVIRT_VERSION)'],
    [
      (t: string) =>
        t.replace(
          'image: quay.io/kubevirt/virt-operator:v1.8.4',
          'image: quay.io/kubevirt/virt-operator:v1.8.5',
        ),
      'v1.8.4',
      'is of v1.8.5 (the image of virt-operator)',
    ],
    [
      (t: string) => t.replaceAll(':v1.8.4', '@sha256:0f').replace('value: v1.8.4', 'value: ""'),
      'v1.8.4',
      'names no version',
    ],
  ])('%#: refuses another', (change, to, why) => {
    expect(() => mustBeVersion(example(change), to)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        reason: 'manifest-version',
        message: expect.stringContaining(why),
      }),
    )
  })

  test('a manifest by digest is of the version that it names', () => {
    const byDigest = example((text) => text.replaceAll(':v1.8.4', `@sha256:${'0f'.repeat(32)}`))
    expect(() => mustBeVersion(byDigest, 'v1.8.4')).not.toThrow()
  })
})
