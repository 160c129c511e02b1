import { noWayBack } from '../facts/no-way-back.ts'
import type { HopFinding } from '../releases/finding.ts'
import { laterCrdVersions } from '../releases/later-crd-versions.ts'
import type { Releases } from '../releases/releases.ts'
import { type Version, versionOf } from '../releases/version.ts'
import { blocked } from '../system/errors.ts'
import { roleRemedy } from '../system/role-remedy.ts'
import type { Seen } from './make-plan.ts'

type Scene = Pick<Seen, 'standing' | 'crds'>

/** Throws `blocked` where the CRDs keep KubeVirt from going to that release: nobody can accept what the API server refuses. */
export function refuseClosedWayBack(to: Version, { standing, crds }: Scene, releases: Releases): void {
  if (!crds?.known) return
  const found = noWayBack(to, crds.items, { standing, releases })
  if (found === undefined) return
  const { id, summary, objects = [], remedy } = found
  throw blocked(id, summary, { object: objects.join(', '), remedy })
}

/** Where the CRDs may not be read, and the release that is left stores what this one does not have: it may be closed. */
export function unseenWayBack(
  to: Version,
  { standing, crds }: Scene,
  releases: Releases,
): readonly HopFinding[] {
  if (crds === undefined || crds.known) return []
  const { observed, target } = standing
  const isLeft = [observed.version, target.version]
    .map((text) => versionOf(text))
    .some((left) => left !== undefined && laterCrdVersions(to, releases, left).length > 0)
  if (!isLeft) return []
  return [
    {
      id: 'crd-stored-versions',
      level: 'not-checked',
      summary: `could not tell whether the API server takes the CRDs of ${to.text}: ${crds.why}`,
      remedy: [roleRemedy('kvup-upgrade')],
    },
  ]
}
