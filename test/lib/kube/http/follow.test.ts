import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import type { Change } from '../../../../src/lib/kube/cluster.ts'
import { type ConfigMap, ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import {
  type Asked,
  configMapBody,
  InstantClock,
  opened,
  refuse,
  reply,
  tinyServer,
  type TinyServer,
} from './tiny-server.ts'

let server: TinyServer | undefined
let stop = new AbortController()
afterEach(async () => {
  stop.abort()
  stop = new AbortController()
  await server?.close()
})

type Part = (asked: Asked, response: ServerResponse, count: number) => void

/** One answer per list and per watch, the last of each again and again. */
async function scripted(script: { lists: Part[]; watches: Part[] }): Promise<TinyServer> {
  const counts = { lists: 0, watches: 0 }
  server = await tinyServer((asked, response) => {
    const which = asked.query.get('watch') === 'true' ? 'watches' : 'lists'
    const count = ++counts[which]
    ;(script[which][count - 1] ?? script[which].at(-1))?.(asked, response, count)
  })
  return server
}
const list =
  (resourceVersion: string, ...items: object[]): Part =>
  (_, response) =>
    reply(response, 200, { metadata: { resourceVersion }, items })
const events =
  (...all: object[]): Part =>
  (_, response) => {
    response.writeHead(200)
    response.flushHeaders()
    for (const event of all) response.write(`${JSON.stringify(event)}\n`)
  }
const thenEnd =
  (part: Part): Part =>
  (asked, response, count) => {
    part(asked, response, count)
    response.end()
  }
const thenCut =
  (part: Part): Part =>
  (asked, response, count) => {
    part(asked, response, count)
    setTimeout(() => response.destroy(), 20)
  }
const away: Part = (_, response) => void response.destroy()
const missing: Part = (_, response) =>
  void response.writeHead(404, { 'audit-id': 'a' }).end('404 page not found')
const event = (type: string, name: string, resourceVersion: string) => ({
  type,
  object: configMapBody(name, resourceVersion),
})
const bookmark = (resourceVersion: string) => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion } },
})

/** The first `count` changes, as words. */
async function changes(url: string, count: number, clock = new InstantClock()): Promise<string[]> {
  const { cluster } = await opened(url, { clock })
  const observed: string[] = []
  for await (const change of cluster.reader.watch(ConfigMaps, { namespace: 'ns' }, stop.signal)) {
    observed.push(inWords(change))
    if (observed.length >= count) break
  }
  return observed
}
const inWords = (change: Change<ConfigMap>) =>
  'object' in change ? `${change.type} ${change.object.metadata.name}` : change.type
const watches = ({ asked }: TinyServer) =>
  asked.filter(({ query }) => query.has('watch')).map(({ query }) => query.get('resourceVersion'))

