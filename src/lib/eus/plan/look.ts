import type { Cluster, Reader } from '../../cluster/cluster.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { VirtualMachineInstances } from '../../cluster/kinds/virtual-machines.ts'
import { oneLook } from '../../cluster/one-look.ts'
import { inOnePass } from '../../cluster/one-pass.ts'
import { ApiRequestCounts, NodeMaintenances, OldNodeMaintenances } from '../../cluster/kinds/openshift.ts'
import { findKubeVirts } from '../../facts/find-kubevirts.ts'
import { gatherEvidence } from '../../facts/gather-evidence.ts'
import { listServed } from '../../facts/list-served.ts'
import { findHyperConverged } from '../../facts/hyperconverged/find-hyperconverged.ts'
import { itemsOf, type Known, known, notAsked } from '../../facts/known.ts'
import { platformStanding } from '../../facts/openshift/platform-standing.ts'
import { topologyOf } from '../../facts/openshift/topology.ts'
import { firingAlerts } from '../../facts/openshift/firing-alerts.ts'
import { takePlatform } from '../../facts/openshift/take-platform.ts'
import { takeLifecycle } from '../../facts/operator-lifecycle/take-lifecycle.ts'
import { openLoans } from '../../procedure/open-loans.ts'
import type { Loan } from '../../procedure/journal.ts'
import { compareMinors, minorOfPlatform } from '../../releases/platform-version.ts'
import type { Clock } from '../../system/clock.ts'
import { KvupError } from '../../system/errors.ts'
import { clusterEvictionOf } from '../../workloads/cluster-eviction.ts'
import { forecastUpdates } from '../../workloads/forecast.ts'
import { storedHyperConverged } from '../../workloads/strategy/stored-hyperconverged.ts'
import { findBlockers } from '../../workloads/unblock/blockers.ts'
import type { RemovedApi } from '../eus-plan.ts'
import type { EusEvidence } from './evidence.ts'
import { kubeletSigner } from './kubelet-signer.ts'
import { methodsNow } from './methods-now.ts'
import { outagesIn } from './outages.ts'

/**
 * Everything that a plan is made from, by reading alone. What may not be read (403), is not served (404) or was not saved is an unknown
 * part; any other ApiError is thrown.
 */
export async function lookForEus(cluster: Cluster, clock: Clock): Promise<EusEvidence> {
  const reader = oneLook(cluster.reader)
  const platform = takePlatform(reader)
  const [lifecycle, hyperconverged, oldMaintenances, maintenances, virtualization, about, seen] =
    await Promise.all([
      takeLifecycle(reader),
      findHyperConverged(reader),
      known(listServed(reader, OldNodeMaintenances)),
      known(listServed(reader, NodeMaintenances)),
      aboutVirtualization({ ...cluster, reader }, clock, platform),
      platform.then((found) => aboutPlatform(reader, found)),
      platform,
    ])
  return {
    at: clock.now(),
    platform: seen,
    lifecycle,
    hyperconverged,
    oldMaintenances,
    maintenances,
    ...virtualization,
    ...about,
  }
}

type Virtualization = Omit<
  EusEvidence,
  'at' | 'platform' | 'lifecycle' | 'hyperconverged' | 'oldMaintenances' | 'maintenances' | keyof Platform
>

/** KubeVirt, what is borrowed of it, and its VMs, which are gone through once. */
async function aboutVirtualization(
  cluster: Cluster,
  clock: Clock,
  platform: Promise<EusEvidence['platform']>,
): Promise<Virtualization> {
  const { reader } = cluster
  const [kubevirt] = itemsOf(await findKubeVirts(reader))
  const loans = await loansIn(cluster, clock, kubevirt?.metadata.namespace)
  const { methods, emptiedByKvup } = await methodsNow(reader, { kubevirt, loans })
  const isSingle = topologyOf(await platform).is === 'single-node'
  const [evidence, forecast, undrainable, outages] = await inOnePass(reader, VirtualMachineInstances, [
    (shared) => gatherEvidence({ reader: shared }, clock, { only: ['instances', 'clusterUid'] }),
    (shared) => forecastFor(shared, kubevirt, itemsOf(methods)[0] ?? []),
    (shared) => (kubevirt === undefined ? notAsked : known(undrainableIn(shared, kubevirt))),
    (shared) => (isSingle ? known(outagesIn(shared)) : notAsked),
  ])
  const { kubevirts, instances, clusterUid } = evidence
  return { kubevirts, loans, methods, emptiedByKvup, instances, clusterUid, forecast, undrainable, outages }
}

async function loansIn(cluster: Cluster, clock: Clock, namespace: string | undefined): Promise<Known<Loan>> {
  if (namespace === undefined) return { known: true, items: [] }
  const found = await openLoans(cluster, { namespace, clock })
  return 'loans' in found ? { known: true, items: found.loans } : { known: false, why: found.unread }
}

async function forecastFor(
  reader: Reader,
  kubevirt: KubeVirt | undefined,
  methods: readonly string[],
): Promise<EusEvidence['forecast']> {
  if (kubevirt === undefined) return notAsked
  return known(forecastUpdates(reader, { kubevirt, methods }).then((one) => [one]))
}

async function undrainableIn(reader: Reader, kubevirt: KubeVirt): Promise<readonly string[]> {
  const found = await findBlockers(reader, {
    namespace: undefined,
    clusterEviction: clusterEvictionOf(kubevirt),
  })
  return [...found.machines, ...found.bare].map(({ namespace, name }) => `${namespace}/${name}`)
}

type Platform = Pick<EusEvidence, 'removedApis' | 'kubeletSigner' | 'alerts'>

async function aboutPlatform(reader: Reader, platform: EusEvidence['platform']): Promise<Platform> {
  const [cv] = itemsOf(platform.clusterVersion)
  if (cv === undefined) return { removedApis: notAsked, kubeletSigner: notAsked, alerts: notAsked }
  const here = minorOfPlatform(platformStanding(cv).version ?? '')
  const [removedApis, signer, alerts] = await Promise.all([
    known(removedApisOf(reader)),
    compareMinors(here, '4.14') < 0 ? known(kubeletSigner(reader)) : notAsked,
    firingAlerts(reader),
  ])
  return { removedApis, kubeletSigner: signer, alerts }
}

/**
 * Asks for what only a plan of a window wants of a platform, for a reader that keeps it; what becomes of VMs is judged by what is kept
 * for the others. Throws what the Reader throws for anything but 403 and 404.
 */
export async function takeForWindow(reader: Reader): Promise<void> {
  await Promise.all([
    known(removedApisOf(reader)),
    known(kubeletSigner(reader)),
    known(listServed(reader, OldNodeMaintenances)),
    known(listServed(reader, NodeMaintenances)),
    storedHyperConverged(reader).catch((error: unknown) => {
      if (!(error instanceof KvupError)) throw error
    }),
  ])
}

/** Hundreds of large objects of which two numbers are kept. */
async function removedApisOf(reader: Reader): Promise<readonly RemovedApi[]> {
  const found: RemovedApi[] = []
  for await (const { items } of reader.pages(ApiRequestCounts))
    for (const { metadata, status = {} } of items) {
      const { removedInRelease, requestCount = 0 } = status
      if (removedInRelease && requestCount > 0)
        found.push({ name: metadata.name, removedIn: removedInRelease, requests: requestCount })
    }
  return found
}
