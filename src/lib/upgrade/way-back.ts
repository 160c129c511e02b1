import { crdsAhead } from '../facts/crds-ahead.ts'
import { type LaterCrdVersions, laterCrdVersions } from '../releases/later-crd-versions.ts'
import type { Releases } from '../releases/releases.ts'
import { compareVersions, type Version, versionOf } from '../releases/version.ts'
import type { Seen } from './make-plan.ts'

/**
 * Whether an update can be left for the version that is installed (night U4). `closes`: as long as virt-operator has not replaced the CRDs, which it
 * does before the first component; `closed`: it has, and the API server takes no older ones. `why` follows "there is no way back: ".
 */
export type WayBack =
  | { is: 'open' }
  | { is: 'closes' | 'closed'; why: string; later: readonly LaterCrdVersions[] }

/** The CRDs themselves say whether it is closed, the release data whether it will be (facts 1.6). Pure. */
export function wayBackOf(
  to: Version,
  { standing, crds }: Pick<Seen, 'standing' | 'crds'>,
  releases: Releases,
): WayBack {
  const back = versionOf(standing.observed.version)
  if (back === undefined || compareVersions(to, back) <= 0) return { is: 'open' }
  const later = laterCrdVersions(back, releases, to)
  if (later.length === 0) return { is: 'open' }
  const stored = later.map(({ group, versions }) => `${group} as ${versions.join(' and ')}`)
  const why = `the CRDs of ${to.text} store ${stored.join(' and ')}, which ${back.text} does not have`
  return { is: crds?.known && crdsAhead(crds.items, later).length > 0 ? 'closed' : 'closes', why, later }
}
