import type { Finding } from '../../../checks/finding.ts'
import type { PackageManifest } from '../../../cluster/kinds/operator-lifecycle.ts'
import { itemsOf, type Known } from '../../../facts/known.ts'
import type { EusHop } from '../../eus-plan.ts'
import type { Judged } from '../judged.ts'
import { channelBehind, channelFor, isOfOneMinor } from '../minor-channel.ts'
import { operatorNow } from '../operator-now.ts'

/**
 * Where each minor of the operator has a channel of its own (ocp 1.1): to which one each hop changes the Subscription, and what of it the catalog does not offer yet. Whether what is installed leads
 * on in it is another question.
 */
export function operatorChannelFindings(judged: Judged): readonly Finding[] {
  const now = operatorNow(judged.sight.evidence)
  if (now === undefined) return []
  let set = now.channel
  return judged.hops.flatMap((hop) => {
    const found = inHop(judged, hop, set)
    set = channelBehind(hop.operators, set)
    return found
  })
}

function inHop(judged: Judged, { minor, operators }: EusHop, begin: string | undefined): readonly Finding[] {
  let set = begin
  return operators.flatMap(({ channel, version, done }) => {
    if (done) return []
    if (channel === undefined) return version === undefined ? withoutChannel(judged, minor, set) : []
    const from = set
    set = channel
    return [changed(judged, { minor, from, to: channel, version })]
  })
}

interface Change {
  minor: string
  from: string | undefined
  to: string
  version: string | undefined
}

function changed(judged: Judged, { minor, from, to, version }: Change): Finding {
  const { subscription, source, offered, unread } = catalogOf(judged)
  const what = `virtualization ${version ?? minor}: the channel of Subscription ${subscription} becomes ${to}${from === undefined ? '' : ` instead of ${from}`}`
  if (offered?.includes(to))
    return {
      id: 'operator-channel',
      level: 'info',
      summary: `${what}; catalog ${source} offers it`,
      remedy: [],
    }
  const why =
    offered === undefined
      ? `whether catalog ${source} offers it is not known: ${unread ?? 'it does not show the package'}`
      : `catalog ${source} does not offer it now (${inWords(offered)})`
  return notOffered(judged, `${what}; ${why}`)
}

/** Not even the release is known. Where one channel has all minors nothing is to be set. */
function withoutChannel(judged: Judged, minor: string, set: string | undefined): readonly Finding[] {
  const { subscription, source, offered } = catalogOf(judged)
  if (offered === undefined || !isOfOneMinor(set)) return []
  const name = channelFor(minor, set, judged.releases)
  const which = name === undefined ? `no channel of ${minor}` : `no channel of ${minor}, such as ${name}`
  return [
    notOffered(
      judged,
      `virtualization ${minor}: catalog ${source} offers ${which} (${inWords(offered)}), and in ${set}, which Subscription ${subscription} follows then, no release of it appears`,
    ),
  ]
}

const inWords = (channels: readonly string[]): string =>
  channels.length === 0 ? 'it has none of the package' : `it has ${channels.join(', ')}`

function notOffered({ sight: { evidence } }: Judged, summary: string): Finding {
  const { package: pack = '' } = operatorNow(evidence) ?? {}
  return {
    id: 'operator-channel-not-offered',
    level: 'warning',
    summary: `${summary}. The hop waits for it, behind the platform`,
    remedy: [
      `oc get packagemanifest ${pack} -o yaml      shows its channels; those of a later minor may come with the catalog of that platform`,
      'kvup eus plan --catalog-file FILE      by the catalog of the minor at the end',
    ],
  }
}

function catalogOf({ sight: { evidence } }: Judged) {
  const { packageManifests, subscriptions } = evidence.lifecycle
  const { namespace = '', name = '' } = operatorNow(evidence)?.subscription ?? {}
  return {
    subscription: `${namespace}/${name}`,
    source: itemsOf(subscriptions)[0]?.spec?.source ?? '',
    offered: channelsIn(packageManifests),
    unread: packageManifests.known ? undefined : packageManifests.why,
  }
}

function channelsIn(manifests: Known<PackageManifest>): readonly string[] | undefined {
  const [manifest] = itemsOf(manifests)
  return manifest?.status?.channels?.flatMap(({ name }) => name ?? [])
}
