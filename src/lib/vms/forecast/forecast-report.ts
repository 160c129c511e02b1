import { type Reader, orUnserved } from '../../kube/cluster.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { runStrategyOf, Vms } from '../vm.ts'
import { pagesAllowed, type Unread } from '../../kube/readable-pages.ts'
import { reason } from '../vm-outlook.ts'
import { type ForecastItem, judgePage, type Judging, outcomes, plainItem } from './vm-forecast.ts'
import type { OutcomeCounts } from '../workload-updater.ts'

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
