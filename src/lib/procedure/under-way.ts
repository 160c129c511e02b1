import type { Entry } from './journal.ts'

type What = Entry['what']

/** What a run that ends early writes down; one that is killed does not. */
export const cutShort: ReadonlySet<What> = new Set<What>(['interrupted', 'failed'])
/** What a run writes down that came to its end. */
export const finished: ReadonlySet<What> = new Set<What>(['finished'])
/** Every end that a run can write down. */
export const ends: ReadonlySet<What> = new Set<What>([...finished, ...cutShort])

/** The journal shows a change of a run of this procedure, and behind it none of these ends: with `ends` a run that is at work or was killed. */
export function isUnderWay(entries: readonly Entry[], procedure: string, ended: ReadonlySet<What>): boolean {
  return hasChanged(
    entries.filter((entry) => entry.procedure === procedure),
    ({ what }) => ended.has(what),
  )
}

/** They show a change, and none of these ends behind it. */
export function hasChanged(own: readonly Entry[], isEnd: (entry: Entry) => boolean): boolean {
  return own.slice(own.findLastIndex(isEnd) + 1).some(({ what }) => what === 'intends' || what === 'applied')
}
