import type { ClusterVersion, PlatformRelease } from '../../../cluster/kinds/openshift.ts'
import { compareReleases, releaseOf } from '../release-number.ts'
import type { ConditionalEdge, Release } from '../shape.ts'

type Status = NonNullable<ClusterVersion['status']>
export type Updates = Required<Pick<Status, 'availableUpdates' | 'conditionalUpdates'>>

/** As a ClusterVersion names a release. */
export function platformRelease({ version, image, channels }: Release): PlatformRelease {
  return { version, image, channels: [...channels] }
}

/** What the update service answers: the edges within the channel, the newest first; undefined where the channel does not have the release (ocp 3.7). */
export function updatesFrom(
  graph: readonly Release[],
  { version, channel, at }: { version: string; channel: string; at: string },
): Updates | undefined {
  const here = graph.find((r) => r.version === version && r.channels.includes(channel))
  if (!here) return undefined
  const offered = (to: string): Release | undefined => {
    const release = releaseOf(graph, to)
    return release?.channels.includes(channel) === true ? release : undefined
  }
  const availableUpdates = here.to.flatMap((to) => offered(to) ?? []).sort(newestFirst)
  const conditionalUpdates = (here.conditional ?? []).flatMap((edge) => {
    const release = offered(edge.to)
    return release ? [conditional(release, edge, at)] : []
  })
  return { availableUpdates: availableUpdates.map(platformRelease), conditionalUpdates }
}

const newestFirst = (a: Release, b: Release): number => compareReleases(b.version, a.version)

function conditional(
  release: Release,
  { risk, message }: ConditionalEdge,
  lastTransitionTime: string,
): Updates['conditionalUpdates'][number] {
  const url = `https://issues.example/${risk}`
  const recommended = {
    type: 'Recommended',
    status: 'False' as const,
    reason: risk,
    message,
    lastTransitionTime,
  }
  return {
    release: platformRelease(release),
    risks: [{ name: risk, message, url, matchingRules: [{ type: 'Always' }] }],
    conditions: [recommended],
  }
}
