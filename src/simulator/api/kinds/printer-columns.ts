import type * as kube from '../../kinds.ts'
import { at, isJson, items, type Json, text } from '../json.ts'
import type { Column } from './sim-kind.ts'

type Cell = Column['cell']

export const column = (name: string, cell: Cell, type: Column['type'] = 'string'): Column => ({
  name,
  type,
  cell,
})

/** Shown by `-o wide` only. */
const wideColumn = (name: string, cell: Cell): Column => ({ name, type: 'string', priority: 1, cell })

/** A column that is one value of the object, or `<none>`. */
export const field = (name: string, ...path: readonly string[]): Column =>
  column(name, (object) => shown(at(object, ...path)))

export const nameColumn = column('Name', (object) => object.metadata.name)
export const ageColumn = column('Age', (object, now) => ageOf(object.metadata.creationTimestamp, now))

function shown(value: unknown): string | number | boolean {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return value === undefined || value === null ? '<none>' : JSON.stringify(value)
}

/** A column that counts: one number of the object, or 0. */
const counted = (name: string, ...path: readonly string[]): Column =>
  column(name, (object) => (at(object, ...path) ?? 0) as number, 'integer')

const dates: ReadonlySet<string> = new Set(['Age', 'Since'])

type Paths = Readonly<Record<string, string>>

const definitionsOf = (paths: Paths, priority: number): Json[] =>
  Object.entries(paths).map(([name, jsonPath]) => {
    const type = dates.has(name) ? 'date' : 'string'
    return { name, type, jsonPath, priority }
  })

/** The name, and columns of a CustomResourceDefinition by their JSONPath; Age and Since are told as ages, and `wider` ones by `-o wide` only. */
export const pathColumns = (paths: Paths, wider: Paths = {}): Column[] => [
  nameColumn,
  ...jsonPathColumns([...definitionsOf(paths, 0), ...definitionsOf(wider, 1)]),
]

/** The JSONPath of what a condition of that type says. */
export const conditionPath = (type: string, member = 'status'): string =>
  `.status.conditions[?(@.type=='${type}')].${member}`

export const agePath = { Age: '.metadata.creationTimestamp' }

/** The additionalPrinterColumns of a CustomResourceDefinition. */
export const jsonPathColumns = (definitions: readonly Json[]): Column[] =>
  definitions.map((definition) => {
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
export const ageOf = (since: unknown, now: Date): string =>
  typeof since === 'string' ? humanDuration(now.getTime() - Date.parse(since)) : '<unknown>'

export const podColumns: readonly Column[] = [
  nameColumn,
  column('Ready', ({ spec, status }: kube.Pod) => {
    const ready = (status?.containerStatuses ?? []).filter((c) => c.ready === true).length
    return `${ready}/${spec?.containers?.length ?? 0}`
  }),
  column('Status', podStatus),
  column('Restarts', restarts),
  ageColumn,
  wideColumn('IP', ({ status }: kube.Pod) => status?.podIP ?? '<none>'),
  wideColumn('Node', ({ spec }: kube.Pod) => spec?.nodeName ?? '<none>'),
  wideColumn('Nominated Node', () => '<none>'),
  wideColumn('Readiness Gates', () => '<none>'),
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

const reasonOf = (container: kube.ContainerStatus): string | undefined =>
  container.state?.waiting?.reason ?? terminated(container)

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

const ofContainers = (name: string, member: string): Column =>
  wideColumn(name, (o) => {
    const containers = items(o, 'spec', 'template', 'spec', 'containers')
    return containers.map((c) => text(c, member)).join(',')
  })

const templateColumns: readonly Column[] = [
  ofContainers('Containers', 'name'),
  ofContainers('Images', 'image'),
  wideColumn('Selector', ({ spec }: kube.Deployment) => labelled(spec?.selector?.matchLabels)),
]

const labelled = (labels: Readonly<Record<string, string>> = {}): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',') || '<none>'

/** Of a workload: between its name and its age what is its own, behind them its template. */
const workload = (...own: readonly Column[]): readonly Column[] => [
  nameColumn,
  ...own,
  ageColumn,
  ...templateColumns,
]

export const deploymentColumns = workload(
  column(
    'Ready',
    ({ spec, status }: kube.Deployment) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 1}`,
  ),
  counted('Up-to-date', 'status', 'updatedReplicas'),
  counted('Available', 'status', 'availableReplicas'),
)

export const replicaSetColumns = workload(
  counted('Desired', 'spec', 'replicas'),
  counted('Current', 'status', 'replicas'),
  counted('Ready', 'status', 'readyReplicas'),
)

export const daemonSetColumns = workload(
  counted('Desired', 'status', 'desiredNumberScheduled'),
  counted('Current', 'status', 'currentNumberScheduled'),
  counted('Ready', 'status', 'numberReady'),
  counted('Up-to-date', 'status', 'updatedNumberScheduled'),
  counted('Available', 'status', 'numberAvailable'),
  column('Node Selector', ({ spec }: kube.DaemonSet) => labelled(spec?.template?.spec?.nodeSelector)),
)

export const jobColumns = workload(
  column('Status', jobStatus),
  column('Completions', ({ status }: kube.Job) => `${status?.succeeded ?? 0}/1`),
  column('Duration', ({ status }: kube.Job, now) => {
    if (status?.startTime === undefined) return ''
    const end = status.completionTime === undefined ? now.getTime() : Date.parse(status.completionTime)
    return humanDuration(end - Date.parse(status.startTime))
  }),
)

function jobStatus({ status }: kube.Job): string {
  const done = status?.conditions?.find((c) => c.status === 'True' && ['Complete', 'Failed'].includes(c.type))
  return done?.type ?? 'Running'
}
