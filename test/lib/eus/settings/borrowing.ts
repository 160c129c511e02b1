import type { Cluster } from '../../../../src/lib/kube/cluster.ts'
import {
  type MachineConfigPool,
  MachineConfigPools,
  MachineHealthChecks,
  type NodeHealthCheck,
  NodeHealthChecks,
} from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import type { KubeObject } from '../../../../src/lib/kube/object.ts'
import {
  type Borrowable,
  overriddenEntry,
  overriddenField,
} from '../../../../src/lib/eus/settings/eus-settings.ts'
import type { Procedure, Step } from '../../../../src/lib/engine/step.ts'
import { configMapJournal } from '../../../../src/lib/engine/journal-config-map.ts'
import { leaseLock } from '../../../../src/lib/engine/lease.ts'
import { runProcedure } from '../../../../src/lib/engine/runner.ts'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { seed, Store } from '../../../../src/simulator/api/store.ts'
import { custom } from '../../../../src/simulator/api/kinds/sim-kind.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'

const namespace = 'openshift-cnv'

/** What is borrowed, one of each shape. */
export const worker = { name: 'worker' }
export const health = { name: 'workers', namespace: 'openshift-machine-api' }
export const nodeHealth = { name: 'nhc' }

/** A server with pools and health checks that nobody but the test writes, and runs in front of it. */
export class Borrowing {
  readonly clock = new SimClock()
  readonly store = new Store(this.clock)

  constructor(objects: readonly KubeObject[]) {
    for (const kind of [MachineConfigPools, MachineHealthChecks, NodeHealthChecks])
      this.store.kinds.add(custom(kind))
    seed(this.store, [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, ...objects])
  }

  get cluster(): Cluster {
    return storeCluster(this.store)
  }

  journal(cluster = this.cluster) {
    return configMapJournal(cluster, { namespace, who: 'jane@here', clock: this.clock })
  }

  run(steps: readonly Step[], cluster: Cluster = this.cluster, host = 'here') {
    const procedure: Procedure = { name: 'eus to 4.20', reached: async () => false, steps: async () => steps }
    return runProcedure(procedure, {
      cluster,
      clock: this.clock,
      journal: this.journal(cluster),
      lock: leaseLock(cluster, {
        namespace,
        holder: { who: `jane@${host}`, host, machine: host, pid: 1, isAlive: () => false },
        clock: this.clock,
      }),
      emit: () => undefined,
      signal: new AbortController().signal,
      who: 'jane@here',
      limits: { timeoutMs: 3_600_000 },
    })
  }

  /** Without what every write changes. */
  bare(field: Pick<Borrowable, 'kind' | 'ref'>): unknown {
    const object = this.store.read(field.kind, { namespace: '', ...field.ref })
    if (object === undefined) return undefined
    const { managedFields: _, resourceVersion: __, generation: ___, ...metadata } = object.metadata
    return structuredClone({ ...object, metadata })
  }

  uidOf(field: Pick<Borrowable, 'kind' | 'ref'>): string {
    return this.store.read(field.kind, { namespace: '', ...field.ref })?.metadata.uid ?? ''
  }
}

export const pool = (spec: object = {}): MachineConfigPool => ({
  apiVersion: MachineConfigPools.apiVersion,
  kind: 'MachineConfigPool',
  metadata: { name: worker.name },
  spec: { maxUnavailable: 1, ...spec },
})

export const healthCheck = (annotations?: Record<string, string>): KubeObject => ({
  apiVersion: MachineHealthChecks.apiVersion,
  kind: 'MachineHealthCheck',
  metadata: { ...health, ...(annotations && { annotations }) },
})

export const nodeHealthCheck = (spec: NodeHealthCheck['spec'] = {}): NodeHealthCheck => ({
  apiVersion: NodeHealthChecks.apiVersion,
  kind: 'NodeHealthCheck',
  metadata: { ...nodeHealth },
  spec,
})

const harmless = 'for weeks'

export const pausedPool = (uid: string): Borrowable =>
  overriddenField(
    {
      override: 'pool-paused/worker',
      kind: MachineConfigPools,
      ref: worker,
      uid,
      path: ['spec', 'paused'],
      harmless,
    },
    true,
    { meanwhile: 'paused', absentMeans: false },
  )

export const pausedHealthCheck = (uid: string): Borrowable =>
  overriddenField(
    {
      override: 'machine-health-check/openshift-machine-api/workers',
      kind: MachineHealthChecks,
      ref: health,
      uid,
      path: ['metadata', 'annotations', 'cluster.x-k8s.io/paused'],
      harmless,
    },
    'kvup',
    { meanwhile: 'paused' },
  )

export const pausedNodeHealthCheck = (uid: string): Borrowable =>
  overriddenEntry(
    {
      override: 'node-health-check/nhc',
      kind: NodeHealthChecks,
      ref: nodeHealth,
      uid,
      path: ['spec', 'pauseRequests'],
      harmless,
    },
    'kvup',
    { meanwhile: 'paused' },
  )
