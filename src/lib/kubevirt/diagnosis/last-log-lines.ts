import type { LogOptions, Reader } from '../../kube/cluster.ts'
import { NotSavedError } from '../../kube/saved/saved-cluster.ts'
import type { ContainerStatus, Pod } from '../../kube/kinds/workload-kinds.ts'
import { type Clock, ownClock } from '../../kube/clock.ts'
import { ApiError } from '../../kube/errors.ts'
import { isRecord, parseJson } from '../../kube/object.ts'
import type { Cause } from './pod-trouble.ts'
import { itemsOf } from '../../kube/known.ts'
import { holderOf, holds } from '../lease-holders.ts'
import type { Snapshot } from '../snapshot.ts'
import { operatorName } from '../installed-components.ts'

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

/** What the log of a container ended with. */
export interface LastLine {
  pod: string
  /** Absent: the only container of the pod. */
  container?: string
  text: string
}

/** As much of a log line as fits a sentence. */
const longest = 160

/**
 * What a log says of its end, in one line without control characters: the message of a Go panic, else the last line that
 * complains, else the last one. KubeVirt writes JSON with `level`, `msg` and `reason`, other containers klog or plain
 * text. Undefined for an empty log.
 */
export function lastLine(log: string): string | undefined {
  const lines = log.split('\n').map(readable).filter(Boolean)
  const panic = lines.findLast((line) => /^(panic|fatal error):/.test(line))
  const last = panic ?? complaint(log) ?? lines.at(-1)
  return last === undefined || last.length <= longest ? last : `${last.slice(0, longest - 1)}…`
}

/** The last line that is an error or worse; undefined where none says so. */
export function complaint(log: string): string | undefined {
  return log.split('\n').filter(complains).map(readable).findLast(Boolean)
}

const bad = new Set(['error', 'fatal', 'panic', 'critical'])

function complains(line: string): boolean {
  const level = parsed(line)?.['level']
  return typeof level === 'string' ? bad.has(level) : /^[EF]\d{4} /.test(line)
}

function readable(line: string): string {
  const json = parsed(line)
  const text = json ? said(json) : line.replace(/^[IWEF]\d{4} \S+\s+\d+ [^\]]+\] /, '')
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
}

function said({ msg, message, reason, error, err }: Record<string, unknown>): string {
  return [msg ?? message, reason ?? error ?? err].filter((part) => typeof part === 'string').join(': ')
}

function parsed(line: string): Record<string, unknown> | undefined {
  const value = line.startsWith('{') ? parseJson(line) : undefined
  return isRecord(value) ? value : undefined
}
