import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { Leases } from '../../src/lib/kube/kinds/core-kinds.ts'
import { type KubeVirt, KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import { systemClock } from '../../src/lib/kube/clock.ts'
import { clusterOf } from './in-process.ts'
import { eventually } from './installation.ts'
import type { Lab } from './lab.ts'

const ref = { name: 'kubevirt', namespace: 'kubevirt' }
const lease = { name: 'virt-operator', namespace: 'kubevirt' }
/** So that the real one never takes its turn, s. */
const aDay = 24 * 60 * 60
/** As a leader that lives does: one that does not is judged dead, whatever term it wrote. ms. */
const renewsEvery = 5000

/**
 * Takes the lead from the real virt-operator, whose webhook goes on judging every write to the KubeVirt: the real one writes some 300
 * objects, for 15 s and more, before it has seen a generation, this one sees it at once. Ends with the result.
 */
export async function playLeader(lab: Lab): Promise<{ stop(): Promise<void> }> {
  const cluster = await clusterOf(lab, 'played-leader')
  await eventually('the real virt-operator has seen all', 120, async () => isSeen(await theKubeVirt(cluster)))
  await takeLease(lab, cluster)
  await eventually('virt-operator is ready again, and its webhook answers', 120, () => isReady(cluster))
  const end = new AbortController()
  const running = Promise.all([seeAll(cluster, end.signal), renew(cluster, end.signal)])
  return {
    async stop() {
      end.abort()
      await running
    },
  }
}

async function renew({ writer }: Cluster, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // A Lease's times are MicroTimes: six digits behind the point.
    const renewTime = systemClock.now().toISOString().replace('Z', '000Z')
    await writer.mergePatch(Leases, lease, { spec: { renewTime } })
    await systemClock.sleep(renewsEvery, signal).catch(() => undefined)
  }
}

async function theKubeVirt({ reader }: Cluster): Promise<KubeVirt> {
  const found = await reader.get(KubeVirts, ref)
  if (found.is !== 'object') throw new Error('no KubeVirt')
  return found.object
}

const isSeen = ({ metadata, status }: KubeVirt) => metadata.generation === status?.observedGeneration

/** In the name of the pod in which nothing runs: the process, which another pod gets with a new one's name, waits for its turn. */
async function takeLease(lab: Lab, { reader, writer }: Cluster): Promise<void> {
  const found = await reader.get(Leases, lease)
  const leader = found.is === 'object' ? (found.object.spec?.holderIdentity ?? '') : ''
  const pods = await reader.list(Pods, { namespace: 'kubevirt', labels: 'kubevirt.io=virt-operator' })
  const idle = pods.find(({ metadata }) => metadata.name !== leader)?.metadata.name
  if (leader === '' || idle === undefined) throw new Error('virt-operator has no leader or no second pod')
  await writer.mergePatch(Leases, lease, {
    spec: { holderIdentity: `${idle}_played`, leaseDurationSeconds: aDay },
  })
  await lab.kubectl(['-n', 'kubevirt', 'delete', 'pod', leader])
}

async function isReady({ reader, reviewer }: Cluster): Promise<boolean> {
  const pods = await reader.list(Pods, { namespace: 'kubevirt', labels: 'kubevirt.io=virt-operator' })
  const ready = pods.filter(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  )
  if (ready.length < 2 || ready.length !== pods.length) return false
  const asked = reviewer.dryRun.mergePatch(KubeVirts, ref, { spec: { imagePullPolicy: 'Always' } })
  return asked.then(
    () => true,
    () => false,
  )
}

async function seeAll({ reader, writer }: Cluster, signal: AbortSignal): Promise<void> {
  try {
    for await (const change of reader.watch(KubeVirts, { namespace: ref.namespace }, signal)) {
      if (change.type !== 'added' && change.type !== 'modified') continue
      if (isSeen(change.object)) continue
      const status = { observedGeneration: change.object.metadata.generation ?? 0 }
      await writer.mergePatch(KubeVirts, ref, { status }, 'status')
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
