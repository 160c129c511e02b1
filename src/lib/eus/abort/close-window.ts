import type { JournalReader, Step, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import { targetOfName } from '../../system/window-name.ts'
import { keptBaseline } from '../steps/kept.ts'

export interface Closing {
  /** Of the window's procedure. */
  name: string
  /** What the journal says of how it ended. */
  text: string
}

/**
 * What was kept to compare with is of no use any more once nothing is borrowed, and must not pass for that of the next window. As long as
 * something is, the window stays open.
 */
export function closeWindow({ name, text }: Closing): Step {
  return {
    id: 'close-window',
    title: 'forget what was kept',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: seconds,
    follows: [],
    // Their loan is closed only once KubeVirt has them: a dry run cannot tell.
    dependsOn: ['give-back-workload-updates'],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ journal }): Promise<StepState> {
      const left = await borrowedFor(journal, name)
      if (left.length > 0)
        return { is: 'done', note: `the window stays open: borrowed is ${left.join(', ')}` }
      return (await keptBaseline(journal, name)) === undefined
        ? { is: 'done' }
        : { is: 'todo', change: 'forget what was kept for the window' }
    },
    async apply({ journal, clock }) {
      const at = clock.now().toISOString()
      await journal.record({ at, by: '', procedure: name, step: '', what: 'finished', text })
    },
  }
}

/** Ids of the open loans of this window. */
async function borrowedFor(journal: Pick<JournalReader, 'loans'>, name: string): Promise<readonly string[]> {
  const to = targetOfName(name)
  return (await journal.loans()).filter(({ procedure }) => targetOfName(procedure) === to).map(({ id }) => id)
}

const ofLoans: ReadonlySet<string> = new Set(['borrowed', 'gave-back', 'closed'])

/** Of the procedure that gives the settings of the window of this name back. */
export const restoreOf = (name: string): string => `restore ${name}`

/** Its last loan was given back by a restore that ended before it could forget what was kept: nothing is borrowed, and it was the last at work. */
export async function isLeftUnclosed(journal: JournalReader, name: string): Promise<boolean> {
  const by = restoreOf(name)
  if ((await keptBaseline(journal, name)) === undefined) return false
  if ((await borrowedFor(journal, name)).length > 0) return false
  const last = (await journal.entries()).findLast(
    ({ procedure, what }) => !ofLoans.has(what) && [name, by].includes(procedure),
  )
  return last?.procedure === by
}
