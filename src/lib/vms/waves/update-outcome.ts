import { VirtualMachineInstances } from '../../kube/kinds/kubevirt-kinds.ts'
import type { ReadContext } from '../../engine/step.ts'
import { blocked, type KvupError } from '../../kube/errors.ts'
import type { Candidate } from './waves.ts'
import type { Unread } from '../migrations/migration-ledger.ts'
import type { UpdateLook } from './update-fleet.ts'
import type { UpdateRun } from './update-run.ts'
import type { RestartState } from './vm-restart.ts'
import { narrowedLine } from '../../kube/shell-line.ts'
import { placeOfVm, type Selection } from '../vm.ts'

/** What became of one VM in this run. */
export interface UpdatedVm {
  namespace: string
  name: string
  /** `replaced`: it runs anew, and not by this run. `waiting`: its turn did not come. */
  outcome: 'migrated' | 'restarted' | 'moving' | 'failed' | 'left' | 'waiting' | 'replaced' | 'gone'
  by?: Candidate['by']
  wave?: string
  /** Migrations of it that failed in this run. */
  failures?: number
  why?: string
  remedy?: readonly string[]
}

export type UpdateTotals = Record<UpdatedVm['outcome'], number> & { total: number }

interface UpdateOutcome {
  totals: UpdateTotals
  /** What may not be read: VMs there are in none of these. */
  unread?: readonly Unread[]
  items: readonly UpdatedVm[]
}

/** From a fresh look at the cluster: what this run has moved, and what is outdated still. Throws ApiError. */
export async function outcomeOf(
  cx: ReadContext,
  run: Pick<UpdateRun, 'look' | 'known' | 'failed'>,
): Promise<UpdateOutcome> {
  const look = await run.look(cx)
  const ended = endedBy(look, run)
  const items = await Promise.all([...run.known.values()].map((one) => become(cx, one, ended)))
  for (const { vm, why, remedy } of look.fleet.left.values())
    if (!run.known.has(vm)) items.push({ ...placeOfVm(vm), outcome: 'left', why, remedy })
  items.sort(
    (a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome) || (nameOf(a) < nameOf(b) ? -1 : 1),
  )
  const { unread } = look.fleet
  return { totals: totalsOf(items), items, ...(unread.length > 0 && { unread }) }
}

const order: readonly UpdatedVm['outcome'][] = [
  'failed',
  'gone',
  'moving',
  'waiting',
  'left',
  'replaced',
  'restarted',
  'migrated',
]
const nameOf = ({ namespace, name }: UpdatedVm) => `${namespace}/${name}`

/** By VM, for there may be many. */
interface Ended {
  look: UpdateLook
  moving: ReadonlyMap<string, unknown>
  failed: ReadonlyMap<string, string>
  restarts: ReadonlyMap<string, RestartState['is']>
}

/** Of several reasons the first counts. */
function endedBy(look: UpdateLook, run: Pick<UpdateRun, 'failed'>): Ended {
  const failed = run.failed(look).toReversed()
  return {
    look,
    moving: look.ledger.openByVm,
    failed: new Map(failed.map(({ vm, reason }) => [vm, reason])),
    restarts: new Map(look.restarts.map(({ vm, state }) => [vm, state.is])),
  }
}

async function become(cx: ReadContext, one: Candidate, ended: Ended): Promise<UpdatedVm> {
  const { vm, by, wave } = one
  const { look } = ended
  const failures = look.moves.failures(look.ledger, vm).length
  const end = await endOfVm(cx, one, ended)
  return {
    ...placeOfVm(vm),
    by,
    ...(wave !== '' && { wave }),
    ...(failures > 0 && { failures }),
    ...end,
  }
}

type End = Pick<UpdatedVm, 'outcome' | 'why' | 'remedy'>

async function endOfVm(cx: ReadContext, one: Candidate, ended: Ended): Promise<End> {
  const { vm, uid } = one
  const seen = endOfRestart(vm, ended) ?? outdatedStill(vm, ended)
  if (seen !== undefined) return seen
  if (ended.look.moves.succeeded.has(vm)) return { outcome: 'migrated' }
  const found = await cx.reader.find(VirtualMachineInstances, placeOfVm(vm))
  if (found.is !== 'object') return { outcome: 'gone', why: 'it does not run any more' }
  return found.object.metadata.uid === uid
    ? { outcome: 'left', why: 'it is not outdated any more' }
    : { outcome: 'replaced', why: 'it was restarted, and not by this run' }
}

function endOfRestart(vm: string, { restarts }: Ended): End | undefined {
  const is = restarts.get(vm)
  if (is === 'missing') return { outcome: 'failed', why: 'it did not come back after the restart' }
  if (is === 'back') return { outcome: 'restarted' }
  return is === 'under-way' ? { outcome: 'moving' } : undefined
}

function outdatedStill(vm: string, { look, moving, failed }: Ended): End | undefined {
  if (moving.has(vm)) return { outcome: 'moving' }
  const why = failed.get(vm)
  if (why !== undefined) return { outcome: 'failed', why }
  if (look.fleet.candidates.has(vm)) return { outcome: 'waiting', why: waitingFor(vm, look) }
  const left = look.fleet.left.get(vm)
  return left && { outcome: 'left', why: left.why, remedy: left.remedy }
}

function waitingFor(vm: string, { ledger, moves }: UpdateLook): string {
  const [last, ...more] = moves.failures(ledger, vm)
  if (last === undefined) return 'its turn has not come'
  const times = more.length === 0 ? 'once' : `${more.length + 1} times`
  return `failed ${times}, to be tried again: ${last.failureReason ?? 'KubeVirt does not say why'}`
}

/** The end of a run in which VMs failed although it went on; undefined where none did. */
export function failureOf({ failed, total }: UpdateTotals, selection: Selection): KvupError | undefined {
  if (failed === 0) return undefined
  return blocked('vms-failed', `${failed} of ${total} VMs failed`, {
    remedy: `${narrowedLine('kvup workloads update', selection)}     tries those that are outdated still again`,
  })
}

function totalsOf(items: readonly UpdatedVm[]): UpdateTotals {
  const totals = { total: items.length } as UpdateTotals
  for (const outcome of order) totals[outcome] = items.filter((item) => item.outcome === outcome).length
  return totals
}
