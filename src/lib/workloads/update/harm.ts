import type { Reader } from '../../cluster/cluster.ts'
import type { MigrationLedger } from '../migrations/ledger.ts'
import type { Candidate } from '../waves/candidate.ts'
import type { LauncherWatch } from './launcher-watch.ts'
import { whatTheyShare } from './likeness.ts'
import { movedIn } from './moved.ts'
import type { ObservedMoves } from './observed-moves.ts'

/** What moving VMs did to them (night W5). */
export interface Harm {
  reason: 'two-launchers' | 'too-many-failures'
  text: string
}

/** How VMs have moved since somebody began to look. */
export interface MovesSeen {
  /** ms since the epoch. */
  now: number
  ledger: MigrationLedger
  moves: Pick<ObservedMoves, 'succeeded' | 'failures'>
  /** VMs that were restarted instead. */
  restarts: readonly { vm: string }[]
  /** `namespace/name` of those that are outdated still. */
  outdated: Iterable<string>
  /** Every VM that was seen to be outdated. */
  known: ReadonlyMap<string, Pick<Candidate, 'uid'>>
}

interface HarmSeen {
  harm?: Harm
  /** VMs of which a second launcher has not ended: it is about to, or it is harm. */
  doubtful: number
}

/** VMs that run twice, for a minute at least, and as many VMs as `maxFailures` that failed for one reason. Throws ApiError. */
export async function lookForHarm(
  reader: Reader,
  seen: MovesSeen,
  { launchers, maxFailures }: { launchers: Pick<LauncherWatch, 'look'>; maxFailures: number },
): Promise<HarmSeen> {
  const { split, doubtful } = await launchers.look(reader, movedIn(seen, seen.known), seen.now)
  const harm = split.length > 0 ? await twice(reader, split) : await failures(reader, seen, maxFailures)
  return { doubtful: doubtful.size, ...(harm && { harm }) }
}

async function twice(reader: Reader, split: readonly string[]): Promise<Harm> {
  const alike = await whatTheyShare(reader, split)
  return {
    reason: 'two-launchers',
    text: `two launchers run for ${split.join(', ')}, which can destroy its data (${alike.join('; ')}; kubevirt issue 18670)`,
  }
}

async function failures(
  reader: Reader,
  { outdated, moves, ledger }: MovesSeen,
  maxFailures: number,
): Promise<Harm | undefined> {
  const failing = [...outdated].flatMap((vm) => {
    const [last] = moves.failures(ledger, vm)
    return last === undefined ? [] : [{ vm, reason: last.failureReason ?? 'no reason is told' }]
  })
  const [worst] = [...Map.groupBy(failing, ({ reason }) => reason)].sort(
    ([, a], [, b]) => b.length - a.length,
  )
  if (worst === undefined || worst[1].length < maxFailures) return undefined
  const [reason, vms] = worst
  const alike = await whatTheyShare(
    reader,
    vms.map(({ vm }) => vm),
  )
  return {
    reason: 'too-many-failures',
    text: `${vms.length} VMs failed for one reason: ${reason} (${alike.join('; ')}${upstream(reason)})`,
  }
}

const upstream = (reason: string): string =>
  /guest CPU|extra features/u.test(reason) ? '; kubevirt issue 16386' : ''
