import { afterEach, describe, expect, test } from 'vitest'
import type { Where } from '../../../src/lib/kube/cluster.ts'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Backend } from '../contract-backend.ts'
import { createMap, fresh, refOf } from './objects.ts'

export function followPromises(backend: Backend): void {
  const writer = () => backend().cluster.writer
  const stops: AbortController[] = []
  afterEach(() => stops.splice(0).forEach((stop) => stop.abort()))

  /** Collects `type name` until told otherwise. */
  function watched(where: Where, kind = ConfigMaps) {
    const stop = new AbortController()
    stops.push(stop)
    const lines: string[] = []
    const ended = (async () => {
      for await (const change of backend().cluster.reader.watch(kind, where, stop.signal)) {
        lines.push('object' in change ? `${change.type} ${change.object.metadata.name}` : change.type)
      }
    })()
    const until = async (line: string) => {
      for (let tries = 0; tries < 500 && !lines.includes(line); tries++)
        await new Promise((r) => setTimeout(r, 10))
      expect(lines).toContain(line)
      return lines
    }
    return { lines, until, stop, ended }
  }

  describe('follow', () => {
    test('tells what is there, synced, and then every change in its order', async () => {
      const set = fresh('followed')
      const { namespace } = backend()
      const labels = { set }
      await createMap(backend, {}, { name: `${set}-a`, labels })
      const { until } = watched({ namespace, labels: `set=${set}` })
      await until('synced')
      await createMap(backend, {}, { name: `${set}-b`, labels })
      await writer().mergePatch(ConfigMaps, { name: `${set}-b`, namespace }, { data: { a: '1' } })
      await writer().delete(ConfigMaps, { name: `${set}-b`, namespace })
      expect(await until(`deleted ${set}-b`)).toEqual([
        `added ${set}-a`,
        'synced',
        `added ${set}-b`,
        `modified ${set}-b`,
        `deleted ${set}-b`,
      ])
    })

    test('what leaves the selection is deleted for it, what enters is added', async () => {
      const set = fresh('followed')
      const made = await createMap(backend, {}, { name: set, labels: { set } })
      const { until, lines } = watched({ namespace: backend().namespace, labels: `set=${set}` })
      await until('synced')
      await writer().mergePatch(ConfigMaps, refOf(made), { metadata: { labels: { set: null } } })
      await until(`deleted ${set}`)
      await writer().mergePatch(ConfigMaps, refOf(made), { metadata: { labels: { set } } })
      for (let i = 0; i < 300 && lines.length < 4; i++) await new Promise((r) => setTimeout(r, 10))
      expect(lines).toEqual([`added ${set}`, 'synced', `deleted ${set}`, `added ${set}`])
    })

    test('one object by its name, and nothing of the others', async () => {
      const name = fresh('followed')
      const { until } = watched({ namespace: backend().namespace, name })
      await until('synced')
      await createMap(backend, {})
      await createMap(backend, {}, { name })
      expect(await until(`added ${name}`)).toEqual(['synced', `added ${name}`])
    })

    test('a deletion that waits for a finalizer is a change first', async () => {
      const name = fresh('followed')
      const made = await createMap(backend, {}, { name, finalizers: ['kvup.io/contract'] })
      const { until } = watched({ namespace: backend().namespace, name })
      await until('synced')
      await writer().delete(ConfigMaps, refOf(made))
      await until(`modified ${name}`)
      await writer().mergePatch(ConfigMaps, refOf(made), { metadata: { finalizers: null } })
      expect((await until(`deleted ${name}`)).slice(0, 3)).toEqual([
        `added ${name}`,
        'synced',
        `modified ${name}`,
      ])
    })

    test('a kind that is not served is lost, and no error', async () => {
      const { until } = watched({}, { ...KubeVirts, apiVersion: 'nothing.kvup.io/v1' })
      expect(await until('lost')).toEqual(['lost'])
    })

    test('ends when it is told to', async () => {
      const { until, stop, ended } = watched({ namespace: backend().namespace, name: fresh('nobody') })
      await until('synced')
      stop.abort()
      expect(await ended).toBeUndefined()
    })
  })
}
