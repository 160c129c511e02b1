import type { ReadContext } from '../../../procedure/step.ts'
import type { Unread } from '../../migrations/ledger.ts'
import type { RestartLook, RestartRun } from './restart-run.ts'
import { placeOfVm } from '../../vm-name.ts'

/** What became of one VM in this run. */
export interface RestartedVm {
  namespace: string
  name: string
  /** `waiting`: its turn did not come. `left`: it is not restarted by this. */
  outcome: 'failed' | 'restarting' | 'waiting' | 'left' | 'restarted'
  wave?: string
  why?: string
}

export type RestartTotals = Record<RestartedVm['outcome'], number> & { total: number }

const order: readonly RestartedVm['outcome'][] = ['failed', 'restarting', 'waiting', 'left', 'restarted']

interface RestartOutcome {
  totals: RestartTotals
  items: readonly RestartedVm[]
  /** What may not be read: VMs there are in none of these. */
  unread?: readonly Unread[]
}

/** From a fresh look at the cluster. Throws ApiError. */
export async function restartOutcome(cx: ReadContext, run: RestartRun): Promise<RestartOutcome> {
  const look = await run.look(cx)
  const refused = new Map(run.failed.map(({ vm, reason }) => [vm, reason]))
  const concerning = look.restarts.filter((one) => run.known.has(one.vm) || isOfRun(one, run))
  const states = new Map(concerning.map(({ vm, state }) => [vm, state.is]))
  const endOf = (vm: string): Pick<RestartedVm, 'outcome' | 'why'> => {
    const why = refused.get(vm)
    if (why !== undefined) return { outcome: 'failed', why }
    const state = states.get(vm)
    if (state === 'missing') return { outcome: 'failed', why: 'it did not come back after the restart' }
    if (state === 'back') return { outcome: 'restarted' }
    if (state === 'under-way') return { outcome: 'restarting' }
    return look.candidates.has(vm)
      ? { outcome: 'waiting' }
      : { outcome: 'left', why: look.left.get(vm) ?? 'it does not wait for a restart any more' }
  }
  const vms = [...new Set([...run.known.keys(), ...look.left.keys(), ...states.keys()])]
  const items: RestartedVm[] = []
  for (const vm of vms) {
    const wave = run.known.get(vm)?.wave
    items.push({ ...placeOfVm(vm), ...endOf(vm), ...(wave && { wave }) })
  }
  items.sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome) || byName(a, b))
  const { unread } = look
  return { totals: totalsOf(items), items, ...(unread.length > 0 && { unread }) }
}

/** Asked for by it, or by an earlier one that was cut off and whose VMs it has waited for: not what was through when it began. */
function isOfRun(
  { vm, at, state }: RestartLook['restarts'][number],
  { began, wanted: { selection } }: RestartRun,
): boolean {
  const { namespace } = selection
  if (namespace !== undefined && !vm.startsWith(`${namespace}/`)) return false
  return at >= began || state.is !== 'back' || state.wellAt >= began
}

const byName = (a: RestartedVm, b: RestartedVm) =>
  `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1

function totalsOf(items: readonly RestartedVm[]): RestartTotals {
  const count = (outcome: RestartedVm['outcome']) => items.filter((item) => item.outcome === outcome).length
  return {
    total: items.length,
    failed: count('failed'),
    restarting: count('restarting'),
    waiting: count('waiting'),
    left: count('left'),
    restarted: count('restarted'),
  }
}
