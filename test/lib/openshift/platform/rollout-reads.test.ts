import { expect, test } from 'vitest'
import type { Page, Reader } from '../../../../src/lib/kube/cluster.ts'
import { readerWith } from '../../../../src/lib/kube/cluster.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'
import type { Kind, KubeObject } from '../../../../src/lib/kube/object.ts'
import { readLayers } from '../../../../src/lib/openshift/layers.ts'
import { readSaved } from '../../../../src/lib/kube/saved/saved-file.ts'
import { dumpOf, rollout } from '../rollouts.ts'

const vmi = (name: string, on: string) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name, namespace: 'demo', uid: `vmi-${name}`, resourceVersion: '1' },
  spec: { evictionStrategy: 'LiveMigrate', domain: {} },
  status: { phase: 'Running', nodeName: on, conditions: [{ type: 'LiveMigratable', status: 'True' }] },
})

const budget = (name: string, allowed: number) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: 'demo', uid: `pdb-${name}`, resourceVersion: '1' },
  spec: { minAvailable: 1, selector: { matchLabels: { 'kubevirt.io': 'virt-launcher' } } },
  status: { disruptionsAllowed: allowed },
})

/** A cluster at rest whose pool of workers rolls, and drains worker-0; VMs on other nodes by the hundred. */
async function rolling(): Promise<Reader> {
  const example = rollout('drain-updating-by-budget')
  const configs = rollout('nodes-by-phase').with.filter(({ kind }) => kind === 'MachineConfig')
  const objects = [
    ...example.with.filter(({ kind }) => !['VirtualMachineInstance', 'PodDisruptionBudget'].includes(kind)),
    ...configs,
    ...Array.from({ length: 300 }, (_, at) => vmi(`web-${at}`, at === 299 ? 'worker-0' : 'worker-9')),
    ...Array.from({ length: 60 }, (_, at) => budget(`fine-${at}`, 1)),
    budget('web', 0),
  ]
  return (await readSaved(dumpOf({ ...example, with: objects }), 'platform')).reader
}

const look = (reader: Reader) =>
  readLayers(reader, {
    at: new Date('2026-11-20T12:00:00Z'),
    kubevirt: { is: 'none' },
    onPlatform: true,
    managed: false,
  })

const largeKinds: ReadonlySet<string> = new Set(['virtualmachineinstances', 'poddisruptionbudgets'])

test('VMs and budgets are read page by page while a pool drains, and never as a whole', async () => {
  const live = await rolling()
  const asked: string[] = []
  const reader = readerWith(live, {
    async list(kind, where) {
      if (largeKinds.has(kind.plural)) throw new Error(`all ${kind.plural} at once`)
      return live.list(kind, where)
    },
    async *pages<T extends KubeObject>(kind: Kind<T>) {
      asked.push(kind.plural)
      const items = await live.list(kind)
      for (let at = 0; at < items.length; at += 50) {
        const page: Page<T> = { items: items.slice(at, at + 50), resourceVersion: '1' }
        yield page
      }
    },
  })
  const { layers = [], platform } = (await look(reader)) ?? {}
  expect(asked.filter((plural) => largeKinds.has(plural)).toSorted()).toEqual([...largeKinds].toSorted())
  expect(layers.find(({ title }) => title === 'pool worker')?.notes).toContain(
    'node worker-0 cannot be drained: VM demo/web-299 may not be evicted: PodDisruptionBudget web allows no disruption',
  )
  const worker = platform?.pools?.find(({ name }) => name === 'worker')
  expect(worker?.drains).toMatchObject([{ node: 'worker-0', vms: [{ vm: 'demo/web-299' }] }])
})

test('rendered configurations, which hold pull secrets, may not be read with kvup-view: then the release of a node is not known, and nothing else changes', async () => {
  const live = await rolling()
  const refused = readerWith(live, {
    async get(kind, ref) {
      if (kind.plural === 'machineconfigs')
        throw new ApiError(403, 'Forbidden', 'machineconfigs is forbidden')
      return live.get(kind, ref)
    },
  })
  const [whole, partly] = await Promise.all([look(live), look(refused)])
  const worker = (seen: typeof whole) => seen?.platform?.pools?.find(({ name }) => name === 'worker')
  expect(worker(whole)?.nodes).toMatchObject([{ name: 'worker-0', version: '4.13.6' }])
  expect(worker(whole)).not.toHaveProperty('releasesUnknown')
  expect(worker(partly)?.nodes).toMatchObject([{ name: 'worker-0', phase: 'draining' }])
  expect(worker(partly)?.nodes?.[0]).not.toHaveProperty('version')
  expect(worker(partly)?.releasesUnknown).toBe('machineconfigs is forbidden')
  const notes = (seen: typeof whole) => seen?.layers.find(({ title }) => title === 'pool worker')?.notes ?? []
  expect(notes(partly)).toContain('the release of these nodes is unknown: machineconfigs is forbidden')
  expect(notes(whole).join('\n')).not.toContain('not known')
  const verdicts = (seen: typeof whole) => seen?.layers.map(({ title, verdict }) => [title, verdict])
  expect(verdicts(partly)).toEqual(verdicts(whole))
})
