import type * as kube from '../../kinds.ts'
import { at, isJson, items, type Json, text } from '../json.ts'
import type { Column } from './sim-kind.ts'
import type { KubeObject } from '../../../lib/kube/object.ts'

type Cell = Column['cell']

export function column(name: string, cell: Cell, type: Column['type'] = 'string'): Column {
  return { name, type, cell }
}

/** Shown by `-o wide` only. */
function wide(name: string, cell: Cell): Column {
  return { name, type: 'string', priority: 1, cell }
}

/** A column that is one value of the object, or `<none>`. */
export function field(name: string, ...path: readonly string[]): Column {
  return column(name, (object) => shown(at(object, ...path)))
}

export const nameColumn = column('Name', (object) => object.metadata.name)
export const ageColumn = column('Age', (object, now) => ageOf(object.metadata.creationTimestamp, now))

function shown(value: unknown): string | number | boolean {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return value === undefined || value === null ? '<none>' : JSON.stringify(value)
}

/** The additionalPrinterColumns of a CustomResourceDefinition. */
export function jsonPathColumns(definitions: readonly Json[]): Column[] {
  return definitions.map((definition) => {
    const type = (text(definition, 'type') ?? 'string') as Column['type']
    const steps = parsePath(text(definition, 'jsonPath') ?? '')
    const priority = Number(definition['priority'] ?? 0)
    const name = text(definition, 'name') ?? ''
    const cell: Cell = (object, now) => {
      const value = walk(object, steps)
      return type === 'date' ? ageOf(value, now) : value === undefined || value === null ? '' : shown(value)
    }
    return { name, type: type === 'date' ? 'string' : type, priority, cell }
  })
}

type Step = string | number | { where: string; is: string }

