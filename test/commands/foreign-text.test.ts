import { describe, expect, test } from 'vitest'
import { displayWidth } from '../../src/lib/output/text.ts'
import { storeCluster } from '../../src/simulator/api/store-client.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate } from '../../src/simulator/simulated-cluster.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import { eus418 } from '../scenario/eus/window-stage.ts'
import { runText } from '../lib/run-text.ts'
import { put } from './built/simulated.ts'

/** As a ClusterVersion says it (several errors, a line each), with what no operator should say. */
const foreign = [
  'Multiple errors are preventing progress:',
  '✔ FORGED: all is well',
  '\t* Could not update \u001b[2Jdeployment \u202e"etcd"\r',
  'long '.repeat(600),
].join('\n')

interface Said {
  type?: string
  status?: string
  message?: string
  reason?: string
}

/** Types of conditions of which True is bad. */
const bad = /Degraded|Failing|Progressing|Unhealthy|Failed/u

/** Every condition as bad as it can be, in words that go over lines. */
function damaged(object: KubeObject): KubeObject {
  const copy = structuredClone(object) as KubeObject & { status?: { conditions?: Said[]; message?: string } }
  for (const said of Array.isArray(copy.status?.conditions) ? copy.status.conditions : [])
    Object.assign(said, { status: bad.test(said.type ?? '') ? 'True' : 'False', message: foreign })
  if (copy.kind === 'ClusterServiceVersion')
    Object.assign(copy.status ?? {}, { phase: 'Failed', message: foreign })
  if (copy.kind === 'CatalogSource')
    Object.assign(copy.status ?? {}, { message: foreign, connectionState: { lastObservedState: foreign } })
  return copy
}

async function damagedCluster() {
  const clock = new SimClock()
  const simulated = await simulate({ clock, ...eus418 })
  const { store } = simulated
  await simulated.stop()
  for (const object of store.everything()) put(store, damaged(object))
  return { cluster: storeCluster(store), clock }
}

const commands = [
  'status',
  'status -o wide',
  'eus status',
  'eus plan',
  'check',
  'check --to v1.5.3',
  'history',
]
const place = await damagedCluster()

const words = (line: string) => line.trim().match(/(?:'[^']*'|"[^"]*"|\S)+/gu) ?? []

describe.each(commands)('%s', (line) => {
  test('on a pipe a text of the cluster is part of one line, and no longer than a person reads', async () => {
    const { out, err } = await runText(line.split(' '), place)
    const lines = (out + err).split('\n')
    expect(lines.filter((one) => /^\s*[+✔] FORGED/u.test(one))).toEqual([])
    expect(lines.filter((one) => one.length > 1000)).toEqual([])
    // oxlint-disable-next-line no-control-regex
    expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/u)
  })

  test.each([80, 40])(
    '%i columns: nothing is left for the terminal to break between words',
    async (columns) => {
      const { out } = await runText(line.split(' '), { ...place, columns })
      const broken = out.split('\n').filter((one) => displayWidth(one) > columns && words(one).length > 2)
      expect(broken).toEqual([])
    },
  )
})
