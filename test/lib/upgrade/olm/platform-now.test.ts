import { expect, test } from 'vitest'
import type { Reader } from '../../../../src/lib/kube/cluster.ts'
import type { Kind } from '../../../../src/lib/kube/object.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'
import { platformNow } from '../../../../src/lib/upgrade/methods/operator-manifest.ts'
import fixture from './platform-now.json' with { type: 'json' }

interface Platform {
  history?: object[]
  desired?: string
  conditions?: object[]
  pool?: object
  refused?: string
  generation?: number
}

const at = '4.18.21'
const done = { state: 'Completed', version: at }
const is = (type: string, status: string, message = '') => ({ type, status, message })

/** A cluster version and its pools, as a server would list them. */
function readerOf({
  history = [done],
  desired = at,
  conditions = [],
  pool = {},
  refused,
  generation = 1,
}: Platform): Reader {
  const clusterVersion = {
    metadata: { name: 'version', generation },
    spec: {},
    status: { observedGeneration: 1, desired: { version: desired }, history, conditions },
  }
  const master = {
    metadata: { name: 'master', generation: 1 },
    spec: { configuration: { name: 'rendered-a' }, ...pool },
    status: {
      observedGeneration: 1,
      configuration: { name: 'rendered-a' },
      machineCount: 3,
      updatedMachineCount: 3,
      conditions: [is('Updated', 'True'), is('Updating', 'False')],
    },
  }
  const worker = { ...master, metadata: { name: 'worker' }, status: {} }
  const all: Record<string, object[]> = {
    ClusterVersion: [clusterVersion],
    MachineConfigPool: [master, worker],
  }
  const list = async ({ kind }: Kind) => {
    if (kind === refused) throw new ApiError(403, 'Forbidden', `you may not list ${kind}`)
    return all[kind] ?? []
  }
  return { list } as unknown as Reader
}

test('night E4: an idle platform is in nobody’s way, whatever its workers do', async () => {
  expect(await platformNow(readerOf({}))).toEqual({ version: at, minor: '4.18' })
})

test.each(fixture.busy as unknown as [name: string, platform: Platform, says: string][])(
  'night E4: %s: no operator is updated',
  async (_, platform, says) => {
    expect((await platformNow(readerOf(platform))).busy).toContain(says)
  },
)

test('what the platform says of its own next minor is shown and not waited for', async () => {
  const conditions = [is('Upgradeable', 'False', 'an operator is incompatible')]
  const now = await platformNow(readerOf({ conditions }))
  expect(now).toEqual({ version: at, minor: '4.18', notUpgradeable: 'an operator is incompatible' })
})

test('a cluster without OpenShift has no platform to wait for', async () => {
  const reader = {
    list: () => Promise.reject(new ApiError(404, 'NotFound', 'not served')),
  } as unknown as Reader
  expect(await platformNow(reader)).toEqual({})
})
