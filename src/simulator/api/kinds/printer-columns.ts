import type * as kube from '../../kinds.ts'
import { at, isJson, items, type Json, text } from '../json.ts'
import type { Column } from './sim-kind.ts'

type Cell = Column['cell']

/** Names of columns with what they show; Age and Since are told as ages. What can stand there: `columnOf`. */
export type Columns = Readonly<Record<string, string>>

const dates: ReadonlySet<string> = new Set(['Age', 'Since'])

/** The name, and columns of a CustomResourceDefinition by their JSONPath; `wider` ones are shown by `-o wide` only. */
export const pathColumns = (columns: Columns, wider: Columns = {}): Column[] => [
  nameColumn,
  ...Object.entries(columns).map(([name, shows]) => columnOf(name, shows)),
  ...Object.entries(wider).map(([name, shows]) => Object.assign(columnOf(name, shows), { priority: 1 })),
]

/** The additionalPrinterColumns of a CustomResourceDefinition. */
export const definedColumns = (definitions: readonly Json[]): Column[] =>
  definitions.map((definition) => {
    const type = (text(definition, 'type') ?? 'string') as Column['type']
    const column = pathColumn(text(definition, 'name') ?? '', text(definition, 'jsonPath') ?? '', type)
    return { ...column, priority: Number(definition['priority'] ?? 0) }
  })

export const agePath = { Age: '.metadata.creationTimestamp' }

/**
 * A column by what it shows: `.a.b`, a JSONPath that is empty where nothing is there; `{.a.b|<none>}` with what stands there
 * instead, `{#.a}` for how many, several of them in one text; `@name` for what has to be worked out.
 */
function columnOf(name: string, shows: string): Column {
  const worked = computed[shows.slice(1)]
  if (shows.startsWith('@') && worked) return { name, type: 'string', cell: worked }
  if (!shows.includes('{')) return pathColumn(name, shows, dates.has(name) ? 'date' : 'string')
  const parts = shows.split(/\{([^}]*)\}/u)
  const values = parts.map((part, i) => (i % 2 === 1 ? valueOf(part) : () => part))
  const [, only] = values
  if (parts.length === 3 && parts[0] === '' && parts[2] === '' && only) {
    const type = typeof only({}) === 'number' ? 'integer' : 'string'
    return { name, type, cell: (object) => only(object) }
  }
  return { name, type: 'string', cell: (object) => values.map((value) => value(object)).join('') }
}

function pathColumn(name: string, path: string, type: Column['type']): Column {
  const steps = parsePath(path)
  const cell: Cell = (object, now) => {
    const value = walk(object, steps)
    return type === 'date' ? ageOf(value, now) : plain(value ?? '')
  }
  return { name, type: type === 'date' ? 'string' : type, cell }
}

type Shown = string | number | boolean

const plain = (value: unknown): Shown =>
  typeof value === 'object' ? JSON.stringify(value) : (value as Shown)

function valueOf(expression: string): (object: unknown) => Shown {
  const choices = expression.split('|').map((choice) => {
    if (choice.startsWith('#')) return counted(parsePath(choice.slice(1)))
    if (!choice.startsWith('.'))
      return () => (/^(?:\d+|false)$/u.test(choice) ? (JSON.parse(choice) as Shown) : choice)
    const steps = parsePath(choice)
    return (object: unknown) => listed(walk(object, steps))
  })
  return (object) => choices.map((choice) => choice(object)).find((value) => value !== undefined) ?? ''
}

const counted = (steps: readonly Step[]) => (object: unknown) =>
  Object.keys(walk(object, steps) ?? {}).length || undefined

/** `a,b` and `a=b,c=d`; undefined where there is none. */
function listed(value: unknown): Shown | undefined {
  if (Array.isArray(value)) return value.join(',')
  if (!isJson(value)) return (value as Shown | null) ?? undefined
  return (
    Object.entries(value)
      .map((pair) => pair.join('='))
      .join(',') || undefined
  )
}

type Step = string | number | { where: string; is: string }

