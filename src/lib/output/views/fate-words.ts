import type { Fate } from '../../workloads/fate.ts'
import type { Tone } from '../printer.ts'

/** How a person says it. */
export interface Said {
  /** `will migrate` */
  infinitive: string
  /** `1 migrates` */
  one: string
  /** `2 migrate` */
  many: string
  tone: Tone
}

/** Each fate as a person says it. */
export const fateWords: Readonly<Record<Fate, Said>> = {
  migrates: { infinitive: 'migrate', one: 'migrates', many: 'migrate', tone: 'good' },
  restarts: { infinitive: 'restart', one: 'restarts', many: 'restart', tone: 'warn' },
  'shuts down': { infinitive: 'shut down', one: 'shuts down', many: 'shut down', tone: 'bad' },
  'is lost': { infinitive: 'be lost', one: 'is lost', many: 'are lost', tone: 'bad' },
  stays: { infinitive: 'stay', one: 'stays', many: 'stay', tone: 'warn' },
}

/** `3 migrate, 1 restarts`; what is none is left out. */
export function fatesText<F extends string>(
  words: Readonly<Record<F, Said>>,
  counts: Readonly<Record<F, number>>,
): string {
  return (Object.keys(words) as F[])
    .filter((fate) => counts[fate] > 0)
    .map((fate) => `${counts[fate]} ${counts[fate] === 1 ? words[fate].one : words[fate].many}`)
    .join(', ')
}
