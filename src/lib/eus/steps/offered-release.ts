import type { PlatformRelease } from '../../cluster/kinds/openshift.ts'
import type { PlatformStanding } from '../../facts/openshift/platform-standing.ts'
import type { StepState } from '../../procedure/step.ts'
import { newestOf } from '../../releases/graph-way.ts'
import type { PlatformStop } from '../eus-plan.ts'
import type { Stop } from './at-stop.ts'

/** What a hop asks for, and what was accepted by name. */
export interface Wanting {
  stop: Stop
  /** Chosen by the plan; without a version the newest of the minor that is recommended when it is there. */
  wanted: Pick<PlatformStop, 'version' | 'image' | 'unproven'>
  accepted: readonly string[]
  /** The line whose step it is. */
  command: string
}

/** The release to ask for, with the image that the cluster names; or what the step says instead. */
export type Choice = { is: 'release'; version: string; image?: string } | { is: 'not-yet'; state: StepState }

/**
 * What the plan names has to be offered still, and to be of the image that it names: exactly this, or nothing. Otherwise the newest of the minor;
 * releases with known risks are not among them. One that may lead nowhere takes a person's word. Pure.
 */
export function offeredRelease(standing: PlatformStanding, wanting: Wanting): Choice {
  const { wanted, accepted, command } = wanting
  const { available = [] } = standing
  const found = chosen(available, wanting)
  if (found?.version === undefined) return { is: 'not-yet', state: notOffered(standing, wanting) }
  const { version, image } = found
  if (isOther(wanted.image, image)) return { is: 'not-yet', state: otherImage(version, { wanted, image }) }
  if (wanted.unproven && !accepted.includes('way-unknown'))
    return { is: 'not-yet', state: mayLeadNowhere(version, command) }
  return { is: 'release', version, ...(image !== undefined && { image }) }
}

function chosen(available: readonly PlatformRelease[], { wanted, stop }: Wanting) {
  const texts = available.flatMap(({ version }) => (version === undefined ? [] : [version]))
  const wish = wanted.version ?? newestOf(texts, stop.minor)[0]
  return available.find(({ version }) => version !== undefined && version === wish)
}

const digestOf = (image: string): string => /@(?<digest>\w+:\w+)$/u.exec(image)?.groups?.['digest'] ?? image

/** By the digest: a mirror has the same release under another name. */
function isOther(wanted: string | undefined, offered: string | undefined): boolean {
  if (wanted === undefined || offered === undefined) return false
  return digestOf(wanted) !== digestOf(offered)
}

function otherImage(
  version: string,
  { wanted, image = '' }: { wanted: Wanting['wanted']; image: string | undefined },
): StepState {
  return {
    is: 'blocked',
    reason: 'image-differs',
    by: `${version} is offered as ${image}, and the plan was made for ${wanted.image ?? ''}: that is another release, or one for another architecture`,
    remedy: [
      'oc adm upgrade     shows what is offered',
      'kvup eus plan --graph-file FILE     with the graph of the architecture of this cluster',
    ],
  }
}

function mayLeadNowhere(version: string, command: string): StepState {
  return {
    is: 'blocked',
    reason: 'way-unknown',
    by: `nothing says whether ${version} leads on to the next minor: the cluster knows only its next hop`,
    remedy: [
      `${command} --graph-file FILE     knows the whole way`,
      `${command} --accept way-unknown     asks for it all the same`,
    ],
  }
}

function notOffered(
  { available, channel, notRetrieved }: PlatformStanding,
  { wanted, stop }: Wanting,
): StepState {
  const what = wanted.version ?? `a release of ${stop.minor}`
  const on = `${what} to be offered in channel ${channel ?? 'none'}`
  if (available === undefined && notRetrieved !== undefined)
    return { is: 'stalled', on, why: notRetrieved, remedy: ['oc adm upgrade'] }
  // Right after its channel was changed the cluster knows of no updates (ocp 3.1).
  if (available === undefined)
    return { is: 'waiting', on: `the update service to answer for channel ${channel ?? 'none'}` }
  const offered = available.map(({ version }) => version).join(', ') || 'nothing'
  return {
    is: 'waiting',
    on,
    trouble: `offered are: ${offered}`,
    remedy: ['oc adm upgrade', 'kvup eus plan'],
  }
}
