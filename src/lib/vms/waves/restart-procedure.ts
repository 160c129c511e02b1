import type { Procedure, ReadContext } from '../../engine/step.ts'
import { type Wave } from './waves.ts'
import { type RestartRun, type RestartSnapshot } from './restart-run.ts'
import type { Unread } from '../../kube/readable-pages.ts'
import { placeOfVm } from '../vm.ts'
import { counted } from '../../kube/text.ts'
import { waveStep, wavesLeft } from './wave-step.ts'

/** Also the name in the journal. */
const name = 'restart VMs'

/** Canary → wave after wave, made anew from the cluster after each. Borrows nothing. */
export function restartProcedure(run: RestartRun, timeoutMs: number): Procedure {
  return {
    name,
    overrides: [],
    async reached(cx) {
      const { candidates, restarts } = await run.read(cx)
      const open = restarts.some(({ state }) => state.is === 'under-way' || state.is === 'missing')
      return candidates.size === 0 && !open
    },
    async steps(cx) {
      const waves = restartWaves(run, await run.read(cx))
      return waves.map((wave) => waveStep(run, wave, timeoutMs))
    },
    shortfall: async (cx) => restartShortfall((await restartOutcome(cx, run)).totals),
  }
}

/** Those that are not through. Pure. */
export function restartWaves(run: RestartRun, { candidates, restarts }: RestartSnapshot): readonly Wave[] {
  const { wanted, through } = run
  const passed = through.has('canary') ? wanted.waves.canaries : 0
  return wavesLeft(run, { candidates: candidates.values(), restarts }, { passed })
}

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

/** `2 of 5 VMs were not restarted`; undefined where all were. Pure. */
export const restartShortfall = ({ failed, total }: RestartTotals): string | undefined =>
  failed === 0 ? undefined : `${failed} of ${counted(total, 'VM')} were not restarted`

/** From a fresh look at the cluster. Throws ApiError. */
export async function restartOutcome(cx: ReadContext, run: RestartRun): Promise<RestartOutcome> {
  const snapshot = await run.read(cx)
  const refused = new Map(run.failed.map(({ vm, reason }) => [vm, reason]))
  const concerning = snapshot.restarts.filter((one) => run.known.has(one.vm) || isOfRun(one, run))
  const states = new Map(concerning.map(({ vm, state }) => [vm, state.is]))
  const endOf = (vm: string): Pick<RestartedVm, 'outcome' | 'why'> => {
    const why = refused.get(vm)
    if (why !== undefined) return { outcome: 'failed', why }
    const state = states.get(vm)
    if (state === 'missing') return { outcome: 'failed', why: 'it did not start again after the restart' }
    if (state === 'back') return { outcome: 'restarted' }
    if (state === 'under-way') return { outcome: 'restarting' }
    return snapshot.candidates.has(vm)
      ? { outcome: 'waiting' }
      : { outcome: 'left', why: snapshot.left.get(vm) ?? 'it no longer needs a restart' }
  }
  const vms = [...new Set([...run.known.keys(), ...snapshot.left.keys(), ...states.keys()])]
  const items: RestartedVm[] = []
  for (const vm of vms) {
    const wave = run.known.get(vm)?.wave
    items.push({ ...placeOfVm(vm), ...endOf(vm), ...(wave && { wave }) })
  }
  items.sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome) || byName(a, b))
  const { unread } = snapshot
  return { totals: totalsOf(items), items, ...(unread.length > 0 && { unread }) }
}

/** Asked for by it, or by an earlier one that was cut off and whose VMs it has waited for: not what was through when it began. */
function isOfRun(
  { vm, at, state }: RestartSnapshot['restarts'][number],
  { began, wanted: { selection } }: RestartRun,
): boolean {
  const { namespace } = selection
  if (namespace !== undefined && !vm.startsWith(`${namespace}/`)) return false
  return at >= began || state.is !== 'back' || state.wellAt >= began
}

const byName = (a: RestartedVm, b: RestartedVm) =>
  `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1

function totalsOf(items: readonly RestartedVm[]): RestartTotals {
  const of = (outcome: RestartedVm['outcome']) => items.filter((item) => item.outcome === outcome).length
  return {
    total: items.length,
    failed: of('failed'),
    restarting: of('restarting'),
    waiting: of('waiting'),
    left: of('left'),
    restarted: of('restarted'),
  }
}
