import type { Reader } from '../../cluster/cluster.ts'
import { type VirtualMachineInstance, VirtualMachineInstances } from '../../cluster/kinds/virtual-machines.ts'
import { isNotFound } from '../../system/errors.ts'
import type { Machine } from './behind.ts'
import { isOfVm, placeBehind } from './behind.ts'
import { decisionOf, moves } from './decision.ts'
import { Machines } from './machines.ts'
import { outdatedItem, type OutdatedItem } from './outdated-item.ts'
import { pagesAllowed } from './pages-allowed.ts'
import type { RemediesAsked } from './remedies-asked.ts'
import { isAlone, type OutlookRules } from './rules.ts'
import { outdatedIn, type Selection } from './selection.ts'

export interface HowListed {
  /** Undefined: what decides may not be read. */
  rules: Promise<OutlookRules | undefined>
  remedies: Promise<RemediesAsked>
}

/** What a page of VMIs became, or a namespace that may not be read. */
export interface OutdatedPage {
  items: readonly OutdatedItem[]
  /** Of them: labelled, but not running. */
  notRunning: number
  unread: readonly { namespace: string; what: string; why: string }[]
}

/**
 * The VMIs labelled outdated, page by page as the server sends them, narrowed by the server. A namespace that may not be read is told
 * and not left out. Throws ApiError.
 */
export async function* listOutdated(
  reader: Reader,
  selection: Selection,
  { rules, remedies }: HowListed,
): AsyncGenerator<OutdatedPage> {
  const machines = new Machines(reader)
  try {
    for await (const page of pagesAllowed(reader, VirtualMachineInstances, outdatedIn(selection)))
      yield 'unread' in page
        ? nothingOf(page.unread, page.why.message)
        : await told(page.items, await rules, { machines, remedies: await remedies })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

const nothingOf = (namespace: string, why: string): OutdatedPage => ({
  items: [],
  notRunning: 0,
  unread: [{ namespace, what: 'virtualmachineinstances', why }],
})

async function told(
  vmis: readonly VirtualMachineInstance[],
  rules: OutlookRules | undefined,
  { machines, remedies }: { machines: Machines; remedies: RemediesAsked },
): Promise<OutdatedPage> {
  const before = new Set(machines.unread.keys())
  const asked = rules ? vmis.filter((vmi) => dependsOnVm(vmi, rules, remedies)) : []
  const vms = await machines.behind(asked.map(placeBehind))
  const items = vmis.map((vmi) => itemOf(vmi, vms, { rules, unread: machines.unread }))
  return {
    items,
    notRunning: vmis.filter((vmi) => !runs(vmi)).length,
    unread: [...machines.unread]
      .filter(([namespace]) => !before.has(namespace))
      .map(([namespace, why]) => ({ namespace, what: 'virtualmachines', why })),
  }
}

interface Known {
  rules: OutlookRules | undefined
  unread: ReadonlyMap<string, string>
}

function itemOf(
  vmi: VirtualMachineInstance,
  vms: ReadonlyMap<string, Machine>,
  { rules, unread }: Known,
): OutdatedItem {
  const { namespace, name } = placeBehind(vmi)
  const machinesUnread = unread.has(namespace)
  return outdatedItem(vmi, vms.get(`${namespace}/${name}`), rules && { ...rules, machinesUnread })
}

/** What its VM says changes nothing for those that migrate: most, mostly. */
function dependsOnVm(vmi: VirtualMachineInstance, rules: OutlookRules, remedies: RemediesAsked): boolean {
  if (!isOfVm(vmi)) return false
  const decision = decisionOf(vmi, rules)
  if (moves.has(decision)) return isAlone(rules) && remedies.ask(decision)
  return decision === 'shut-down' || remedies.ask(decision)
}

const runs = ({ metadata, status }: VirtualMachineInstance) =>
  status?.phase === 'Running' && metadata.deletionTimestamp === undefined
