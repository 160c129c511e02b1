import { onTestFinished } from 'vitest'
import type { Cluster } from '../../../../src/lib/kube/cluster.ts'
import {
  CatalogSources,
  type ClusterServiceVersion,
  ClusterServiceVersions,
  type InstallPlan,
  InstallPlans,
  type Subscription,
  Subscriptions,
} from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import type { Pod } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import type { KubeObject } from '../../../../src/lib/kube/object.ts'
import { storeCluster } from '../../../../src/simulator/api/store-client.ts'
import { seed, Store } from '../../../../src/simulator/api/store.ts'
import type { SimKind } from '../../../../src/simulator/api/kinds/sim-kind.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { Faults, type MachineryFaults } from '../../../../src/simulator/machinery/machinery-faults.ts'
import { seeded } from '../../../../src/simulator/machinery/controller.ts'
import { runMachinery } from '../../../../src/simulator/simulated-cluster.ts'
import type { OlmFaults } from '../../../../src/simulator/olm/olm-context.ts'
import { olmKinds, olmObjects } from '../../../../src/simulator/olm/olm-objects.ts'
import { unpackProgram } from '../../../../src/simulator/olm/bundle-unpacker.ts'
import { runOlm } from '../../../../src/simulator/olm/olm.ts'
import type { OlmShape } from '../../../../src/simulator/olm/olm-shape.ts'
import { node } from '../machinery/animate.ts'

export interface Lifecycle extends Cluster {
  store: Store
  clock: SimClock
  faults: Faults<OlmFaults & MachineryFaults>
  shape: OlmShape
  subscription(): Subscription
  /** In the order of their generations. */
  plans(): InstallPlan[]
  csv(name: string): ClusterServiceVersion | undefined
  /** Ms of the clock until it holds; throws after ten hours. */
  until(what: string, holds: () => boolean): Promise<number>
  approve(plan: InstallPlan | undefined): Promise<void>
}

export interface ForecastContext {
  kinds?: readonly SimKind[]
  objects?: readonly KubeObject[]
}

/** A cluster with OLM and nothing that runs in its operators' pods, settled; ends with the test. */
export async function lifecycle(shape: OlmShape, beside: ForecastContext = {}): Promise<Lifecycle> {
  const clock = new SimClock()
  const store = new Store(clock)
  for (const kind of [...olmKinds(), ...(beside.kinds ?? [])]) store.kinds.add(kind)
  const nodes = ['worker-1', 'worker-2', 'worker-3'].map((name) =>
    node(name, {
      metadata: {
        name,
        labels: { 'kubernetes.io/os': 'linux', 'node-role.kubernetes.io/control-plane': '' },
      },
    }),
  )
  const first = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
  seed(store, [first, ...nodes, ...(beside.objects ?? []), ...olmObjects(shape)])
  const cluster = storeCluster(store)
  const faults = new Faults<OlmFaults & MachineryFaults>()
  animate(cluster, { clock, faults, shape })
  const own = snapshot(cluster, store, shape, clock)
  await own.until('the operator that was installed runs', () =>
    store.list(ClusterServiceVersions).items.every(hasSucceeded),
  )
  await own.until('the catalog is read', () =>
    store
      .list(CatalogSources)
      .items.every((one) => JSON.stringify(one).includes('"lastObservedState":"READY"')),
  )
  return { ...cluster, ...own, store, clock, faults, shape }
}

function animate(
  cluster: Cluster,
  { clock, faults, shape }: { clock: SimClock; faults: Faults<OlmFaults & MachineryFaults>; shape: OlmShape },
): void {
  const end = new AbortController()
  const bugs: unknown[] = []
  const cx = { ...cluster, clock, random: seeded(7), signal: end.signal }
  const programOf = (pod: Pod) => unpackProgram(pod, { clock, faults })
  const machinery = { faults, programOf, broken: (error: unknown) => bugs.push(error) }
  const running = Promise.all([runMachinery(cx, machinery), runOlm(cx, shape, faults)])
  onTestFinished(async () => {
    end.abort()
    await running
    if (bugs.length > 0) throw bugs[0]
  })
}

function snapshot(cluster: Cluster, store: Store, shape: OlmShape, clock: SimClock) {
  const { namespace, subscription = 'hco-operatorhub' } = shape
  return {
    subscription: () => store.read(Subscriptions, { name: subscription, namespace }) as Subscription,
    plans: () =>
      (store.list(InstallPlans, { namespace }).items as InstallPlan[]).toSorted(
        (a, b) => (a.spec?.generation ?? 0) - (b.spec?.generation ?? 0),
      ),
    csv: (name: string) => store.read(ClusterServiceVersions, { name, namespace }),
    async until(what: string, holds: () => boolean) {
      const begun = clock.now().getTime()
      while (!holds()) {
        if (clock.now().getTime() - begun > 36_000_000) throw new Error(`never: ${what}\n${told(store)}`)
        await clock.sleep(100)
      }
      return clock.now().getTime() - begun
    },
    async approve(plan: InstallPlan | undefined) {
      if (plan === undefined) throw new Error('there is no plan')
      await cluster.writer.mergePatch(InstallPlans, plan.metadata, { spec: { approved: true } })
    },
  }
}

export const phaseOf = (of: KubeObject | undefined): string =>
  (of as { status?: { phase?: string } } | undefined)?.status?.phase ?? ''

/** For good: one with webhooks gets their certificates once more. */
export function hasSucceeded({ spec, status }: ClusterServiceVersion): boolean {
  const isCertified = spec?.webhookdefinitions === undefined || status?.certsLastUpdated !== undefined
  const isCopy = status?.reason === 'Copied'
  return status?.phase === 'Succeeded' && (isCopy || isCertified)
}

export const csvName = (version: string): string => `kubevirt-hyperconverged-operator.v${version}`

/** Where everything stands, for who waits in vain. */
function told(store: Store): string {
  const kinds = [Subscriptions, InstallPlans, ClusterServiceVersions, CatalogSources]
  const lines = kinds.flatMap((kind) =>
    store.list(kind).items.map(({ metadata, ...rest }) => {
      const { plan: _steps, ...status } = (rest as { status?: Record<string, unknown> }).status ?? {}
      return `${kind.kind} ${metadata.namespace}/${metadata.name} ${JSON.stringify(status)}`
    }),
  )
  return lines.join('\n')
}
