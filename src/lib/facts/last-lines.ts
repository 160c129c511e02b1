import type { LogOptions, Reader } from '../cluster/cluster.ts'
import { NotSavedError } from '../cluster/saved/not-saved.ts'
import type { ContainerStatus, Pod } from '../cluster/kinds/pods.ts'
import { type Clock, ownClock } from '../system/clock.ts'
import { ApiError } from '../system/errors.ts'
import type { Cause } from './cause.ts'
import { itemsOf } from './known.ts'
import { complaint, type LastLine, lastLine } from './last-line.ts'
import { holderOf, holds } from './leader.ts'
import type { Snapshot } from './snapshot.ts'
import { operatorName } from './stamps.ts'

/** A node that is gone answers late or never: then it is done without, ms. */
const patience = 3000
/** Of one look; each cause needs one. */
const atMost = 3
const tailLines = 60

interface Question {
  /** The same key is asked once. */
  key: string
  pod: Pod
  container: string | undefined
  options: LogOptions
  read: (log: string) => string | undefined
}

/** Remembers what it read: a container's log is asked for once per restart, however often it is looked. */
export class LastLines {
  readonly #said = new Map<string, string | undefined>()

  /**
   * The last lines of the containers that keep ending, and of a virt-operator that leads and does nothing. Never throws for
   * a log that may not or cannot be read: it is left out.
   */
  async of(
    { reader, clock }: { reader: Pick<Reader, 'log'>; clock: Clock },
    snapshot: Snapshot,
    why: readonly Cause[],
  ): Promise<readonly LastLine[]> {
    const asked = why.flatMap((cause) => questionOn(cause, snapshot, clock.now())).slice(0, atMost)
    const lines = asked.map(async (question): Promise<LastLine[]> => {
      const { key, pod, container } = question
      if (!this.#said.has(key)) this.#said.set(key, await answer(reader, clock, question))
      const text = this.#said.get(key)
      return text ? [{ pod: pod.metadata.name, ...(container && { container }), text }] : []
    })
    return (await Promise.all(lines)).flat()
  }
}

async function answer(
  reader: Pick<Reader, 'log'>,
  clock: Clock,
  { pod: { metadata }, options, read }: Question,
): Promise<string | undefined> {
  const late = new AbortController()
  const done = new AbortController()
  ownClock(clock)
    .sleep(patience, done.signal)
    .then(
      () => late.abort(),
      () => undefined,
    )
  try {
    return read(await reader.log(metadata, { ...options, signal: late.signal }))
  } catch (error) {
    if (late.signal.aborted || error instanceof ApiError || error instanceof NotSavedError) return undefined
    throw error
  } finally {
    done.abort()
  }
}

function questionOn(cause: Cause, snapshot: Snapshot, now: Date): Question[] {
  if (cause.kind === 'crash') return crashed(cause, snapshot)
  return cause.kind === 'quiet' && cause.reason === 'NoChange' ? leading(cause, snapshot, now) : []
}

function crashed({ pods: [name], namespace, container }: Cause, snapshot: Snapshot): Question[] {
  const pod = itemsOf(snapshot.pods).find(
    ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
  )
  if (!pod) return []
  const status = statusOf(pod, container)
  // Without a restart there is no previous log, and asking for it is a 400.
  const previous = status?.lastState?.terminated !== undefined
  const options = { ...(container && { container }), previous, tailLines }
  const key = `${pod.metadata.uid}/${container}/${status?.restartCount ?? 0}`
  return [{ key, pod, container, options, read: lastLine }]
}

/** Nothing restarts there: asked again once a minute. */
function leading({ namespace }: Cause, snapshot: Snapshot, now: Date): Question[] {
  const holder = holderOf(snapshot, operatorName, namespace)
  const pod = itemsOf(snapshot.pods).find((one) => holder !== undefined && holds(one, holder))
  if (!pod) return []
  const key = `${pod.metadata.uid}/${Math.floor(now.getTime() / 60_000)}`
  return [{ key, pod, container: undefined, options: { tailLines }, read: complaint }]
}

function statusOf({ status = {} }: Pod, container: string | undefined): ContainerStatus | undefined {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  return all.find(({ name }) => name === container)
}
