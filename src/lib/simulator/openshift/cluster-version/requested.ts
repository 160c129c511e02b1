import type { ClusterVersion } from '../../../cluster/kinds/openshift.ts'
import { releaseOf } from '../release-number.ts'
import type { Release } from '../shape.ts'

/** What `spec.desiredUpdate` comes to (ocp 3.1, 3.2). */
export type Request =
  | { is: 'nothing' }
  | { is: 'invalid'; why: string }
  /** What is asked for cannot be had: `step` is the reason of ReleaseAccepted. */
  | { is: 'failed'; step: string; message: string }
  | { is: 'release'; release: Release; force: boolean }

const nothing = { is: 'nothing' } as const

/** Pure. A version alone has to be known to the cluster; a version with an image has to be that image's. */
export function requestOf({ spec, status }: ClusterVersion, graph: readonly Release[]): Request {
  const { version = '', image = '', force = false } = spec?.desiredUpdate ?? {}
  if (image !== '') return byImage(status, { version, image, force, graph })
  return version === '' ? nothing : byVersion(status, { version, force, graph })
}

interface Wanted {
  version: string
  force: boolean
  graph: readonly Release[]
}

function byImage(
  status: ClusterVersion['status'],
  { version, image, force, graph }: Wanted & { image: string },
): Request {
  const release = graph.find((r) => r.image === image)
  const asked = `version=${JSON.stringify(version)} image=${JSON.stringify(image)}`
  if (!release) {
    const message = `Retrieving payload failed ${asked} failure=The update cannot be verified: unable to locate a valid signature for ${image}`
    return { is: 'failed', step: 'RetrievePayload', message }
  }
  if (version !== '' && release.version !== version) {
    const message = `Verifying payload failed ${asked} failure=release image version ${release.version} does not match the expected upstream version ${version}`
    return { is: 'failed', step: 'VerifyPayloadVersion', message }
  }
  return image === status?.desired?.image ? nothing : { is: 'release', release, force }
}

function byVersion(status: ClusterVersion['status'], { version, force, graph }: Wanted): Request {
  if (version === status?.desired?.version) return nothing
  const { history = [], availableUpdates, conditionalUpdates = [] } = status ?? {}
  const known = [
    ...history.map((h) => h.version),
    ...(availableUpdates ?? []).map((r) => r.version),
    ...conditionalUpdates.map((u) => u.release?.version),
  ]
  const release = known.includes(version) ? releaseOf(graph, version) : undefined
  if (release) return { is: 'release', release, force }
  const why = `The cluster version is invalid: spec.desiredUpdate.version: Invalid value: ${JSON.stringify(version)}: when image is empty the update must be a previous version or an available update`
  return { is: 'invalid', why }
}
