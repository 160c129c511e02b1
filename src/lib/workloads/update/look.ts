import type { Fleet } from './fleet.ts'
import type { MigrationLedger } from '../migrations/ledger.ts'
import type { Candidate } from '../waves/candidate.ts'
import type { Traffic } from '../waves/pacing.ts'
import type { FailedVm } from '../waves/stop-rules.ts'
import { vmOf } from '../migrations/migration.ts'
import { type ObservedMoves, triedAgainAt } from './observed-moves.ts'
import type { Restart, RestartState } from '../restarts/asked-restarts.ts'

/** Everything that is decided by, read from the cluster at one time. Times in ms since the epoch. */
export interface UpdateLook {
  now: number
  /** Outdated still. */
  fleet: Fleet
  ledger: MigrationLedger
  moves: ObservedMoves
  restarts: readonly (Restart & { state: RestartState })[]
  /** Of VMs that are kept apart from others: since when they are well after their migration. */
  wellAt: ReadonlyMap<string, number>
}

/** What is under way, and when who may be next. `known`: every VM that was seen since the update began. Pure. */
export function trafficOf(
  { ledger, moves, restarts, fleet, wellAt }: UpdateLook,
  known: ReadonlyMap<string, Candidate>,
  earlier: number,
): Traffic {
  const open = ledger.open.map(vmOf)
  const restarting = restarts.filter(({ state }) => state.is === 'under-way').map(({ vm }) => vm)
  const moving = new Set([...open, ...restarting])
  const fromNode = new Map<string, number>()
  for (const migration of ledger.open) {
    const node = known.get(vmOf(migration))?.node ?? migration.from
    if (node !== undefined) fromNode.set(node, (fromNode.get(node) ?? 0) + 1)
  }
  const notBefore = new Map<string, number>()
  for (const vm of fleet.candidates.keys()) {
    const at = triedAgainAt(ledger.pastOf(vm).failures)
    if (at > 0) notBefore.set(vm, at)
  }
  return {
    moving,
    fromNode,
    notBefore,
    apart: apartOf({ moves, restarts, wellAt }, { known, moving, earlier }),
  }
}

/** What a run before this one moved is not known by its value: until the soak is over it may be any (night W4). */
function apartOf(
  { moves, restarts, wellAt }: Pick<UpdateLook, 'moves' | 'restarts' | 'wellAt'>,
  {
    known,
    moving,
    earlier,
  }: { known: ReadonlyMap<string, Candidate>; moving: ReadonlySet<string>; earlier: number },
): ReadonlyMap<string, number> {
  const back = new Map(
    restarts.flatMap(({ vm, state }) => (state.is === 'back' ? [[vm, state.wellAt] as const] : [])),
  )
  const apart = new Map<string, number>()
  for (const { vm, apart: value } of known.values()) {
    if (value === undefined) continue
    const since = moving.has(vm)
      ? Infinity
      : Math.max(wellAt.get(vm) ?? moves.succeeded.get(vm) ?? 0, back.get(vm) ?? 0, earlier)
    apart.set(value, Math.max(apart.get(value) ?? 0, since))
  }
  return apart
}

/** VMs whose tries are over. Pure. */
export function failedIn({ fleet, ledger, moves }: UpdateLook, retries: number): FailedVm[] {
  return [...fleet.candidates.keys()].flatMap((vm) => {
    const failures = moves.failures(ledger, vm)
    if (failures.length <= retries) return []
    return [{ vm, reason: failures[0]?.failureReason ?? 'KubeVirt does not say why' }]
  })
}

/** For how long nothing of ours that is under way has got any further, in ms; undefined: nothing is. Pure. */
export function stillFor(
  { ledger, restarts, now }: UpdateLook,
  known: ReadonlyMap<string, Candidate>,
): number | undefined {
  const migrating = ledger.open
    .filter((migration) => known.has(vmOf(migration)))
    .map(({ since = '', createdAt = '' }) => Date.parse(since) || Date.parse(createdAt) || now)
  const times = [
    ...migrating,
    ...restarts.filter(({ state }) => state.is === 'under-way').map(({ at }) => at),
  ]
  return times.length === 0 ? undefined : now - Math.max(...times)
}
