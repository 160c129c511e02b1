import type { Cluster, Reader } from '../../kube/cluster.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { ApiError, isNotFound } from '../../kube/errors.ts'
import { runStrategyOf, vmName, Vms } from '../vm.ts'
import { pagesAllowed, type Unread } from '../../kube/readable-pages.ts'
import { reason } from '../vm-outlook.ts'
import {
  type ForecastItem,
  judgePage,
  type Judging,
  type Outcome,
  outcomes,
  plainItem,
  type Probe,
} from './vm-forecast.ts'
import { type Pod, Pods } from '../../kube/kinds/workload-kinds.ts'
import type { OutcomeCounts } from '../workload-updater.ts'
import { readAhead } from '../../kube/read-cache.ts'

/** Which VMs, and which of them have the launcher already that they are to get. */
interface Wanted {
  namespace?: string | undefined
  labels?: string | undefined
  /** Nothing is to be done for it: it is counted, and no row. */
  isCurrent: Promise<(vmi: VirtualMachineInstance) => boolean>
}

export interface ForecastPage {
  items: readonly ForecastItem[]
  /** VMIs of the page, with their items in the same order. */
  vmis: readonly VirtualMachineInstance[]
  current: number
  unread: readonly Unread[]
}

const empty: ForecastPage = { items: [], vmis: [], current: 0, unread: [] }

/**
 * Every VM, page by page as the server sends them: those that run, then those that do not. `judging` undefined: what decides may not be
 * read, and nothing is claimed. Throws ApiError.
 */
export async function* listForecast(
  reader: Reader,
  wanted: Wanted,
  judging: Promise<Judging | undefined>,
): AsyncGenerator<ForecastPage> {
  yield* orUnserved(instancesIn(reader, wanted, judging))
  yield* orUnserved(down(reader, wanted))
}

