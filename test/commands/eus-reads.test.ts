import { expect, test } from 'vitest'
import { planEus } from '../../src/commands/eus/eus-status.ts'
import type { Cluster, Reader } from '../../src/lib/kube/cluster.ts'
import { onceCached } from '../../src/lib/kube/read-cache.ts'
import type { Kind } from '../../src/lib/kube/object.ts'
import { eusRunOn, eusStatusOn, serveFiles, twoWorkers418 } from '../scenario/eus/window-stage.ts'
import { type Ended, play, type Stage, type Terminal } from '../scenario/stage.ts'

const questionOf = ({ apiVersion, plural }: Kind, where: object = {}) =>
  `${apiVersion} ${plural} ${JSON.stringify(where)}`

/** The cluster, and every list that was asked of it. */
function counting(cluster: Cluster): { cluster: Cluster; lists: string[] } {
  const lists: string[] = []
  const { reader } = cluster
  const list: Reader['list'] = (kind, where) => {
    lists.push(questionOf(kind, where))
    return reader.list(kind, where)
  }
  const pages: Reader['pages'] = (kind, where) => {
    lists.push(questionOf(kind, where))
    return reader.pages(kind, where)
  }
  return { cluster: { ...cluster, reader: { ...onceCached(reader), list, pages } }, lists }
}

const plan = (stage: Stage, terminal: Terminal) => {
  serveFiles(stage)
  const options = { accept: [], graphFile: 'graph.json', catalogFile: 'catalog.yaml' }
  return stage.perform((cx) => planEus(cx, options), { ...terminal, commandLine: 'kvup eus plan' })
}
const status = (stage: Stage, terminal: Terminal) => eusStatusOn(stage, {}, terminal)
const answeredNo = (stage: Stage, terminal: Terminal) => eusRunOn(stage, {}, { ...terminal, yes: false })

type Command = (stage: Stage, terminal: Terminal) => Promise<Ended>

const rows: readonly [string, Command, number][] = [
  ['eus plan', plan, 0],
  ['eus status', status, 0],
  ['eus run, up to the question', answeredNo, 3],
]

/** Kinds on whose objects lies what kvup changed for a time: they are few, and asked anew whenever that decides something. */
const changed =
  /^\S+ (?:kubevirts|hyperconvergeds|subscriptions|clusterversions|machineconfigpools|machinehealthchecks|nodehealthchecks) /

const twice = (lists: readonly string[]) =>
  lists.filter((one, at) => lists.indexOf(one) !== at && !changed.test(one))

test.each(rows)('%s reads no list twice', (_, command, code) =>
  play({ ...twoWorkers418, vms: 3 }, async (stage) => {
    const { cluster, lists } = counting(stage.cluster)
    expect(await command(stage, { cluster })).toMatchObject({ code })
    expect(twice(lists)).toEqual([])
    expect(lists.some((one) => one.includes('virtualmachineinstances'))).toBe(true)
  }),
)

test('eus status in an open window reads no list twice', () =>
  play({ ...twoWorkers418, vms: 3 }, async (stage) => {
    expect(await eusRunOn(stage, { until: 'accepted-4.19' })).toMatchObject({ code: 0 })
    const { cluster, lists } = counting(stage.cluster)
    expect(await status(stage, { cluster })).toMatchObject({ code: 0 })
    expect(twice(lists)).toEqual([])
  }))
