import { expect, test } from 'vitest'
import type { Reader } from '../../../src/lib/kube/cluster.ts'
import type { Kind } from '../../../src/lib/kube/object.ts'
import { countWorkloads, outdatedLabel } from '../../../src/lib/kubevirt/snapshot.ts'

interface Asked {
  kind: Kind
  labels: string | undefined
}

const vmi = (name: string, labels = {}) => ({ apiVersion: '', kind: '', metadata: { name, labels } })
const outdated = { [outdatedLabel]: '' }

function readerOf(first: readonly object[], left: number, labelled: readonly object[]) {
  const asked: Asked[] = []
  const pages: Reader['pages'] = async function* pages(kind, where) {
    asked.push({ kind, labels: where?.labels })
    const items = where?.labels === undefined ? first : labelled
    yield {
      items: items as never[],
      resourceVersion: '1',
      ...(where?.labels === undefined && { remaining: left }),
    }
  }
  return { reader: { pages } as Reader, asked }
}

test('one page is counted in passing', async () => {
  const { reader, asked } = readerOf([vmi('a'), vmi('b', outdated)], 0, [])
  expect(await countWorkloads(reader)).toEqual({ instances: 2, outdated: 1 })
  expect(asked).toHaveLength(1)
})

test('of more than a page the rest is told by the server, and only metadata is read', async () => {
  const { reader, asked } = readerOf([vmi('a')], 9_999, [vmi('b', outdated), vmi('c', outdated)])
  expect(await countWorkloads(reader)).toEqual({ instances: 10_000, outdated: 2 })
  expect(asked.map(({ labels }) => labels)).toEqual([undefined, outdatedLabel])
  expect(asked.every(({ kind }) => kind.metadataOnly)).toBe(true)
})
