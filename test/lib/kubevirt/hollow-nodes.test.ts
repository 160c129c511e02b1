import { expect, test } from 'vitest'
import { readerWith } from '../../../src/lib/kube/cluster.ts'
import type { Node } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { KubeVirt, VirtualMachineInstance } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Pod } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { hollowNodes, offeredNodes } from '../../../src/lib/kubevirt/hollow-nodes.ts'
import { runText } from '../run-text.ts'
import { exampleOf, savedExample } from './example.ts'
import fixture from './hollow-nodes.json' with { type: 'json' }

const at = new Date('2026-11-21T10:00:00Z')
const ago = (seconds: number) => new Date(at.getTime() - seconds * 1000).toISOString()

const node = (name: string, kvm: string | undefined, schedulable = 'true'): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubevirt.io/schedulable': schedulable } },
  status: { allocatable: { cpu: '8', ...(kvm !== undefined && { 'devices.kubevirt.io/kvm': kvm }) } },
})

const handler = (on: string, readyFor = 600): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `virt-handler-${on}`, namespace: 'kubevirt', labels: { 'kubevirt.io': 'virt-handler' } },
  spec: { nodeName: on },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: ago(readyFor) }],
  },
})

const kubevirt = (configuration: object = {}): KubeVirt =>
  ({
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt', namespace: 'kubevirt' },
    spec: { configuration },
  }) as KubeVirt

const asked = (nodes: readonly Node[], pods: readonly Pod[], configuration?: object) =>
  hollowNodes({
    nodes,
    pods,
    installation: { namespace: 'kubevirt', kubevirt: kubevirt(configuration) },
    at,
  })?.names

test.each(fixture.rows as unknown as [string, string[] | null, Parameters<typeof asked>][])(
  '%s',
  (_, names, inputs) => expect(asked(...inputs)).toEqual(names ?? undefined),
)

test('where no time is told a virt-handler that has just come counts', () => {
  const installation = { namespace: 'kubevirt', kubevirt: kubevirt() }
  const inputs = { nodes: [node('a', '0')], pods: [handler('a', 5)], installation }
  expect(hollowNodes(inputs)?.names).toEqual(['a'])
})

const waiting = fixture.waiting as unknown as VirtualMachineInstance

/** The healthy example, one node of which has lost its device, and VMIs. */
function withHollowNode(...vmis: readonly VirtualMachineInstance[]) {
  const { objects, at: time } = savedExample('healthy')
  const on = objects.find(
    (object): object is Pod =>
      object.kind === 'Pod' && object.metadata.labels?.['kubevirt.io'] === 'virt-handler',
  )
  const name = on?.spec?.nodeName ?? ''
  const rest = objects.filter(({ kind, metadata }) => kind !== 'Node' || metadata.name !== name)
  return { name, ...exampleOf([...rest, node(name, '0'), ...vmis], time) }
}

const status = async ({ reader, clock }: ReturnType<typeof withHollowNode>) => {
  const cluster = { reader } as Parameters<typeof runText>[1]['cluster']
  return (await runText(['status'], { cluster, clock, columns: 200 })).out
}

test('where VMs do not run kvup status names such a node, with what helps, and changes no verdict', async () => {
  const seen = withHollowNode(waiting)
  const out = await status(seen)
  expect(out).toMatch(
    /^KubeVirt .* healthy.*\n {2}.*; 1 VM is not running as it should; 1 node without \/dev\/kvm$/mu,
  )
  expect(out).toContain(
    `! 1 node has the label kubevirt.io/schedulable but no devices.kubevirt.io/kvm (${seen.name})`,
  )
  expect(out).toContain(
    `spec.nodeName=${seen.name}     restarts its device plugin; VMs keep running, but its migrations fail`,
  )
})

test('where all runs no node is read for it', async () => {
  expect(await status(withHollowNode())).not.toContain('/dev/kvm')
})

test('of too many nodes none is read', async () => {
  const pages: number[] = []
  const large = readerWith(withHollowNode().reader, {
    async *pages() {
      pages.push(pages.length)
      yield { items: [], resourceVersion: '1', remaining: 501 }
      throw new Error('a second page')
    },
  })
  expect(await offeredNodes(large)).toEqual({ known: false, why: 'more than 500 nodes take VMs' })
  expect(pages).toHaveLength(1)
})