async function* orUnserved(pages: AsyncIterable<ForecastPage>): AsyncGenerator<ForecastPage> {
  try {
    yield* pages
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

async function* instancesIn(
  reader: Reader,
  wanted: Wanted,
  judging: Promise<Judging | undefined>,
): AsyncGenerator<ForecastPage> {
  const vms = new Vms(reader)
  const before = new Set<string>()
  const kept: ForecastPage[] = []
  for await (const page of pagesAllowed(reader, VirtualMachineInstances, placeOf(wanted)))
    if ('unread' in page) yield { ...empty, unread: [page.unread] }
    else {
      const isCurrent = await wanted.isCurrent
      const due = page.items.filter((vmi) => !isOver(vmi) && !isCurrent(vmi))
      const current = page.items.filter((vmi) => !isOver(vmi)).length - due.length
      const rules = await judging
      const items = rules ? await judgePage(due, { reader, vmCache: vms }, rules) : due.map(plainItem)
      const judged = { items, vmis: due, current, unread: newlyUnread(vms, before) }
      // Behind one whose room depends on others the rows wait for it, so that they keep their order.
      if (kept.length === 0 && !isWaiting(judged, rules)) yield judged
      else {
        kept.push(judged)
        await rules?.joint?.retry()
        for (let [first] = kept; first !== undefined && !isWaiting(first, rules); [first] = kept) {
          kept.shift()
          yield rules ? await judgedAgain(first, { reader, vmCache: vms }, rules) : first
        }
      }
    }
  const rules = await judging
  await rules?.joint?.settle()
  for (const page of kept) yield rules ? await judgedAgain(page, { reader, vmCache: vms }, rules) : page
}

const isWaiting = ({ vmis }: ForecastPage, rules: Judging | undefined): boolean =>
  vmis.some((vmi) => rules?.joint?.isDeferred(vmi.metadata.uid ?? '') === true)

/** Those that waited for room: by now it is known whether others left it behind. */
async function judgedAgain(
  page: ForecastPage,
  asking: Parameters<typeof judgePage>[1],
  rules: Judging,
): Promise<ForecastPage> {
  const found = page.vmis.filter((vmi) => rules.joint?.isSettled(vmi.metadata.uid ?? '') === true)
  if (found.length === 0) return page
  const items = await judgePage(found, asking, rules)
  const byVmi = new Map(found.map((vmi, i) => [vmi, items[i]]))
  return { ...page, items: page.items.map((item, i) => byVmi.get(page.vmis[i] as never) ?? item) }
}

const placeOf = ({ namespace, labels }: Wanted) => ({ namespace, labels })

/** Its VM, if it has one, is told as down. */
const isOver = ({ status }: VirtualMachineInstance) =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed'

function newlyUnread({ unread }: Vms, before: Set<string>): ForecastPage['unread'] {
  const fresh = [...unread].filter(([namespace]) => !before.has(namespace))
  for (const [namespace] of fresh) before.add(namespace)
  return fresh.map(([namespace, why]) => ({ namespace, what: 'virtualmachines', why }))
}

async function* down(reader: Reader, wanted: Wanted): AsyncGenerator<ForecastPage> {
  for await (const page of pagesAllowed(reader, VirtualMachines, placeOf(wanted)))
    yield 'unread' in page
      ? { ...empty, unread: [page.unread] }
      : { ...empty, items: page.items.filter(isDown).map(downItem) }
}

/** Nothing of it runs; `created` is what KubeVirt says of its VMI. */
const isDown = ({ status }: VirtualMachine): boolean => status?.created !== true

function downItem(vm: VirtualMachine): ForecastItem {
  const strategy = runStrategyOf(vm)
  return {
    namespace: vm.metadata.namespace ?? '',
    name: vm.metadata.name,
    outcome: 'is down',
    why: [reason('down', `not running (runStrategy ${strategy}); it starts with the new virt-launcher`)],
    loses: [],
    remedy: [],
  }
}

export type Counts = OutcomeCounts & Record<'is down', number>

/** How many of each, by namespace; those whose outcome is not known are in `total` alone. */
export interface NamespaceTotals {
  namespace: string
  total: number
  byOutcome: Counts
}

const none = (): Counts =>
  Object.fromEntries(outcomes.flatMap((one) => (one === 'restart' ? [] : [[one, 0]]))) as Counts

/** What is kept of the rows once they are printed. */
export class ForecastTotals {
  total = 0
  readonly byOutcome = none()
  readonly #byNamespace = new Map<string, NamespaceTotals>()

  add({ namespace, outcome }: ForecastItem): void {
    const there = this.#byNamespace.get(namespace) ?? { namespace, total: 0, byOutcome: none() }
    this.#byNamespace.set(namespace, there)
    this.total++
    there.total++
    if (outcome === undefined) return
    for (const counts of [this.byOutcome, there.byOutcome]) counts[outcome] = (counts[outcome] ?? 0) + 1
  }

  get namespaces(): readonly NamespaceTotals[] {
    return [...this.#byNamespace.values()]
  }
}

/** How many dry runs are under way at a time. */
const atOnce = 8

/** Reasons of those whose pod the workload updater evicts. */
const byEviction = new Set(['evict-on', 'evacuates', 'denied', 'budget', 'external'])

/** May evictions be asked for here, in one namespace or in all? Undefined: yes; else why not. Throws ApiError. */
export async function whyNotProbed(
  { reviewer }: Cluster,
  namespace: string | undefined,
): Promise<string | undefined> {
  const eviction = { verb: 'create', group: '', resource: 'pods', subresource: 'eviction' }
  const { allowed, reason: why } = await reviewer.can({ ...eviction, ...(namespace && { namespace }) })
  if (allowed) return undefined
  return `evictions are not probed: this user may not create pods/eviction${why ? ` (${why})` : ''}`
}

/**
 * Asks the server by dry runs what it says to the evictions that are forecast, and corrects the forecast where it says otherwise. Items and
 * VMIs are in the same order. Throws what the Writer throws for anything but a refusal.
 */
export async function probeEvictions(
  cluster: Cluster,
  items: readonly ForecastItem[],
  vmis: readonly VirtualMachineInstance[],
): Promise<readonly ForecastItem[]> {
  const probed: ForecastItem[] = []
  for (let from = 0; from < items.length; from += atOnce) {
    const some = items.slice(from, from + atOnce).map(async (item, i) => {
      const vmi = vmis[from + i]
      return vmi && item.why.some(({ id }) => byEviction.has(id)) ? probedItem(cluster, item, vmi) : item
    })
    probed.push(...(await Promise.all(some)))
  }
  return probed
}

async function probedItem(
  cluster: Cluster,
  item: ForecastItem,
  vmi: VirtualMachineInstance,
): Promise<ForecastItem> {
  const pod = await launcherOf(cluster, vmi)
  if (pod === undefined) return { ...item, probe: { answer: 'not asked', message: 'no pod of it was found' } }
  const probe = await evict(cluster, pod)
  return corrected({ ...item, probe })
}

async function launcherOf(
  { reader }: Cluster,
  { metadata, status }: VirtualMachineInstance,
): Promise<Pod | undefined> {
  const labels = `kubevirt.io/created-by=${metadata.uid}`
  const pods = await reader.list(Pods, { namespace: metadata.namespace, labels })
  const living = pods.filter((pod) => pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed')
  return living.find(({ spec }) => spec?.nodeName === status?.nodeName) ?? living[0]
}

async function evict({ reviewer }: Cluster, { metadata }: Pod): Promise<Probe> {
  const { name, namespace } = metadata
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
  try {
    await reviewer.dryRun.subresource(Pods, metadata, { name: 'eviction', method: 'POST', body })
    return { answer: 'allowed' }
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 429 && error.status !== 403)) throw error
    const { message } = error
    return { answer: /triggered evacuation/iu.test(message) ? 'evacuates' : 'denied', message }
  }
}

const ends = new Set(['restarts', 'shuts down', 'is lost'])

/** What the server says beats what was worked out. */
function corrected(item: ForecastItem): ForecastItem {
  const { probe, outcome = 'stays', why } = item
  if (probe?.answer !== 'denied' || !ends.has(outcome)) return item
  return {
    ...item,
    outcome: 'stays',
    why: [reason('probe-denied', `the server refuses its eviction: ${probe.message}`), ...why],
  }
}

/** What was forecast of one VM, and what became of it; `runs`: it was down then. */
export interface ScoredItem {
  namespace: string
  name: string
  outcome: Outcome
  became: Outcome | 'runs'
  agreed: boolean
}

interface Score {
  items: readonly ScoredItem[]
  agreed: number
  /** Their outcome was not known when the forecast was made. */
  unknown: number
}

/** Compares a forecast with the cluster as it is now. Throws ApiError. */
export async function scoreForecast(reader: Reader, forecast: readonly ForecastItem[]): Promise<Score> {
  const wanted = new Set(forecast.map(keyOf))
  const instances = await readInstances(reader, wanted)
  const vms = await vmsOf(reader, wanted)
  const items = forecast.flatMap((item) => {
    const { namespace, name, outcome } = item
    if (outcome === undefined) return []
    const key = keyOf(item)
    const became = becameOf(item, instances.get(key), vms.has(key))
    return [{ namespace, name, outcome, became, agreed: isAsForecast(outcome, became) }]
  })
  const agreed = items.filter((item) => item.agreed).length
  return { items, agreed, unknown: forecast.length - items.length }
}

/** Of a VM that needs a restart nothing is said of when a person gives it one. */
const isAsForecast = (outcome: Outcome, became: ScoredItem['became']): boolean =>
  became === outcome || (outcome === 'restart' && (became === 'restarts' || became === 'stays'))

const keyOf = ({ namespace, name }: Pick<ForecastItem, 'namespace' | 'name'>) => `${namespace}/${name}`

interface RunningInstance {
  uid: string
  launcher: string
  over: boolean
}

/** By what is its own: another uid is another start, another launcher under the same uid a migration. Pure. */
function becameOf(
  item: ForecastItem,
  now: RunningInstance | undefined,
  hasVm: boolean,
): ScoredItem['became'] {
  const gone = now === undefined || now.over
  if (item.uid === undefined) return gone ? 'is down' : 'runs'
  if (gone) return hasVm ? 'shuts down' : 'is lost'
  if (now.uid !== item.uid) return 'restarts'
  return now.launcher === '' || now.launcher === item.launcher ? 'stays' : 'migrates'
}

async function readInstances(
  reader: Reader,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, RunningInstance>> {
  const found = new Map<string, RunningInstance>()
  await ignoreUnserved(async () => {
    for await (const { items } of readAhead(reader.pages(VirtualMachineInstances)))
      for (const vmi of items) {
        const key = vmName(vmi)
        if (wanted.has(key)) found.set(key, runningInstance(vmi))
      }
  })
  return found
}

function runningInstance({ metadata, status }: VirtualMachineInstance): RunningInstance {
  return {
    uid: metadata.uid ?? '',
    launcher: status?.launcherContainerImageVersion ?? '',
    over: status?.phase === 'Succeeded' || status?.phase === 'Failed',
  }
}

async function vmsOf(reader: Reader, wanted: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  await ignoreUnserved(async () => {
    for await (const { items } of readAhead(reader.pages(VirtualMachines)))
      for (const key of items.map(vmName)) if (wanted.has(key)) found.add(key)
  })
  return found
}

async function ignoreUnserved(read: () => Promise<void>): Promise<void> {
  try {
    await read()
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
