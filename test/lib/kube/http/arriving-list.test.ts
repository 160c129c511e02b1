import { describe, expect, test, vi } from 'vitest'
import { ArrivingList } from '../../../../src/lib/kube/http/requests.ts'

function arrived(text: string, size: number): unknown {
  const bytes = Buffer.from(text)
  const list = new ArrivingList()
  for (let at = 0; at < bytes.length; at += size) list.add(bytes.subarray(at, at + size))
  return list.end()
}

const vmi = (name: string, more = {}) => ({ apiVersion: 'kubevirt.io/v1', metadata: { name }, ...more })
const listOf = (items: readonly unknown[] | null) => ({
  apiVersion: 'kubevirt.io/v1',
  items,
  kind: 'VirtualMachineInstanceList',
  metadata: { continue: 'abc', resourceVersion: '7' },
})
const three = [vmi('a'), vmi('b', { spec: { disks: [{ name: 'x' }, { name: 'y' }] } }), vmi('c')]

const texts: Readonly<Record<string, string>> = {
  'as custom resources are listed': JSON.stringify(listOf(three)),
  'as pods are listed, with the metadata first': JSON.stringify({
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '7', remainingItemCount: 9 },
    items: [
      { metadata: { name: 'a' }, spec: {} },
      { metadata: { name: 'b' }, spec: {} },
    ],
  }),
  'printed for a person': JSON.stringify(listOf(three), undefined, 2),
  'with one item': JSON.stringify(listOf([vmi('a')])),
  'with none': JSON.stringify(listOf([])),
  'with null for items': JSON.stringify(listOf(null)),
  'with text that looks like the end of an item': JSON.stringify(
    listOf([vmi('a', { note: 'x},{"apiVersion":"y' }), vmi('b', { note: '\\"}],' }), vmi('c')]),
  ),
  'with lists inside that begin as the items do': JSON.stringify(
    listOf([
      vmi('a', { owners: [vmi('x'), vmi('y'), vmi('z')] }),
      vmi('b', { owners: [vmi('x')] }),
      vmi('c'),
    ]),
  ),
  'with what is no object among the items': JSON.stringify(
    listOf([vmi('a'), null, vmi('b'), [vmi('c')], 7, vmi('d')]),
  ),
  'with empty objects': '{"items":[{},{}],"metadata":{}}',
  'in many scripts': JSON.stringify(listOf(['ž', '漢字', '🎟️', '\u2028'].map((name) => vmi(name)))),
  'behind more than 8 KB of something else': JSON.stringify({
    metadata: { continue: 'x'.repeat(9000) },
    items: three,
  }),
  'an object that is no list': JSON.stringify({ kind: 'Status', code: 403, details: { items: three } }),
  'an array': JSON.stringify(['items', three]),
  'a text': '"items"',
}

const sizes = [1, 2, 3, 5, 8, 13, 64, 200, 100_000]

describe('a list comes out as JSON.parse reads it, however it was cut on the way', () => {
  test.each(Object.entries(texts))('%s', (_, text) => {
    for (const size of sizes) expect(arrived(text, size)).toEqual(JSON.parse(text))
  })
})

const broken: Readonly<Record<string, string>> = {
  'cut within an item': JSON.stringify(listOf(three)).slice(0, 120),
  'cut behind the items': JSON.stringify(listOf(three)).slice(0, -5),
  'an item that is no JSON': JSON.stringify(listOf(three)).replace('"b"', 'b'),
  'a comma too many': '{"items":[{"a":1},,{"a":2}]}',
  'a comma behind the last': '{"items":[{"a":1},{"a":2},]}',
  'more behind the list': '{"items":[{"a":1},{"a":2}]}{"items":[]}',
  'a login page': '<html>Please log in</html>',
}

describe('what JSON.parse does not read is not read', () => {
  test.each(Object.entries(broken))('%s', (_, text) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError)
    for (const size of sizes) expect(() => arrived(text, size)).toThrow(SyntaxError)
  })
})

test('what was not understood is at hand, to be told', () => {
  const thrown = (() => {
    try {
      return arrived('<html>Please log in</html>', 8)
    } catch (error) {
      return error
    }
  })()
  expect((thrown as Error).cause).toBe('<html>Please log in</html>')
})

test('nothing is undefined', () => {
  expect(arrived('', 1)).toBeUndefined()
})

/** The texts that `JSON.parse` is given while this is done. */
function parsedWhile(work: () => void): readonly string[] {
  const parse = vi.spyOn(JSON, 'parse')
  try {
    work()
    return parse.mock.calls.map(([text]) => text)
  } finally {
    parse.mockRestore()
  }
}

test('only what begins last is kept as text: the others are objects when the next piece comes', () => {
  const list = new ArrivingList()
  const [first, second] = JSON.stringify(listOf(three)).split('"name":"c"')
  list.add(Buffer.from(first ?? ''))
  const given = parsedWhile(() => {
    list.add(Buffer.from(`"name":"c"${second}`))
    list.end()
  })
  expect(given.join()).not.toContain('"name":"a"')
  expect(given.join()).toContain('"name":"c"')
})

test('so are VMIs as KubeVirt leaves them, whose managedFields begin with an apiVersion too', () => {
  const apiVersion = 'kubevirt.io/v1'
  const managedFields = ['virt-controller', 'virt-handler'].map((manager) => ({
    apiVersion,
    fieldsType: 'FieldsV1',
    manager,
  }))
  const owner = (name: string) => ({ apiVersion, blockOwnerDeletion: true, kind: 'VirtualMachine', name })
  const items = ['a', 'b', 'c', 'd'].map((name) => ({
    apiVersion,
    kind: 'VirtualMachineInstance',
    metadata: { managedFields, name, ownerReferences: [owner(name), owner('pool')] },
    status: { nodeName: 'node-1' },
  }))
  const text = JSON.stringify(listOf(items))
  for (const size of sizes.slice(0, -1)) {
    const given = parsedWhile(() => expect(arrived(text, size)).toEqual(listOf(items)))
    expect(given.at(-1)).not.toContain('"name":"b"')
  }
})

test.each([
  ['what is left for the end', { kind: 'Status', message: 'x'.repeat(1_000_000) }, 1.1],
  ['a large item', listOf([vmi('a', { spec: { text: 'x'.repeat(1_000_000) } })]), 4],
])('%s is not joined with each piece', (_, value, most) => {
  const text = JSON.stringify(value)
  const concat = vi.spyOn(Buffer, 'concat')
  try {
    expect(arrived(text, 4096)).toEqual(value)
    const bytes = concat.mock.results.reduce((sum, { value: joined }) => sum + (joined as Buffer).length, 0)
    expect(bytes).toBeLessThan(most * text.length)
  } finally {
    concat.mockRestore()
  }
})