/** Enough of JSONPath for printer columns: members, positions, `[*]` and `[?(@.type=='Ready')]`. */
function parsePath(path: string): Step[] {
  const pattern =
    /\.([A-Za-z0-9_-]+)|\[(\d+|\*)\]|\['([^']+)'\]|\[\?\(@\.([A-Za-z0-9_]+)\s*==\s*["']([^"']*)["']\)\]/g
  return [...path.replaceAll('\\.', '.').matchAll(pattern)].map(([, name, index, quoted, where, is]) => {
    if (where !== undefined) return { where, is: is ?? '' }
    return index === undefined || index === '*' ? (name ?? quoted ?? '*') : Number(index)
  })
}

function walk(value: unknown, [step, ...rest]: readonly Step[]): unknown {
  if (step === undefined) return value
  if (step === '*') return Array.isArray(value) ? value.map((item) => walk(item, rest)) : undefined
  if (typeof step === 'string') return walk(at(value, step), rest)
  const list: readonly unknown[] = Array.isArray(value) ? value : []
  if (typeof step === 'number') return walk(list[step], rest)
  return walk(
    list.find((item) => isJson(item) && item[step.where] === step.is),
    rest,
  )
}

const [second, minute, hour, day] = [1e3, 6e4, 36e5, 864e5]
const year = 365 * day

/** Below which age, in ms, which units are told; the second only where it is not 0. */
const ages: readonly (readonly [below: number, ...units: readonly (readonly [number, string])[]])[] = [
  [2 * minute, [second, 's']],
  [10 * minute, [minute, 'm'], [second, 's']],
  [3 * hour, [minute, 'm']],
  [8 * hour, [hour, 'h'], [minute, 'm']],
  [2 * day, [hour, 'h']],
  [8 * day, [day, 'd'], [hour, 'h']],
  [2 * year, [day, 'd']],
  [8 * year, [year, 'y'], [day, 'd']],
  [Infinity, [year, 'y']],
]

/** Ages as the API server prints them: `45s`, `3m20s`, `17m`, `5h30m`, `2d4h`, `10d`, `2y30d`. */
function humanDuration(ms: number): string {
  if (ms < -2 * second) return '<invalid>'
  const [, big, small] = ages.find(([below]) => ms < below) ?? []
  if (!big) return ''
  const rest = small ? Math.floor((ms % big[0]) / small[0]) : 0
  return `${Math.max(0, Math.floor(ms / big[0]))}${big[1]}${small && rest > 0 ? `${rest}${small[1]}` : ''}`
}

/** Since an RFC 3339 time; `<unknown>` where there is none. */
const ageOf = (since: unknown, now: Date): string =>
  typeof since === 'string' ? humanDuration(now.getTime() - Date.parse(since)) : '<unknown>'

const nameColumn = pathColumn('Name', '.metadata.name', 'string')

const role = /^node-role\.kubernetes\.io\/(.+)$/

/** What kubectl shows of a kind and no path says. */
const computed: Readonly<Record<string, Cell>> = {
  podReady: ({ spec, status }: kube.Pod) => {
    const ready = (status?.containerStatuses ?? []).filter((c) => c.ready === true).length
    return `${ready}/${spec?.containers?.length ?? 0}`
  },
  podStatus,
  restarts: ({ status }: kube.Pod, now) => {
    const containers = status?.containerStatuses ?? []
    const count = containers.reduce((sum, c) => sum + (c.restartCount ?? 0), 0)
    const ends = containers.flatMap((c) => c.lastState?.terminated?.finishedAt ?? [])
    const last = ends.sort().at(-1)
    return count > 0 && last !== undefined ? `${count} (${ageOf(last, now)} ago)` : String(count)
  },
  nodeStatus: ({ spec, status }: kube.Node) => {
    const ready = status?.conditions?.find((c) => c.type === 'Ready')?.status
    const word = ready === 'True' ? 'Ready' : ready === undefined ? 'Unknown' : 'NotReady'
    return spec?.unschedulable === true ? `${word},SchedulingDisabled` : word
  },
  nodeRoles: ({ metadata }) =>
    Object.keys(metadata.labels ?? {})
      .flatMap((label) => role.exec(label)?.[1] ?? [])
      .sort()
      .join(',') || '<none>',
  lastTime: (event: kube.Event, now) =>
    ageOf(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp, now),
  involved: ({ involvedObject }: kube.Event) =>
    `${(involvedObject?.kind ?? '').toLowerCase()}/${involvedObject?.name ?? ''}`,
  jobStatus: ({ status }: kube.Job) =>
    status?.conditions?.find((c) => c.status === 'True' && ['Complete', 'Failed'].includes(c.type))?.type ??
    'Running',
  duration: ({ status }: kube.Job, now) => {
    if (status?.startTime === undefined) return ''
    const end = status.completionTime === undefined ? now.getTime() : Date.parse(status.completionTime)
    return humanDuration(end - Date.parse(status.startTime))
  },
  service: (o) => {
    const service = at(o, 'spec', 'service')
    return service ? `${text(service, 'namespace')}/${text(service, 'name')}` : 'Local'
  },
  available: (o) => {
    const available = items(o, 'status', 'conditions').find((c) => c['type'] === 'Available')
    if (available?.['status'] === 'True') return 'True'
    return available ? `False (${text(available, 'reason')})` : 'Unknown'
  },
}

/** The STATUS of `kubectl get pods`: the worst reason of a container before the phase. */
function podStatus(pod: kube.Pod): string {
  if (pod.metadata.deletionTimestamp !== undefined) return 'Terminating'
  const { containerStatuses = [], reason, phase = 'Unknown' } = pod.status ?? {}
  const reasons = containerStatuses.flatMap((c) => reasonOf(c) ?? [])
  return initStatus(pod) ?? reasons.at(-1) ?? reason ?? phase
}

function initStatus({ spec, status }: kube.Pod): string | undefined {
  const containers = status?.initContainerStatuses ?? []
  const first = containers.findIndex((c) => c.state?.terminated?.exitCode !== 0)
  const container = containers[first]
  if (!container) return undefined
  const why = reasonOf(container) ?? 'PodInitializing'
  return `Init:${why === 'PodInitializing' ? `${first}/${(spec?.initContainers ?? containers).length}` : why}`
}

function reasonOf({ state }: kube.ContainerStatus): string | undefined {
  if (!state?.terminated) return state?.waiting?.reason
  return state.waiting?.reason ?? state.terminated.reason ?? `ExitCode:${state.terminated.exitCode ?? 0}`
}
