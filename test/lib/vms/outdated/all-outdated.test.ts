import { expect, test } from 'vitest'
import type { Reader, Where } from '../../../../src/lib/kube/cluster.ts'
import { type KubeVirt, KubeVirts } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { countWorkloads, outdatedLabel } from '../../../../src/lib/kubevirt/snapshot.ts'
import { noneOutdated } from '../../../../src/lib/eus/steps/eus-vm-steps.ts'
import { getCanary, listOutdated } from '../../../../src/lib/vms/outdated-vms.ts'
import { countMoving, forecastOutdated } from '../../../../src/lib/vms/forecast/vm-forecast.ts'
import { Vms } from '../../../../src/lib/vms/vm.ts'
import { type FleetRules, readFleet } from '../../../../src/lib/vms/waves/update-fleet.ts'

const kubevirt: KubeVirt = {
  apiVersion: KubeVirts.apiVersion,
  kind: KubeVirts.kind,
  metadata: { name: 'kubevirt', namespace: 'kubevirt' },
}
const rules = { methods: ['LiveMigrate'], clusterEviction: undefined }
const selection = { namespace: 'shop', labels: 'tier=gold', node: 'node-1' }

const readings: Readonly<Record<string, (reader: Reader) => unknown>> = {
  'how many there are': countWorkloads,
  'one to be moved by hand': getCanary,
  'what becomes of them': (reader) => forecastOutdated(reader, kubevirt, []),
  'those that the methods move': (reader) => countMoving(reader, rules),
  'those that may stay': (reader) => {
    const step = noneOutdated(
      { id: 'vms-left', title: '', risk: 'vms-that-stay' },
      { accepted: [], command: '' },
    )
    return step.check({ reader } as never)
  },
  'those of a selection': async (reader) => {
    const how = { rules: Promise.resolve(undefined), remedies: Promise.resolve({} as never) }
    for await (const { items } of listOutdated(reader, selection, how)) expect(items).toEqual([])
  },
  'those of a selection that are updated': (reader) =>
    readFleet(reader, { selection } as never, rules as unknown as FleetRules, new Vms(reader)),
}

/** Where its VMIs were asked for; there is none. */
function empty(): { reader: Reader; asked: Where[] } {
  const asked: Where[] = []
  const pages: Reader['pages'] = async function* pages(_, where = {}) {
    asked.push(where)
    yield { items: [], resourceVersion: '1', ...(where.labels === undefined && { remaining: 9_000 }) }
  }
  return { reader: { pages } as Reader, asked }
}

test.each(Object.entries(readings))('of the outdated VMIs, %s are read in few pages', async (_, read) => {
  const { reader, asked } = empty()
  await read(reader)
  const labelled = asked.filter(({ labels }) => labels?.split(',').includes(outdatedLabel))
  expect(labelled.map(({ pageSize }) => pageSize)).toEqual([2000])
})

test('a selection is narrowed by the server', async () => {
  const { reader, asked } = empty()
  await readings['those of a selection']?.(reader)
  await readings['those of a selection that are updated']?.(reader)
  const labels = `${outdatedLabel},tier=gold,kubevirt.io/nodeName=node-1`
  const where = { namespace: 'shop', labels, pageSize: 2000 }
  expect(asked).toEqual([where, where])
})