describe('follow', () => {
  test('goes on after a cut where it was, and tells nothing twice', async () => {
    const tiny = await scripted({
      lists: [list('10', configMapBody('a', '9'))],
      watches: [
        thenCut(events(event('ADDED', 'b', '11'))),
        thenEnd(events(bookmark('20'))),
        events(event('ADDED', 'b', '11'), event('MODIFIED', 'b', '21')),
      ],
    })
    expect(await changes(tiny.url, 4)).toEqual(['added a', 'synced', 'added b', 'modified b'])
    expect(watches(tiny)).toEqual(['10', '11', '20'])
  })

  test('asks for bookmarks and for an end before proxies make one', async () => {
    const tiny = await scripted({ lists: [list('1')], watches: [events(event('ADDED', 'a', '2'))] })
    await changes(tiny.url, 2)
    const query = tiny.asked[1]?.query
    expect(query?.get('allowWatchBookmarks')).toBe('true')
    expect(Number(query?.get('timeoutSeconds'))).toBeGreaterThan(260)
    expect(Number(query?.get('timeoutSeconds'))).toBeLessThan(300)
  })

  test.each([
    [
      'in the stream',
      events({ type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old' } }),
    ],
    ['as the answer', (_, response) => refuse(response, 410, 'Expired')],
  ])('410 %s: reads the list again and tells what became different', async (_, gone) => {
    const tiny = await scripted({
      lists: [
        list('10', configMapBody('a', '1'), configMapBody('b', '1'), configMapBody('c', '1')),
        list('20', configMapBody('b', '1'), configMapBody('c', '15'), configMapBody('d', '16')),
      ],
      watches: [gone, events()],
    })
    const all = await changes(tiny.url, 8)
    expect(all.slice(4)).toEqual(['modified c', 'added d', 'deleted a', 'synced'])
    expect(all).not.toContain('lost')
  })

  test('403 on watch: says lost once, and reads the list every ten seconds', async () => {
    const clock = new InstantClock()
    const tiny = await scripted({
      lists: [list('1', configMapBody('a', '1')), list('2', configMapBody('a', '2')), list('3')],
      watches: [(_, response) => refuse(response, 403, 'Forbidden: cannot watch resource')],
    })
    expect(await changes(tiny.url, 7, clock)).toEqual([
      'added a',
      'synced',
      'lost',
      'modified a',
      'synced',
      'deleted a',
      'synced',
    ])
    expect(clock.slept).toEqual([10_000, 10_000])
  })

  test('403 on watch: watching is tried again after a minute, and lost not said again', async () => {
    const tiny = await scripted({
      lists: [list('1')],
      watches: [
        (_, response) => refuse(response, 403, 'Forbidden: cannot watch resource'),
        (_, response) => refuse(response, 403, 'Forbidden: cannot watch resource'),
        events(event('ADDED', 'a', '2')),
      ],
    })
    const observed = await changes(tiny.url, 15)
    expect(observed.filter((each) => each === 'lost')).toHaveLength(1)
    expect(observed.filter((each) => each === 'synced')).toHaveLength(13)
    expect(observed.at(-1)).toBe('added a')
  })

  test('a server that is away: lost once, then the differences and synced', async () => {
    const tiny = await scripted({
      lists: [list('1', configMapBody('a', '1')), away, away, list('9', configMapBody('b', '8'))],
      watches: [away, away, events()],
    })
    expect(await changes(tiny.url, 6)).toEqual([
      'added a',
      'synced',
      'lost',
      'added b',
      'deleted a',
      'synced',
    ])
  })

  test('a kind that is not served yet: lost, asked for slowly, and told when it is', async () => {
    const clock = new InstantClock()
    const tiny = await scripted({
      lists: [missing, missing, list('1', configMapBody('a', '1'))],
      watches: [events()],
    })
    expect(await changes(tiny.url, 3, clock)).toEqual(['lost', 'added a', 'synced'])
    expect(clock.slept).toEqual([10_000, 10_000])
  })

  test('a server that ends every watch at once is not asked without a pause', async () => {
    const clock = new InstantClock()
    const tiny = await scripted({
      lists: [list('1')],
      watches: [...Array.from({ length: 4 }, () => thenEnd(events())), events(event('ADDED', 'a', '2'))],
    })
    expect(await changes(tiny.url, 2, clock)).toEqual(['synced', 'added a'])
    expect(clock.slept).toEqual([600, 1200, 2400, 4800])
  })

  test('ends when the signal says so, in the middle of a silence', async () => {
    const tiny = await scripted({ lists: [list('1')], watches: [events()] })
    setTimeout(() => stop.abort(), 50)
    expect(await changes(tiny.url, 99)).toEqual(['synced'])
  })

  test('does not begin after the signal', async () => {
    const tiny = await scripted({ lists: [list('1')], watches: [events()] })
    stop.abort()
    expect(await changes(tiny.url, 99)).toEqual([])
    expect(tiny.asked).toEqual([])
  })
})
