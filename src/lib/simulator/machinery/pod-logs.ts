import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import { Refusal } from '../api/refusal.ts'
import type { Store } from '../api/store.ts'
import type { SubresourceCall } from '../api/subresources.ts'

/** What programs have said, by the uid of their pod. */
export class PodLogs {
  readonly #lines = new Map<string, string[]>()

  say({ uid = '' }: { uid?: string | undefined }, line: object): void {
    const lines = this.#lines.get(uid) ?? []
    lines.push(JSON.stringify(line))
    this.#lines.set(uid, lines)
  }

  of({ uid = '' }: { uid?: string | undefined }): readonly string[] {
    return this.#lines.get(uid) ?? []
  }
}

/** What `kubectl logs` shows: what the program said, and of a container that ended why. */
export function servePodLogs(store: Store, logs: PodLogs): void {
  store.onSubresource(Pods, 'log', (call) => logOf(call, logs))
}

function logOf({ object, parameters }: SubresourceCall, logs: PodLogs): string {
  const pod: Pod = object
  const component = parameters['container'] ?? pod.spec?.containers?.[0]?.name ?? ''
  const ended = endOf(pod, component)
  if (parameters['previous'] === 'true' && !ended?.again) throw noPrevious(component, pod.metadata.name)
  const lines = [
    JSON.stringify({ component, level: 'info', msg: 'started' }),
    ...logs.of(pod.metadata),
    ...(ended ? [lastWords(component, ended)] : []),
  ]
  return tail(lines, parameters['tailLines'])
}

function tail(lines: readonly string[], most: string | undefined): string {
  return `${lines.slice(-Number(most ?? lines.length)).join('\n')}\n`
}

interface End {
  exitCode?: number
  finishedAt?: string
  /** It was started again since. */
  again: boolean
}

function endOf({ status }: Pod, component: string): End | undefined {
  const { state, lastState } = status?.containerStatuses?.find(({ name }) => name === component) ?? {}
  const ended = lastState?.terminated ?? state?.terminated
  return ended && { ...ended, again: lastState?.terminated !== undefined }
}

function lastWords(component: string, { exitCode, finishedAt: timestamp }: End): string {
  const well = exitCode === 0
  const msg = well ? 'done' : 'a fault of the simulator ends this container'
  return JSON.stringify({ component, level: well ? 'info' : 'fatal', msg, timestamp })
}

function noPrevious(container: string, pod: string): Refusal {
  return new Refusal(
    400,
    'BadRequest',
    `previous terminated container "${container}" in pod "${pod}" not found`,
  )
}
