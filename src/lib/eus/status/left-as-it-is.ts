import type { Reader } from '../../cluster/cluster.ts'
import { MachineConfigPools, MachineHealthChecks, NodeHealthChecks } from '../../cluster/kinds/openshift.ts'
import { listServed } from '../../facts/list-served.ts'
import { poolStanding } from '../../facts/openshift/pool-standing.ts'
import { readOwner } from '../../workloads/find-owner.ts'
import { methodsOf, type Owner } from '../../workloads/update-methods.ts'

/** What is held back still though kvup has nothing borrowed: others did it, or a journal that is gone. Sentences. Throws ApiError. */
export async function leftAsItIs(reader: Reader, kubevirt: Owner): Promise<readonly string[]> {
  const [pools, machines, nodes] = await Promise.all([
    reader.list(MachineConfigPools),
    listServed(reader, MachineHealthChecks),
    listServed(reader, NodeHealthChecks),
  ])
  const paused = pools.map(poolStanding).filter((pool) => pool.paused && !pool.isMaster && pool.machines > 0)
  const checks = [
    ...machines.filter(({ metadata }) => Object.hasOwn(metadata.annotations ?? {}, pausedAnnotation)),
    ...nodes.filter(({ spec }) => (spec?.pauseRequests ?? []).length > 0),
  ]
  const methods = methodsOf(await readOwner(reader, kubevirt))
  return [
    ...paused.map(
      ({ name }) =>
        `pool ${name} stays paused, which kvup did not do or no longer knows of: its nodes do not follow, and a later minor waits for them`,
    ),
    ...checks.map(
      ({ kind, metadata: { name } }) => `${kind} ${name} stays paused: nodes that fail are not replaced`,
    ),
    ...(methods.length === 0
      ? ['no workload update methods are set: VMs keep the virt-launcher that they run on']
      : []),
  ]
}

const pausedAnnotation = 'cluster.x-k8s.io/paused'
