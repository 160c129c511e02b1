import type { Doubt } from '../facts/doubts.ts'
import { itemsOf } from '../facts/known.ts'
import { minutes } from '../system/units.ts'
import type { Look } from './look.ts'

/** For how long behind KubeVirt's own done a doubt is waited for, ms. */
const doubtsAtMost = 2 * minutes

/**
 * What the steps of one run share behind KubeVirt's own done: for how long a doubt is waited for still, and since when every DaemonSet
 * is rolled. Kept in memory: a run that is resumed begins anew, as `--settle` does. All times are ticks of one clock, ms.
 */
export class Patience {
  #doneSince: number | undefined
  #rolledSince: number | undefined
  #rolledTemplates: string | undefined
  readonly #givenUp = new Set<string>()

  /** Takes a look into account; what is asked later is about it. */
  saw({ standing, snapshot }: Look, now: number): void {
    if (standing.verdict === 'Settled') this.#doneSince ??= now
    else this.#doneSince = undefined
    this.#templates = itemsOf(snapshot.daemonsets)
      .map(({ metadata, spec }) => `${metadata.name} ${JSON.stringify(spec?.template)}`)
      .toSorted()
      .join('\n')
    const rolling = standing.components.some(({ kind, state }) => kind === 'DaemonSet' && !isRest.has(state))
    if (rolling) this.#rolledSince = undefined
    else {
      this.#rolledSince ??= now
      this.#rolledTemplates = this.#templates
    }
  }

  #templates = ''

  /** Those of the doubts that are waited for still; one that was waited for long enough is not waited for again. */
  waitsFor(doubts: readonly Doubt[], now: number): readonly Doubt[] {
    const isOver = this.#doneSince !== undefined && now - this.#doneSince >= doubtsAtMost
    if (isOver) for (const doubt of doubts) this.#givenUp.add(keyOf(doubt))
    return doubts.filter((doubt) => !this.#givenUp.has(keyOf(doubt)))
  }

  /** For how long every DaemonSet was rolled by its own status, at every look, ms; undefined while one is rolling. */
  rolledFor(now: number): number | undefined {
    return this.#rolledSince === undefined ? undefined : now - this.#rolledSince
  }

  /** A DaemonSet rolls to a template that it had at no earlier look at which all were rolled. */
  get rollsAnew(): boolean {
    return (
      this.#rolledSince === undefined &&
      this.#rolledTemplates !== undefined &&
      this.#templates !== this.#rolledTemplates
    )
  }
}

const isRest: ReadonlySet<string> = new Set(['current', 'absent'])

/** Ages and counts in a sentence move by themselves. */
const keyOf = ({ id, sentence }: Doubt): string => `${id} ${sentence.replaceAll(/\d+/gu, '')}`
