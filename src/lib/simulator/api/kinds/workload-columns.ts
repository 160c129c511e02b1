import type { Deployment, DaemonSet, Job, ReplicaSet } from '../../../cluster/kinds/apps.ts'
import type { KubeObject } from '../../../cluster/object.ts'
import { ageColumn, column, nameColumn, wide } from '../column.ts'
import { humanDuration } from '../human-duration.ts'
import { items, text } from '../json.ts'
import type { Column } from '../sim-kind.ts'

const containers = (object: KubeObject) => items(object, 'spec', 'template', 'spec', 'containers')
const templateColumns: readonly Column[] = [
  wide('Containers', (o) =>
    containers(o)
      .map((c) => text(c, 'name'))
      .join(','),
  ),
  wide('Images', (o) =>
    containers(o)
      .map((c) => text(c, 'image'))
      .join(','),
  ),
  wide('Selector', selector),
]

function selector({ spec }: Deployment): string {
  const labels = Object.entries(spec?.selector?.matchLabels ?? {})
  return labels.map(([key, value]) => `${key}=${value}`).join(',') || '<none>'
}

export const deploymentColumns: readonly Column[] = [
  nameColumn,
  column('Ready', ({ spec, status }: Deployment) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 1}`),
  column('Up-to-date', ({ status }: Deployment) => status?.updatedReplicas ?? 0, 'integer'),
  column('Available', ({ status }: Deployment) => status?.availableReplicas ?? 0, 'integer'),
  ageColumn,
  ...templateColumns,
]

export const replicaSetColumns: readonly Column[] = [
  nameColumn,
  column('Desired', ({ spec }: ReplicaSet) => spec?.replicas ?? 0, 'integer'),
  column('Current', ({ status }: ReplicaSet) => status?.replicas ?? 0, 'integer'),
  column('Ready', ({ status }: ReplicaSet) => status?.readyReplicas ?? 0, 'integer'),
  ageColumn,
  ...templateColumns,
]

export const daemonSetColumns: readonly Column[] = [
  nameColumn,
  column('Desired', ({ status }: DaemonSet) => status?.desiredNumberScheduled ?? 0, 'integer'),
  column('Current', ({ status }: DaemonSet) => status?.currentNumberScheduled ?? 0, 'integer'),
  column('Ready', ({ status }: DaemonSet) => status?.numberReady ?? 0, 'integer'),
  column('Up-to-date', ({ status }: DaemonSet) => status?.updatedNumberScheduled ?? 0, 'integer'),
  column('Available', ({ status }: DaemonSet) => status?.numberAvailable ?? 0, 'integer'),
  column('Node Selector', nodeSelector),
  ageColumn,
  ...templateColumns,
]

function nodeSelector({ spec }: DaemonSet): string {
  const labels = Object.entries(spec?.template?.spec?.nodeSelector ?? {})
  return labels.map(([key, value]) => `${key}=${value}`).join(',') || '<none>'
}

export const jobColumns: readonly Column[] = [
  nameColumn,
  column('Status', jobStatus),
  column('Completions', ({ status }: Job) => `${status?.succeeded ?? 0}/1`),
  column('Duration', ({ status }: Job, now) => {
    if (status?.startTime === undefined) return ''
    const end = status.completionTime === undefined ? now.getTime() : Date.parse(status.completionTime)
    return humanDuration(end - Date.parse(status.startTime))
  }),
  ageColumn,
  ...templateColumns,
]

function jobStatus({ status }: Job): string {
  const done = status?.conditions?.find((c) => c.status === 'True' && ['Complete', 'Failed'].includes(c.type))
  return done?.type ?? 'Running'
}
