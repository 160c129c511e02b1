import { usageError } from '../kube/errors.ts'
import type { Entry } from '../engine/journal.ts'

/** Clusters that are upgraded together: nothing of the next is touched before all of them are done and have soaked. */
export interface FleetWave {
  /** 0 is the canary. */
  wave: number
  clusters: readonly string[]
}

/** Canary clusters first, then those that say their wave, then the rest, so many at a time. Pure. */
export function wavesOf(
  members: readonly { name: string; wave?: number }[],
  size: number,
): readonly FleetWave[] {
  const said = [...new Set(members.flatMap(({ wave }) => wave ?? []))].toSorted((one, other) => one - other)
  const groups = said.map((number) => members.filter(({ wave }) => wave === number))
  const rest = members.filter(({ wave }) => wave === undefined)
  for (let at = 0; at < rest.length; at += size) groups.push(rest.slice(at, at + size))
  const hasCanary = said[0] === 0
  return groups.map((group, index) => ({
    wave: hasCanary ? index : index + 1,
    clusters: group.map(({ name }) => name),
  }))
}

/** So many failures end a run: a number of clusters, or a share of the fleet. Throws `usage`. Pure. */
export function stopLimit(text: string, clusters: number): number {
  const { number = '', sign } = /^(?<number>\d+)(?<sign>%?)$/u.exec(text)?.groups ?? {}
  const value = Number(number)
  if (number === '' || value < 1 || (sign === '%' && value > 100))
    throw usageError(
      'stop-after',
      `--stop-after takes a number from 1, or 1% to 100%, not ${JSON.stringify(text)}`,
    )
  return sign === '%' ? Math.max(1, Math.ceil((clusters * value) / 100)) : value
}

/** What the journal of one cluster says of fleet runs: evidence, for others can write it. */
export interface FleetTrace {
  /** The last fleet run here; absent where none was. */
  last?: { uid: string; wave: number; by: string; at: string; isOver: boolean }
  /** When the run of `uid` began here, RFC 3339. */
  beganAt?: string
  /** When it ended here for the last time, well or not, RFC 3339. */
  endedAt?: string
  /** When the run of `uid` ended well here, ms since the epoch. */
  doneAt?: number
  /** It began here and has not ended well. */
  hasBegun: boolean
}

/** What of the fleet run `uid`, and of the last one, stands in a journal. Pure. */
export function traceOf(entries: readonly Entry[], uid: string): FleetTrace {
  const parts = entries.filter(({ fleet }) => fleet !== undefined)
  const last = parts.at(-1)
  const own = parts.filter(({ fleet }) => fleet?.uid === uid)
  const [first] = own
  const ended = own.findLast(({ what }) => what === 'finished' || what === 'failed')
  const done = own.findLast(({ what, text }) => what === 'finished' && !text.startsWith('incomplete'))
  return {
    ...(last?.fleet && {
      last: { ...last.fleet, by: last.by, at: last.at, isOver: last.fleet.over === true },
    }),
    ...(first && { beganAt: first.at }),
    ...(ended && { endedAt: ended.at }),
    ...(done && { doneAt: Date.parse(done.at) }),
    hasBegun: own.length > 0,
  }
}
