import type { ClusterVersion } from '../../../cluster/kinds/openshift.ts'
import { type Claim, withCondition } from '../conditions.ts'
import type { Release } from '../shape.ts'
import { platformRelease } from './update-graph.ts'
import { preconditionFailure } from './preconditions.ts'
import type { Request } from './requested.ts'

type Status = NonNullable<ClusterVersion['status']>

/**
 * The status after a request was looked at: begun, or refused with `status.desired` and the history as they were (ocp 3.2). What is
 * refused is looked at again each time. `loading`: it is still being fetched. Pure; `at`: RFC 3339.
 */
export function withRequest(
  version: ClusterVersion & { status: Status },
  request: Request,
  { loading, at }: { loading: boolean; at: string },
): Status {
  const status = withValidity(version.status, request, at)
  const say = (claim: Claim): Status => ({
    ...status,
    conditions: withCondition(status.conditions ?? [], claim, at),
  })
  if (request.is === 'invalid') return status
  if (request.is === 'nothing') return say(loaded(status.desired))
  if (loading) return say(retrieving(version.spec?.desiredUpdate ?? {}))
  const no = refusalOf({ ...version, status }, request)
  if (no !== undefined) return say(no)
  return request.is === 'release' ? begun(say(loaded(request.release)), request.release, at) : status
}

function refusalOf(version: ClusterVersion, request: Request): Claim | undefined {
  if (request.is === 'failed') return refused(request.step, request.message)
  if (request.is !== 'release' || request.force) return undefined
  const why = preconditionFailure(version, request.release.version)
  return why === undefined ? undefined : refused('PreconditionChecks', unmet(request.release, why))
}

const unmet = (release: Release, why: string): string =>
  `Preconditions failed for payload loaded ${named(release)}: ${why}`

interface Update {
  version?: string
  image?: string
}

const accepted = 'ReleaseAccepted'
const named = ({ version = '', image = '' }: Update): string =>
  `version=${JSON.stringify(version)} image=${JSON.stringify(image)}`

const loaded = (release: Update = {}): Claim => ({
  type: accepted,
  status: 'True',
  reason: 'PayloadLoaded',
  message: `Payload loaded ${named(release)} architecture="amd64"`,
})

const retrieving = (update: Update): Claim => ({
  type: accepted,
  status: 'Unknown',
  reason: 'RetrievePayload',
  message: `Retrieving and verifying payload ${named(update)}`,
})

const refused = (reason: string, message: string): Claim => ({
  type: accepted,
  status: 'False',
  reason,
  message,
})

function withValidity(status: Status, request: Request, at: string): Status {
  const { conditions = [] } = status
  if (request.is !== 'invalid')
    return { ...status, conditions: conditions.filter(({ type }) => type !== 'Invalid') }
  const claim: Claim = {
    type: 'Invalid',
    status: 'True',
    reason: 'InvalidClusterVersion',
    message: request.why,
  }
  return { ...status, conditions: withCondition(conditions, claim, at) }
}

/** An update that another one overtakes stays Partial, and ends there. */
function begun(status: Status, release: Release, at: string): Status {
  const [last, ...before] = status.history ?? []
  const overtaken = last?.state === 'Partial' ? [{ ...last, completionTime: at }] : last ? [last] : []
  const { version, image } = release
  const next = {
    state: 'Partial',
    version,
    image,
    startedTime: at,
    completionTime: null,
    verified: true,
  } as const
  return {
    ...status,
    desired: platformRelease(release),
    versionHash: image.slice(-11),
    history: [next, ...overtaken, ...before].slice(0, 100),
  }
}
