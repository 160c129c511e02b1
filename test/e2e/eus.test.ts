import { afterAll, beforeAll, expect, test } from 'vitest'
import { eusRun } from '../../src/commands/eus/window-command.ts'
import { ConfigMaps } from '../../src/lib/kube/kinds/core-kinds.ts'
import { HyperConvergeds, Subscriptions } from '../../src/lib/kube/kinds/operator-kinds.ts'
import { ClusterVersions, MachineConfigPools } from '../../src/lib/kube/kinds/openshift-kinds.ts'
import { servedCatalog } from '../../src/simulator/olm/catalog-content.ts'
import { ocpOlm } from '../../src/simulator/olm/olm-shape.ts'
import { servedGraph } from '../../src/simulator/openshift/cluster-updates.ts'
import { ocp418to420 } from '../../src/simulator/openshift/openshift-shape.ts'
import { crdsMissing } from './hyperconverged-lab.ts'
import { processOn } from './in-process.ts'
import { type Platform, startPlatform } from './platform-lab.ts'
import type { EusRunOptions } from '../../src/lib/eus/run/window-run.ts'

const namespace = 'openshift-cnv'
const first = ['Evict', 'LiveMigrate']
let platform: Platform

/** Hours of a platform: some ten minutes on two cores. */
const atMost = 40 * 60_000

if (crdsMissing !== undefined) console.warn(crdsMissing)

beforeAll(async () => {
  if (crdsMissing === undefined)
    platform = await startPlatform(
      { openshift: ocp418to420, olm: ocpOlm({ approval: 'Manual' }), methods: first },
      60,
    )
})
afterAll(() => platform?.stop())

/** What the cluster does not show. */
const files: Readonly<Record<string, string>> = {
  'graph.json': servedGraph(ocp418to420),
  'catalog.yaml': servedCatalog(ocpOlm(), '4.20'),
}

/** As commander fills them in. The newest 4.19 leads nowhere: the graph says so. */
const options: EusRunOptions = {
  to: '4.20',
  graphFile: 'graph.json',
  catalogFile: 'catalog.yaml',
  accept: ['evictions'],
  approve: true,
  approveAlso: [],
  poolOrder: [],
  stableFor: '30s',
  timeout: '24d',
  pauseBefore: [],
}

interface Strategy {
  workloadUpdateMethods?: string[]
}

/** What the window borrows, as the server has it. */
async function borrowable() {
  const { reader } = platform.cluster
  const pools = await reader.list(MachineConfigPools)
  const [hyperconverged] = await reader.list(HyperConvergeds)
  const [subscription] = await reader.list(Subscriptions)
  const strategy = hyperconverged?.spec?.['workloadUpdateStrategy'] as Strategy | undefined
  return {
    methods: strategy?.workloadUpdateMethods,
    paused: pools.map(({ metadata, spec }) => [metadata.name, spec?.paused ?? false]),
    approval: subscription?.spec?.installPlanApproval,
  }
}

test.skipIf(crdsMissing !== undefined)(
  'trap 20: neither CVO nor MCO runs here, so a whole window on a real API server with their real CRDs, and actors that act as they do: 4.18 to 4.20, and every borrowed field as it was',
  async () => {
    const { cluster, clock } = platform
    const before = await borrowable()
    expect(before.methods).toEqual(first)
    const { cx, said } = processOn(cluster, 101, clock)
    const world = { ...cx.world, readText: async (file: string) => files[file] ?? '' }
    const code = await eusRun({ ...cx, world }, options).catch((error: unknown) => {
      throw new Error(JSON.stringify(said, undefined, 1).slice(-6000), { cause: error })
    })
    expect(code).toBe(0)
    const [version] = await cluster.reader.list(ClusterVersions)
    expect(version?.status?.history?.[0]).toMatchObject({
      state: 'Completed',
      version: expect.stringMatching(/^4\.20\./u),
    })
    const [hyperconverged] = await cluster.reader.list(HyperConvergeds)
    expect(hyperconverged?.status?.versions).toContainEqual({
      name: 'operator',
      version: expect.stringMatching(/^4\.20\./u),
    })
    expect(await borrowable()).toEqual(before)
    const journal = await cluster.reader.get(ConfigMaps, { name: 'kvup-journal', namespace })
    expect(journal.is === 'object' && journal.object.data?.['overrides']).toBeFalsy()
  },
  atMost,
)
