import type { Reader } from '../../cluster/cluster.ts'
import { type VirtualMachine, VirtualMachines } from '../../cluster/kinds/virtual-machines.ts'
import { isNotFound } from '../../system/errors.ts'
import { pagesAllowed } from '../outdated/pages-allowed.ts'
import { type LastStart, readLastStart } from './last-start.ts'
import {
  restartRequiredItem,
  type RestartRequiredItem,
  type RestartRules,
  waitsForRestart,
} from './restart-required-item.ts'

/** What may not be read, and why. */
export interface Unread {
  namespace: string
  what: string
  why: string
}

/** What a page of VMs became. */
export interface RestartRequiredPage {
  items: readonly RestartRequiredItem[]
  unread: readonly Unread[]
}

const atATime = 10

/**
 * The VMs that wait for a restart, page by page as the server sends them: it cannot select them. Only for those is the last start read. A
 * namespace that may not be read is told and not left out. Throws ApiError.
 */
export async function* listRestartRequired(
  reader: Reader,
  where: { namespace?: string | undefined; labels?: string | undefined },
  rules: RestartRules,
): AsyncGenerator<RestartRequiredPage> {
  const told = new Set<string>()
  try {
    for await (const page of pagesAllowed(reader, VirtualMachines, where)) {
      if ('unread' in page) {
        const { unread: namespace, why } = page
        yield { items: [], unread: [{ namespace, what: 'virtualmachines', why: why.message }] }
        continue
      }
      const vms = page.items.filter(waitsForRestart)
      for (let from = 0; from < vms.length; from += atATime)
        yield pageOf(await starts(reader, vms.slice(from, from + atATime)), rules, told)
    }
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

type Started = readonly (readonly [VirtualMachine, LastStart])[]

function starts(reader: Reader, vms: readonly VirtualMachine[]): Promise<Started> {
  return Promise.all(
    vms.map(async (vm) => {
      const { name, namespace = '' } = vm.metadata
      return [vm, await readLastStart(reader, { name, namespace })] as const
    }),
  )
}

/** What may not be read is told once for each namespace. */
function pageOf(started: Started, rules: RestartRules, told: Set<string>): RestartRequiredPage {
  const unread = started.flatMap(([{ metadata }, start]) => {
    const { namespace = '' } = metadata
    if (start.is !== 'unread' || told.has(`${namespace}/${start.what}`)) return []
    told.add(`${namespace}/${start.what}`)
    return [{ namespace, what: start.what, why: start.why }]
  })
  return { items: started.map(([vm, start]) => restartRequiredItem(vm, start, rules)), unread }
}