/** Enough of JSONPath for printer columns: members, positions and `[?(@.type=='Ready')]`. */
function parsePath(path: string): Step[] {
  const pattern =
    /\.([A-Za-z0-9_-]+)|\[(\d+)\]|\['([^']+)'\]|\[\?\(@\.([A-Za-z0-9_]+)\s*==\s*["']([^"']*)["']\)\]/g
  return [...path.replaceAll('\\.', '.').matchAll(pattern)].map(([, name, index, quoted, where, is]) => {
    if (where !== undefined) return { where, is: is ?? '' }
    return index === undefined ? (name ?? quoted ?? '') : Number(index)
  })
}

function walk(object: unknown, steps: readonly Step[]): unknown {
  let found = object
  for (const step of steps) {
    if (typeof step === 'string') found = at(found, step)
    else if (!Array.isArray(found)) return undefined
    else
      found = found.find((item, i) =>
        typeof step === 'number' ? i === step : isJson(item) && item[step.where] === step.is,
      )
  }
  return found
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** Ages as the API server prints them: `45s`, `3m20s`, `17m`, `5h30m`, `2d4h`, `10d`, `2y30d`. */
function humanDuration(ms: number): string {
  if (ms < -2 * second) return '<invalid>'
  if (ms < 2 * minute) return `${Math.max(0, Math.floor(ms / second))}s`
  if (ms < 10 * minute) return two(ms, [minute, 'm'], [second, 's'])
  if (ms < 3 * hour) return `${Math.floor(ms / minute)}m`
  if (ms < 8 * hour) return two(ms, [hour, 'h'], [minute, 'm'])
  if (ms < 2 * day) return `${Math.floor(ms / hour)}h`
  if (ms < 8 * day) return two(ms, [day, 'd'], [hour, 'h'])
  if (ms < 2 * 365 * day) return `${Math.floor(ms / day)}d`
  if (ms < 8 * 365 * day) return two(ms, [365 * day, 'y'], [day, 'd'])
  return `${Math.floor(ms / (365 * day))}y`
}

function two(ms: number, [big, bigUnit]: [number, string], [small, smallUnit]: [number, string]): string {
  const rest = Math.floor((ms % big) / small)
  return `${Math.floor(ms / big)}${bigUnit}${rest === 0 ? '' : `${rest}${smallUnit}`}`
}

/** Since an RFC 3339 time; `<unknown>` where there is none. */
export function ageOf(since: unknown, now: Date): string {
  return typeof since === 'string' ? humanDuration(now.getTime() - Date.parse(since)) : '<unknown>'
}

export const podColumns: readonly Column[] = [
  nameColumn,
  column('Ready', ({ spec, status }: kube.Pod) => {
    const ready = (status?.containerStatuses ?? []).filter((c) => c.ready === true).length
    return `${ready}/${spec?.containers?.length ?? 0}`
  }),
  column('Status', podStatus),
  column('Restarts', restarts),
  ageColumn,
  wide('IP', ({ status }: kube.Pod) => status?.podIP ?? '<none>'),
  wide('Node', ({ spec }: kube.Pod) => spec?.nodeName ?? '<none>'),
  wide('Nominated Node', () => '<none>'),
  wide('Readiness Gates', () => '<none>'),
]

/** The STATUS of `kubectl get pods`: the worst reason of a container before the phase. */
function podStatus(pod: kube.Pod): string {
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

function initStatus({ spec, status }: kube.Pod): string | undefined {
  const containers = status?.initContainerStatuses ?? []
  const first = containers.findIndex((c) => c.state?.terminated?.exitCode !== 0)
  const container = containers[first]
  if (!container) return undefined
  const why = reasonOf(container) ?? 'PodInitializing'
  if (why !== 'PodInitializing') return `Init:${why}`
  return `Init:${first}/${(spec?.initContainers ?? containers).length}`
}

function reasonOf(container: kube.ContainerStatus): string | undefined {
  return container.state?.waiting?.reason ?? terminated(container)
}

function terminated({ state }: kube.ContainerStatus): string | undefined {
  if (!state?.terminated) return undefined
  return state.terminated.reason ?? `ExitCode:${state.terminated.exitCode ?? 0}`
}

function restarts({ status }: kube.Pod, now: Date): string {
  const containers = status?.containerStatuses ?? []
  const count = containers.reduce((sum, c) => sum + (c.restartCount ?? 0), 0)
  const last = containers
    .map((c) => c.lastState?.terminated?.finishedAt)
    .filter((time) => time !== undefined)
    .sort()
    .at(-1)
  return count > 0 && last !== undefined ? `${count} (${ageOf(last, now)} ago)` : String(count)
}

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

function selector({ spec }: kube.Deployment): string {
  const labels = Object.entries(spec?.selector?.matchLabels ?? {})
  return labels.map(([key, value]) => `${key}=${value}`).join(',') || '<none>'
}

export const deploymentColumns: readonly Column[] = [
  nameColumn,
  column(
    'Ready',
    ({ spec, status }: kube.Deployment) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 1}`,
  ),
  column('Up-to-date', ({ status }: kube.Deployment) => status?.updatedReplicas ?? 0, 'integer'),
  column('Available', ({ status }: kube.Deployment) => status?.availableReplicas ?? 0, 'integer'),
  ageColumn,
  ...templateColumns,
]

export const replicaSetColumns: readonly Column[] = [
  nameColumn,
  column('Desired', ({ spec }: kube.ReplicaSet) => spec?.replicas ?? 0, 'integer'),
  column('Current', ({ status }: kube.ReplicaSet) => status?.replicas ?? 0, 'integer'),
  column('Ready', ({ status }: kube.ReplicaSet) => status?.readyReplicas ?? 0, 'integer'),
  ageColumn,
  ...templateColumns,
]

export const daemonSetColumns: readonly Column[] = [
  nameColumn,
  column('Desired', ({ status }: kube.DaemonSet) => status?.desiredNumberScheduled ?? 0, 'integer'),
  column('Current', ({ status }: kube.DaemonSet) => status?.currentNumberScheduled ?? 0, 'integer'),
  column('Ready', ({ status }: kube.DaemonSet) => status?.numberReady ?? 0, 'integer'),
  column('Up-to-date', ({ status }: kube.DaemonSet) => status?.updatedNumberScheduled ?? 0, 'integer'),
  column('Available', ({ status }: kube.DaemonSet) => status?.numberAvailable ?? 0, 'integer'),
  column('Node Selector', nodeSelector),
  ageColumn,
  ...templateColumns,
]

function nodeSelector({ spec }: kube.DaemonSet): string {
  const labels = Object.entries(spec?.template?.spec?.nodeSelector ?? {})
  return labels.map(([key, value]) => `${key}=${value}`).join(',') || '<none>'
}

export const jobColumns: readonly Column[] = [
  nameColumn,
  column('Status', jobStatus),
  column('Completions', ({ status }: kube.Job) => `${status?.succeeded ?? 0}/1`),
  column('Duration', ({ status }: kube.Job, now) => {
    if (status?.startTime === undefined) return ''
    const end = status.completionTime === undefined ? now.getTime() : Date.parse(status.completionTime)
    return humanDuration(end - Date.parse(status.startTime))
  }),
  ageColumn,
  ...templateColumns,
]

function jobStatus({ status }: kube.Job): string {
  const done = status?.conditions?.find((c) => c.status === 'True' && ['Complete', 'Failed'].includes(c.type))
  return done?.type ?? 'Running'
}
