import type { Reader } from '../../cluster/cluster.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../cluster/kinds/virtual-machines.ts'
import { isNotFound } from '../../system/errors.ts'
import { runStrategyOf } from '../outdated/behind.ts'
import { Machines } from '../outdated/machines.ts'
import { pagesAllowed } from '../outdated/pages-allowed.ts'
import { reason } from '../outdated/reasons.ts'
import { type ForecastItem, plainItem } from './forecast-item.ts'
import type { Judging } from './judge.ts'
import { judgePage } from './judge-page.ts'

/** Which VMs, and which of them have the launcher already that they are to get. */
export interface Wanted {
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
  unread: readonly { namespace: string; what: string; why: string }[]
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
  yield* orUnserved(instances(reader, wanted, judging))
  yield* orUnserved(down(reader, wanted))
}

async function* orUnserved(pages: AsyncIterable<ForecastPage>): AsyncGenerator<ForecastPage> {
  try {
    yield* pages
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

async function* instances(
  reader: Reader,
  wanted: Wanted,
  judging: Promise<Judging | undefined>,
): AsyncGenerator<ForecastPage> {
  const machines = new Machines(reader)
  const before = new Set<string>()
  for await (const page of pagesAllowed(reader, VirtualMachineInstances, placeOf(wanted)))
    if ('unread' in page) yield refused(page.unread, 'virtualmachineinstances', page.why.message)
    else {
      const isCurrent = await wanted.isCurrent
      const due = page.items.filter((vmi) => !isOver(vmi) && !isCurrent(vmi))
      const current = page.items.filter((vmi) => !isOver(vmi)).length - due.length
      const rules = await judging
      const items = rules ? await judgePage(due, { reader, machines }, rules) : due.map(plainItem)
      yield { items, vmis: due, current, unread: newlyUnread(machines, before) }
    }
}

const placeOf = ({ namespace, labels }: Wanted) => ({ namespace, labels })

const refused = (namespace: string, what: string, why: string): ForecastPage => ({
  ...empty,
  unread: [{ namespace, what, why }],
})

/** Its VM, if it has one, is told as down. */
const isOver = ({ status }: VirtualMachineInstance) =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed'

function newlyUnread({ unread }: Machines, before: Set<string>): ForecastPage['unread'] {
  const fresh = [...unread].filter(([namespace]) => !before.has(namespace))
  for (const [namespace] of fresh) before.add(namespace)
  return fresh.map(([namespace, why]) => ({ namespace, what: 'virtualmachines', why }))
}

async function* down(reader: Reader, wanted: Wanted): AsyncGenerator<ForecastPage> {
  for await (const page of pagesAllowed(reader, VirtualMachines, placeOf(wanted)))
    yield 'unread' in page
      ? refused(page.unread, 'virtualmachines', page.why.message)
      : { ...empty, items: page.items.filter(isDown).map(downItem) }
}

/** Nothing of it runs; `created` is what KubeVirt says of its VMI. */
const isDown = ({ status }: VirtualMachine): boolean => status?.created !== true

function downItem(vm: VirtualMachine): ForecastItem {
  const strategy = runStrategyOf(vm)
  return {
    namespace: vm.metadata.namespace ?? '',
    name: vm.metadata.name,
    will: 'is down',
    why: [reason('down', `does not run (runStrategy ${strategy}); it starts with the new virt-launcher`)],
    loses: [],
    remedy: [],
  }
}
