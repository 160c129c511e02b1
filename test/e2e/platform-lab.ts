import type { Cluster, Writer } from '../../src/lib/kube/cluster.ts'
import { openCluster } from '../../src/lib/kube/http/http-cluster.ts'
import { condition, type Kind } from '../../src/lib/kube/object.ts'
import { HyperConvergeds } from '../../src/lib/kube/kinds/operator-kinds.ts'
import { MachineConfigPools } from '../../src/lib/kube/kinds/openshift-kinds.ts'
import { assessHyperConverged } from '../../src/lib/openshift/hyperconverged.ts'
import { Store } from '../../src/simulator/api/store.ts'
import { type ClusterShape, initialObjects, kindsOf, namespaceOf } from '../../src/simulator/cluster-shape.ts'
import { ControllerManager } from '../../src/simulator/simulated-cluster.ts'
import { Faults } from '../../src/simulator/machinery/machinery-faults.ts'
import { seeded } from '../../src/simulator/machinery/controller.ts'
import { PodLogs } from '../../src/simulator/machinery/kubelet.ts'
import { ApiError, isNotFound } from '../../src/lib/kube/errors.ts'
import { type Clock, systemClock } from '../../src/lib/kube/clock.ts'
import { crdFile } from './hyperconverged-lab.ts'
import { eventually } from './installation.ts'
import { type Lab, startLab } from './lab.ts'
import { QuietTime } from './quiet-clock.ts'

/** A real API server with the real CRDs of OLM, OpenShift and HyperConverged; their operators and machines are the simulator's, as clients. */
export interface Platform {
  lab: Lab
  cluster: Cluster
  /** Everybody's: a platform takes an hour for an update. */
  clock: Clock
  stop(): Promise<void>
}

/** Hands it out once HyperConverged and every pool are settled. */
export async function startPlatform(shape: ClusterShape, speed: number): Promise<Platform> {
  const crds = ['olm', 'openshift', crdFile('hco-v1.17.3.yaml')]
  const lab = await startLab({ name: 'platform', bare: true, crds })
  try {
    return await alive(lab, shape, speed)
  } catch (error) {
    await lab.stop()
    throw error
  }
}

async function alive(lab: Lab, shape: ClusterShape, speed: number): Promise<Platform> {
  const time = new QuietTime(speed)
  const { clock } = time
  const cluster = time.stoppedBy(await reach(lab, 'kvup/test'))
  const operators = time.stoppedBy(await reach(lab, 'operators'))
  const client = { reader: operators.reader, writer: asServed(operators.writer) }
  await create(client, shape)
  const life = new ControllerManager({
    as: () => client,
    clock,
    random: seeded(1),
    faults: new Faults(),
    logs: new PodLogs(),
    shape,
    namespace: namespaceOf(shape),
  })
  await eventually('HyperConverged and the pools are settled', 180, () => {
    life.throwIfBroken()
    return isSettled(cluster)
  }).catch(async (error: unknown) => {
    await life.stop()
    throw error
  })
  const stop = async () => {
    await life.stop()
    await lab.stop()
  }
  return { lab, cluster, clock, stop }
}

function reach(lab: Lab, userAgent: string): Promise<Cluster> {
  const tools = { clock: systemClock, random: Math.random, env: {}, onWarning: () => {}, verbosity: 0 }
  return openCluster({ kubeconfig: lab.kubeconfig }, { ...tools, userAgent })
}

function asServed(writer: Writer): Writer {
  return {
    ...writer,
    create: (kind, object) => writer.create(kind, unheard(kind, object)),
    mergePatch: (kind, ref, change, on) => writer.mergePatch(kind, ref, unheard(kind, change), on),
    apply: (kind, object, options) => writer.apply(kind, unheard(kind, object), options),
  }
}

/**
 * No program listens behind a service here: a webhook that fails does not count, and an aggregated API is one that the server has itself, or
 * it and the simulator would contradict each other without end about whether that answers.
 */
function unheard<T extends object>(kind: Kind, object: T): T {
  // No kubelet takes the time to end a pod, nor tells the server that it did.
  if (kind.plural === 'pods' && 'spec' in object)
    return { ...object, spec: { ...(object.spec as object), terminationGracePeriodSeconds: 0 } }
  const text = JSON.stringify(object)
  if (kind.plural.endsWith('webhookconfigurations'))
    return JSON.parse(text.replaceAll('"failurePolicy":"Fail"', '"failurePolicy":"Ignore"')) as T
  if (kind.plural !== 'apiservices') return object
  const { spec, ...rest } = JSON.parse(text) as { spec?: Record<string, unknown> }
  if (spec === undefined) return object
  const { service: _, caBundle: __, insecureSkipTLSVerify: ___, ...own } = spec
  return { ...rest, spec: own } as unknown as T
}

/** The CRDs that are real are there already; a kind that nobody serves here has no objects here. */
async function create({ writer }: Pick<Cluster, 'writer'>, shape: ClusterShape): Promise<void> {
  const known = new Store(systemClock)
  for (const kind of kindsOf(shape)) known.kinds.add(kind)
  for (const object of initialObjects(shape)) {
    const kind = known.kinds.ofObject(object)
    if (kind === undefined) throw new Error(`no kind for ${object.kind}`)
    await writer.create(kind, object).catch(unlessThere)
    const { status } = object as { status?: object }
    if (status !== undefined)
      await writer.mergePatch(kind, object.metadata, { status } as object, 'status').catch(unlessThere)
  }
}

function unlessThere(error: unknown): void {
  const isThere = error instanceof ApiError && error.statusReason === 'AlreadyExists'
  if (!isThere && !isNotFound(error)) throw error
}

async function isSettled({ reader }: Cluster): Promise<boolean> {
  const [hyperconverged] = await reader.list(HyperConvergeds)
  const pools = await reader.list(MachineConfigPools)
  return (
    hyperconverged !== undefined &&
    assessHyperConverged(hyperconverged).good &&
    pools.every((pool) => condition(pool, 'Updated')?.status === 'True')
  )
}
