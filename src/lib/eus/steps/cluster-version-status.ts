import { isRecord } from '../../kube/object.ts'
import type { Reader } from '../../kube/cluster.ts'
import { type ClusterVersion, ClusterVersions } from '../../kube/kinds/openshift-kinds.ts'
import { type ArmedUpdate, assessPlatform, type PlatformStatus } from '../../openshift/platform-status.ts'
import type { Watched } from '../../engine/step.ts'
import { blocked } from '../../kube/errors.ts'
import {
  compareMinors,
  comparePlatforms,
  platformMinorOf,
  platformVersionOf,
} from '../../releases/release-versions.ts'
import { isDeepStrictEqual } from 'node:util'
import type { JournalReader } from '../../engine/journal.ts'
import { overrideNamed } from '../settings/eus-settings.ts'

/** The one object that says which release the platform runs and is asked for. */
export const theClusterVersion = { name: 'version' } as const
export const platformFollows: readonly Watched[] = [{ kind: ClusterVersions, where: theClusterVersion }]
export const showsPlatform = 'oc get clusterversion version -o yaml --show-managed-fields'

/** Throws `blocked` where this is neither OKD nor OpenShift. */
export async function readPlatform(
  reader: Reader,
): Promise<{ cv: ClusterVersion; platformStatus: PlatformStatus }> {
  const found = await reader.get(ClusterVersions, theClusterVersion)
  if (found.is !== 'object')
    throw blocked('no-platform', 'there is no ClusterVersion: this is neither OKD nor OpenShift', {
      object: 'clusterversions/version',
      remedy: 'kvup check      says where KubeVirt stands',
    })
  return { cv: found.object, platformStatus: assessPlatform(found.object) }
}

/** Where a hop ends: a minor, and the release where several hops share it (a patch that has to come first). */
export interface Stop {
  minor: string
  /** Only where the minor alone does not tell it. */
  version?: string
}

/** Whether a release is at the stop or beyond it. An older minor is before it, whatever its patch. */
function isAtStop(release: string | undefined, stop: Stop): boolean {
  const version = platformVersionOf(release)
  if (version === undefined) return false
  const order = compareMinors(platformMinorOf(version), stop.minor)
  const wanted = platformVersionOf(stop.version)
  return order === 0 && wanted !== undefined ? comparePlatforms(version, wanted) >= 0 : order >= 0
}

/** The platform follows that stop now, or has reached it: the request was accepted. */
export const isAccepted = (platformStatus: PlatformStatus, stop: Stop): boolean =>
  isAtStop(platformStatus.target, stop)

/** It was reached in full. */
export const isReached = (platformStatus: PlatformStatus, stop: Stop): boolean =>
  isAtStop(platformStatus.version, stop)

/** What the ClusterVersion is asked for by kvup. */
export interface Request {
  version: string
  image?: string
}

/**
 * The armed update, if the procedure of this name has borrowed desiredUpdate for it, and it reads exactly as it was written then: only that is ever taken back (night
 * E6). What was taken back and is asked for again is somebody else's.
 */
export async function ourRequest(
  journal: Pick<JournalReader, 'overrides'>,
  name: string,
  { cv, platformStatus: { armed } }: { cv: ClusterVersion; platformStatus: Pick<PlatformStatus, 'armed'> },
): Promise<Request | undefined> {
  if (armed?.version === undefined) return undefined
  const override = overrideNamed(await journal.overrides(), 'desired-update')
  if (override?.procedure !== name || override.taken === undefined) return undefined
  const [written, now] = [said(override.taken.value), said(cv.spec?.desiredUpdate)]
  if (!isDeepStrictEqual(written, now)) return undefined
  return { version: armed.version, ...(armed.image !== undefined && { image: armed.image }) }
}

/** Clients write fields that say nothing as well: `force: false`, an empty architecture. */
function said(update: unknown): Readonly<Record<string, unknown>> {
  const fields = isRecord(update) ? Object.entries(update) : []
  return Object.fromEntries(fields.filter(([, value]) => value !== false && value !== '' && value !== null))
}

/** Of an armed update that is not ours: nothing of kvup takes it back. */
export const armedByOthersText = ({ version, image }: ArmedUpdate): string =>
  `someone else requested the platform update to ${version ?? image}, which has not started: it starts by itself; oc adm upgrade --clear withdraws it`
