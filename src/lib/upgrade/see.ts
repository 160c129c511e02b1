import type { Reader } from '../cluster/cluster.ts'
import { launcherImage } from '../facts/controller.ts'
import { theInstallation } from '../facts/installation.ts'
import { causeParts, standingParts, takeSnapshot } from '../facts/snapshot.ts'
import { standing } from '../facts/standing.ts'
import type { Clock } from '../system/clock.ts'
import { forecastUpdates } from '../workloads/forecast.ts'
import type { Seen } from './make-plan.ts'

/** Everything that a plan is made from. Throws `blocked` for no or several KubeVirts, `forbidden` where they may not be read. */
export async function seeForUpgrade(reader: Reader, clock: Clock): Promise<Seen> {
  const snapshot = await takeSnapshot(reader, [...standingParts, ...causeParts], clock.now())
  const installation = theInstallation(snapshot)
  const eviction = installation.kubevirt.spec?.configuration?.['evictionStrategy']
  const rules = {
    methods: installation.workloadUpdateMethods,
    clusterEviction: typeof eviction === 'string' ? eviction : undefined,
    launcher: launcherImage(snapshot),
  }
  return {
    installation,
    standing: standing(snapshot, clock.now()),
    forecast: await forecastUpdates(reader, rules),
  }
}
