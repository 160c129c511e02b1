import { expect, test } from 'vitest'
import { Deployments } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { Nodes } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { Reader } from '../../../src/lib/kube/cluster.ts'
import { metadataOf } from '../../../src/lib/kube/object.ts'
import { onceCached } from '../../../src/lib/kube/read-cache.ts'

/** Counts what it is asked; `fails` is how often the first lists fail. */
function counted(fails = 0): { reader: Reader; asked: string[] } {
  const asked: string[] = []
  const note = (what: string) => void asked.push(what)
  const reader = {
    async list(kind, where) {
      note(`list ${kind.plural} ${where?.namespace ?? ''}`)
      if (asked.length <= fails) throw new Error('away')
      return []
    },
    async get(kind) {
      note(`find ${kind.plural}`)
      return { is: 'absent' }
    },
    async version() {
      note('version')
      return { gitVersion: 'v1.35.0', major: '1', minor: '35' }
    },
  } satisfies Partial<Reader>
  return { reader: reader as Partial<Reader> as Reader, asked }
}

test('a list is read once for the same question, also while it is under way', async () => {
  const { reader, asked } = counted()
  const cached = onceCached(reader)
  const [one, other] = await Promise.all([cached.list(Nodes), cached.list(Nodes, {})])
  expect(other).toBe(one)
  await cached.list(Deployments, { namespace: 'a' })
  await cached.list(Deployments, { namespace: 'b' })
  await cached.version()
  await cached.version()
  expect(asked).toEqual(['list nodes ', 'list deployments a', 'list deployments b', 'version'])
})

test('who wants whole objects does not get the metadata that somebody else asked for', async () => {
  const { reader, asked } = counted()
  const cached = onceCached(reader)
  await cached.list(metadataOf(Nodes))
  await cached.list(Nodes)
  expect(asked).toEqual(['list nodes ', 'list nodes '])
})

test('an object is read anew: a write builds on it', async () => {
  const { reader, asked } = counted()
  const cached = onceCached(reader)
  await cached.get(Nodes, { name: 'a' })
  await cached.get(Nodes, { name: 'a' })
  expect(asked).toEqual(['find nodes', 'find nodes'])
})

test('a failure is not remembered', async () => {
  const { reader } = counted(1)
  const cached = onceCached(reader)
  await expect(cached.list(Nodes)).rejects.toThrow('away')
  await expect(cached.list(Nodes)).resolves.toEqual([])
})
