import { expect, test } from 'vitest'
import type { Cluster } from '../../../src/lib/kube/cluster.ts'
import { lying } from './lying-reader.ts'
import { play } from '../stage.ts'
import { borrowedFields, doneSteps, eusRunOn, platformOf, small418 } from './window-stage.ts'

const unheld = { ...small418, methods: [] }

/** As HyperConverged reads while its operator has not yet said which version it is. */
const silent = (cluster: Cluster): Cluster =>
  lying(cluster, 'hyperconvergeds', (hco) => {
    delete hco.status.versions
    return hco
  })

test('methods that were empty beforehand are nobody’s loan: the last release of the operator is seen to its end all the same; one that does not say its version is waited for', () =>
  play(unheld, async (stage) => {
    await eusRunOn(stage, { until: 'control-plane-4.20' })
    expect(platformOf(stage).status?.history?.[0]).toMatchObject({ state: 'Completed', version: '4.20.5' })
    const waited = await eusRunOn(stage, { timeout: '30m' }, { cluster: silent(stage.cluster) })
    expect(waited.code).not.toBe(0)
    expect(borrowedFields(stage).paused).toEqual({ master: false, worker: true })
    const ended = await eusRunOn(stage)
    expect(ended.error).toBeUndefined()
    const steps = doneSteps(ended)
    const order = ['operator-4.20', 'unpause-worker', 'rolled-worker']
    expect(steps.filter((id) => order.includes(id))).toEqual(order)
    expect(steps.filter((id) => id.startsWith('operator-releases-4.20'))).not.toEqual([])
    expect(borrowedFields(stage).paused).toEqual({ master: false, worker: false })
  }))
