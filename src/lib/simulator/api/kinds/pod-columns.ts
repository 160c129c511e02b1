import type { ContainerStatus, Pod } from '../../../cluster/kinds/pods.ts'
import { ageColumn, column, nameColumn, wide } from '../column.ts'
import { ageOf } from '../human-duration.ts'
import type { Column } from '../sim-kind.ts'

export const podColumns: readonly Column[] = [
  nameColumn,
  column('Ready', ({ spec, status }: Pod) => {
    const ready = (status?.containerStatuses ?? []).filter((c) => c.ready === true).length
    return `${ready}/${spec?.containers?.length ?? 0}`
  }),
  column('Status', podStatus),
  column('Restarts', restarts),
  ageColumn,
  wide('IP', ({ status }: Pod) => status?.podIP ?? '<none>'),
  wide('Node', ({ spec }: Pod) => spec?.nodeName ?? '<none>'),
  wide('Nominated Node', () => '<none>'),
  wide('Readiness Gates', () => '<none>'),
]

/** The STATUS of `kubectl get pods`: the worst reason of a container before the phase. */
function podStatus(pod: Pod): string {
  if (pod.metadata.deletionTimestamp !== undefined) return 'Terminating'
  const containers = pod.status?.containerStatuses ?? []
  return (
    initStatus(pod) ??
    containers
      .map((c) => c.state?.waiting?.reason ?? terminated(c))
      .findLast((reason) => reason !== undefined) ??
    pod.status?.reason ??
    pod.status?.phase ??
    'Unknown'
  )
}

function initStatus({ spec, status }: Pod): string | undefined {
  const containers = status?.initContainerStatuses ?? []
  const first = containers.findIndex((c) => c.state?.terminated?.exitCode !== 0)
  const container = containers[first]
  if (!container) return undefined
  const why = reasonOf(container) ?? 'PodInitializing'
  if (why !== 'PodInitializing') return `Init:${why}`
  return `Init:${first}/${(spec?.initContainers ?? containers).length}`
}

function reasonOf(container: ContainerStatus): string | undefined {
  return container.state?.waiting?.reason ?? terminated(container)
}

function terminated({ state }: ContainerStatus): string | undefined {
  if (!state?.terminated) return undefined
  return state.terminated.reason ?? `ExitCode:${state.terminated.exitCode ?? 0}`
}

function restarts({ status }: Pod, now: Date): string {
  const containers = status?.containerStatuses ?? []
  const count = containers.reduce((sum, c) => sum + (c.restartCount ?? 0), 0)
  const last = containers
    .map((c) => c.lastState?.terminated?.finishedAt)
    .filter((time) => time !== undefined)
    .sort()
    .at(-1)
  return count > 0 && last !== undefined ? `${count} (${ageOf(last, now)} ago)` : String(count)
}
