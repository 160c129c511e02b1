import { expect, test } from 'vitest'
import type { Page, Reader } from '../../../src/lib/kube/cluster.ts'
import { VirtualMachineInstances, VirtualMachines } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { inOnePass } from '../../../src/lib/kube/read-cache.ts'

const page = (name: string): Page<never> =>
  ({ items: [{ apiVersion: '', kind: '', metadata: { name } }] }) as unknown as Page<never>

/** Three pages of each kind; says what was asked of it, and how often. */
function cluster(fails = false) {
  const asked: string[] = []
  const pages: Reader['pages'] = ({ plural }, where = {}) => {
    asked.push(`${plural} ${JSON.stringify(where)}`)
    return (async function* () {
      for (const name of ['a', 'b', 'c']) {
        asked.push(name)
        yield page(name)
      }
      if (fails) throw new Error('cut off')
    })()
  }
  return { asked, reader: { pages } as unknown as Reader }
}

async function names(reader: Reader, where?: object): Promise<string> {
  let all = ''
  for await (const { items } of reader.pages(VirtualMachineInstances, where))
    all += items.map(({ metadata }) => metadata.name).join('')
  return all
}

async function enough(shared: Reader): Promise<string> {
  const pages = shared.pages(VirtualMachineInstances)[Symbol.asyncIterator]()
  await pages.next()
  await pages.return?.()
  return 'enough'
}

async function more(shared: Reader): Promise<string> {
  const other = shared.pages(VirtualMachines)[Symbol.asyncIterator]()
  await other.next()
  return `${await names(shared, { labels: 'x' })}${await names(shared)}${await names(shared)}`
}

async function broken(): Promise<never> {
  throw new Error('mine')
}

test('all works see every page of one list, whenever they come to it', async () => {
  const { asked, reader } = cluster()
  const late = async (shared: Reader) => {
    await new Promise((resolve) => setImmediate(resolve))
    return names(shared)
  }
  expect(await inOnePass(reader, VirtualMachineInstances, [names, late, () => 'none'])).toEqual([
    'abc',
    'abc',
    'none',
  ])
  expect(asked).toEqual(['virtualmachineinstances {}', 'a', 'b', 'c'])
})

test('the next page is asked for once everybody is done with the one before', async () => {
  const { asked, reader } = cluster()
  const slow = async (shared: Reader) => {
    for await (const { items } of shared.pages(VirtualMachineInstances)) {
      await new Promise((resolve) => setImmediate(resolve))
      expect(asked.at(-1)).toBe((items[0] as { metadata: { name: string } }).metadata.name)
    }
  }
  await inOnePass(reader, VirtualMachineInstances, [slow, names])
})

test('who has enough holds nobody up', async () => {
  const { reader } = cluster()
  expect(await inOnePass(reader, VirtualMachineInstances, [enough, names])).toEqual(['enough', 'abc'])
})

test('a part, another kind and a second time are lists of their own', async () => {
  const { asked, reader } = cluster()
  expect(await inOnePass(reader, VirtualMachineInstances, [more])).toEqual(['abcabcabc'])
  expect(asked.filter((one) => one.length > 1)).toHaveLength(4)
})

test('a list that is cut off fails for everybody, and a work that fails fails all', async () => {
  const { reader } = cluster(true)
  const caught = (shared: Reader) => names(shared).catch(({ message }: Error) => message)
  expect(await inOnePass(reader, VirtualMachineInstances, [caught, caught])).toEqual(['cut off', 'cut off'])
  await expect(inOnePass(cluster().reader, VirtualMachineInstances, [names, broken])).rejects.toThrow('mine')
})
