import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import type { Store } from '../api/store.ts'

/** What `kubectl logs` shows: a container that was restarted says why it ended. */
export function servePodLogs(store: Store): void {
  store.onSubresource(Pods, 'log', ({ object, parameters }) => {
    const { status, spec }: Pod = object
    const name = parameters['container'] ?? spec?.containers?.[0]?.name ?? ''
    const ended = status?.containerStatuses?.find((c) => c.name === name)?.lastState?.terminated
    if (ended === undefined) return `{"component":"${name}","level":"info","msg":"started"}\n`
    const { finishedAt, exitCode } = ended
    return `{"component":"${name}","level":"fatal","msg":"cannot go on, exit code ${exitCode}","timestamp":"${finishedAt}"}\n`
  })
}
