import type { Candidate } from '../waves/candidate.ts'
import type { UpdateLook } from './look.ts'
import type { ObservedMoves } from './observed-moves.ts'

interface Moved extends Pick<UpdateLook, 'ledger'> {
  moves: Pick<ObservedMoves, 'succeeded'>
  restarts: readonly { vm: string }[]
}

/** uids of the VMIs that migrated since the update began and move no more, by VM: their launchers are looked at. Pure. */
export function movedIn(
  { moves, ledger, restarts }: Moved,
  known: ReadonlyMap<string, Pick<Candidate, 'uid'>>,
): ReadonlyMap<string, string> {
  const moving = ledger.openByVm
  const restarted = new Set(restarts.map(({ vm }) => vm))
  return new Map(
    [...moves.succeeded.keys()].flatMap((vm) => {
      const uid = known.get(vm)?.uid
      return uid === undefined || moving.has(vm) || restarted.has(vm) ? [] : [[vm, uid] as const]
    }),
  )
}
