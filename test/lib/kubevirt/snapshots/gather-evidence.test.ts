import { expect, test } from 'vitest'
import type { Reader, Where } from '../../../../src/lib/kube/cluster.ts'
import type { Kind, KubeObject } from '../../../../src/lib/kube/object.ts'
import { ResourceQuotas } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { VirtualMachineInstances } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { takeFullSnapshot } from '../../../../src/lib/kubevirt/full-snapshot.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { simulate } from '../../../../src/simulator/simulated-cluster.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'
import fixture from './gather-evidence.json' with { type: 'json' }

async function simulated(
  act: (reader: Reader, clock: SimClock, sim: Awaited<ReturnType<typeof simulate>>) => Promise<void>,
) {
  const clock = new SimClock()
  const sim = await simulate({ clock, version: 'v1.8.4', vms: 6, workers: 2, controlPlanes: 1 })
  try {
    await act(sim.cluster().reader, clock, sim)
  } finally {
    await sim.stop()
  }
}

interface Call {
  resource: string
  where: Where | undefined
}

/** Notes what is read, and refuses some of it. */
function watched(reader: Reader, refused: Record<string, number> = {}): { reader: Reader; calls: Call[] } {
  const calls: Call[] = []
  const note = (kind: Kind, where: Where | undefined) => {
    calls.push({ resource: kind.plural, where })
    const status = refused[kind.plural]
    if (status) throw new ApiError(status, 'x', `${kind.plural}: ${status}`)
  }
  const noted: Reader = {
    get: async (kind, ref) => {
      note(kind, ref)
      return reader.get(kind, ref)
    },
    list: async (kind, where) => {
      note(kind, where)
      return reader.list(kind, where)
    },
    async *pages<T extends KubeObject>(kind: Kind<T>, where?: Where) {
      note(kind, where)
      yield* reader.pages(kind, where)
    },
    watch: (kind, where, signal) => reader.watch(kind, where, signal),
    versions: async (group) => reader.versions(group),
    version: async () => reader.version(),
    log: async (pod) => reader.log(pod),
  }
  return { reader: noted, calls }
}

test('everything is known of a whole cluster, but what was not asked', async () => {
  await simulated(async (reader, clock) => {
    const snapshot = await takeFullSnapshot({ reader }, clock)
    const unknown = Object.entries(snapshot).filter(([, part]) => part.known === false)
    expect(unknown.map(([name]) => name)).toEqual(['rights'])
    expect(snapshot.instances).toMatchObject({ items: [{ total: 6, running: 6 }] })
    expect(snapshot.workloads).toMatchObject({ items: [{ instances: 6, outdated: 0 }] })
    expect(snapshot.vms).toMatchObject({ items: [{ total: 6 }] })
    expect(snapshot.serverVersion).toBeDefined()
    expect(snapshot.clusterUid).toMatchObject({ items: [expect.any(String)] })
    const roles = snapshot.operatorRoles.known ? snapshot.operatorRoles.items : []
    expect(roles.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toContain(
      'ClusterRole/kubevirt-operator',
    )
    const crds = snapshot.crds.known ? snapshot.crds.items : []
    expect(crds.length).toBeGreaterThan(0)
    expect(crds.flatMap(({ spec }) => spec?.versions ?? []).filter((version) => 'schema' in version)).toEqual(
      [],
    )
  })
})

test('VMIs are listed once, for all parts', async () => {
  await simulated(async (reader, clock) => {
    const { reader: noted, calls } = watched(reader)
    await takeFullSnapshot({ reader: noted }, clock)
    expect(calls.filter(({ resource }) => resource === 'virtualmachineinstances')).toHaveLength(1)
    expect(calls.filter(({ resource }) => resource === 'secrets')).toEqual([])
  })
})

test('quotas only of namespaces with VMIs', async () => {
  await simulated(async (reader, clock, sim) => {
    const [vmi] = await reader.list(VirtualMachineInstances)
    const { apiVersion, kind } = ResourceQuotas
    for (const namespace of [vmi?.metadata.namespace ?? '', 'default'])
      sim.store.put(ResourceQuotas, { apiVersion, kind, metadata: { name: 'quota', namespace } })
    const { quotas } = await takeFullSnapshot({ reader }, clock)
    const namespaces = quotas.known ? quotas.items.map(({ metadata }) => metadata.namespace) : []
    expect(namespaces).toEqual([vmi?.metadata.namespace])
  })
})

test('only what is wanted is read', async () => {
  await simulated(async (reader, clock) => {
    const { reader: noted, calls } = watched(reader)
    const snapshot = await takeFullSnapshot({ reader: noted }, clock, { only: ['nodes'] })
    expect(new Set(calls.map(({ resource }) => resource))).toEqual(
      new Set(['kubevirts', 'deployments', 'nodes']),
    )
    expect(snapshot.pods).toEqual({ known: false, why: 'not asked for' })
    expect(snapshot.nodes.known).toBe(true)
  })
})

test.each<[string, string[]]>(fixture.forbidden as never)(
  '403 on %s makes %j unknown, and says why',
  async (resource, parts) => {
    await simulated(async (reader, clock, sim) => {
      const [vmi] = await reader.list(VirtualMachineInstances)
      // Networks are read where a VM is on one.
      const networks = [{ name: 'red', multus: { networkName: 'red' } }]
      if (vmi)
        sim.store.put(VirtualMachineInstances, { ...vmi, spec: { ...vmi.spec, networks } } as typeof vmi)
      const { reader: noted } = watched(reader, { [resource]: 403 })
      const snapshot = await takeFullSnapshot({ reader: noted }, clock)
      const unknown = Object.entries(snapshot).filter(
        ([name, part]) => part.known === false && name !== 'rights',
      )
      expect(unknown.map(([name]) => name).toSorted()).toEqual(parts.toSorted())
      for (const [, part] of unknown) expect(part.why).toBe(`${resource}: 403`)
    })
  },
)

test('any other failure is thrown', async () => {
  await simulated(async (reader, clock) => {
    const { reader: noted } = watched(reader, { nodes: 500 })
    await expect(takeFullSnapshot({ reader: noted }, clock)).rejects.toThrow('nodes: 500')
  })
})

test('one review per question', async () => {
  await simulated(async (reader, clock, sim) => {
    const { reviewer } = sim.cluster({ user: 'jane', groups: [] })
    const access = { verb: 'patch', group: 'kubevirt.io', resource: 'kubevirts', namespace: 'kubevirt' }
    const snapshot = await takeFullSnapshot({ reader, reviewer }, clock, {
      rights: [{ access, optional: false }],
      only: ['rights'],
    })
    expect(snapshot.rights).toEqual({
      known: true,
      items: [{ what: 'patch kubevirts.kubevirt.io in namespace kubevirt', allowed: false, optional: false }],
    })
  })
})
