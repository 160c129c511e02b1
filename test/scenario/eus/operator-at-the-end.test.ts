import { expect, test } from 'vitest'
import type { Cluster } from '../../../src/lib/kube/cluster.ts'
import { play } from '../stage.ts'
import { borrowedFields, doneSteps, eusRunOn, platformOf, small418 } from './window-stage.ts'

const unheld = { ...small418, methods: [] }

/** As HyperConverged reads while its operator has not yet said which version it is. */
function silent(cluster: Cluster): Cluster {
  const { reader } = cluster
  const list: typeof reader.list = async (kind, where) => {
    const items = await reader.list(kind, where)
    return kind.kind === 'HyperConverged' ? items.map(withoutVersions) : items
  }
  return {
    ...cluster,
    reader: new Proxy(reader, {
      get: (of, name) => {
        const value: unknown = name === 'list' ? list : Reflect.get(of, name)
        return typeof value === 'function' ? value.bind(of) : value
      },
    }),
  }
}

function withoutVersions<T extends object>(object: T): T {
  const { status = {}, ...rest } = object as T & { status?: object }
  return { ...rest, status: { ...status, versions: undefined } } as unknown as T
}

test('methods that were empty beforehand are nobody’s loan: the last release of the operator is seen to its end all the same', () =>
  play(unheld, async (stage) => {
    await eusRunOn(stage, { until: 'request-4.20' })
    const ended = await eusRunOn(stage)
    expect(ended.error).toBeUndefined()
    const steps = doneSteps(ended)
    const order = ['platform-4.20', 'operator-4.20', 'unpause-worker', 'rolled-worker']
    expect(steps.filter((id) => order.includes(id))).toEqual(order)
    expect(steps.filter((id) => id.startsWith('operator-releases-4.20'))).not.toEqual([])
    expect(borrowedFields(stage).paused).toEqual({ master: false, worker: false })
  }))

test('an operator that does not say its version is waited for: nothing is given back meanwhile', () =>
  play(unheld, async (stage) => {
    await eusRunOn(stage, { until: 'control-plane-4.20' })
    expect(platformOf(stage).status?.history?.[0]).toMatchObject({ state: 'Completed', version: '4.20.5' })
    const ended = await eusRunOn(stage, {}, { cluster: silent(stage.cluster) })
    expect(ended.code).not.toBe(0)
    expect(borrowedFields(stage).paused).toEqual({ master: false, worker: true })
    expect(await eusRunOn(stage)).toMatchObject({ code: 0 })
  }))
