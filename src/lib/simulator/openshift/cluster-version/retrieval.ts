import type { ClusterVersion } from '../../../cluster/kinds/openshift.ts'
import { type Claim, withCondition } from '../conditions.ts'
import type { Release } from '../shape.ts'
import { updatesFrom } from './update-graph.ts'

type Status = NonNullable<ClusterVersion['status']>

interface Asked {
  channel: string
  graph: readonly Release[]
  /** RFC 3339. */
  at: string
}

/** No updates are known while they are fetched anew, for another channel. */
export function withoutUpdates(status: Status): Status {
  const { conditionalUpdates: _, ...rest } = status
  return { ...rest, availableUpdates: null }
}

/** What the update service says, or that it does not answer (ocp 3.1: null is not "none"). Pure. */
export function withUpdates(status: Status, { channel, graph, at }: Asked, answers: boolean): Status {
  const say = (on: Status, claim: Omit<Claim, 'type'>): Status => ({
    ...on,
    conditions: withCondition(on.conditions ?? [], { type: 'RetrievedUpdates', ...claim }, at),
  })
  const failed = (reason: string, message: string): Status =>
    say(withoutUpdates(status), { status: 'False', reason, message })
  if (channel === '') return failed('NoChannel', 'The update channel has not been configured.')
  const unable = 'Unable to retrieve available updates: '
  if (!answers)
    return failed('RemoteFailed', `${unable}Get "https://updates.example/graph": context deadline exceeded`)
  const version = status.desired?.version ?? ''
  const known = updatesFrom(graph, { version, channel, at })
  if (!known)
    return failed(
      'VersionNotFound',
      `${unable}currently reconciling cluster version ${version} not found in the "${channel}" channel`,
    )
  const conditionalUpdates = known.conditionalUpdates.map((update) => asBefore(status, update))
  return say({ ...status, ...known, conditionalUpdates }, { status: 'True' })
}

type Conditional = NonNullable<Status['conditionalUpdates']>[number]

/** What was known of a risk keeps its time. */
function asBefore(status: Status, update: Conditional): Conditional {
  const before = status.conditionalUpdates?.find((u) => u.release?.version === update.release?.version)
  return before?.conditions ? { ...update, conditions: before.conditions } : update
}
