import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import type { Store } from '../api/store.ts'

/** What `kubectl logs` shows: a container that was restarted says why it ended. */
export function servePodLogs(store: Store): void {
  store.onSubresource(Pods, 'log', ({ object, parameters }) => {
    const pod: Pod = object
    const [first] = pod.spec?.containers ?? []
    return logOf(pod, parameters['container'] ?? first?.name ?? '')
  })
}

function logOf({ status }: Pod, component: string): string {
  const container = status?.containerStatuses?.find(({ name }) => name === component)
  const ended = container?.lastState?.terminated
  const line = ended
    ? {
        component,
        level: 'fatal',
        msg: `cannot go on, exit code ${ended.exitCode}`,
        timestamp: ended.finishedAt,
      }
    : { component, level: 'info', msg: 'started' }
  return `${JSON.stringify(line)}\n`
}
