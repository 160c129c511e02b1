import { isUnsafe } from '../sanitise.ts'
import type { Candidate, Completion } from './complete.ts'

/** Cobra's directives, which kubectl and oc expect of a plug-in's completion: no space after the word, never files. */
const noSpace = 2
const noFiles = 4

/** A value that no shell does anything with but take it. */
const isPlain = ({ value }: Candidate) => /^[\w./:@%+=,-]+$/.test(value)

/** Control characters end a line of ours, or do something to a terminal; without them it would be another value. */
const isSayable = ({ value }: Candidate) => value !== '' && !/[\t\n]/.test(value) && !isUnsafe(value)

/** Those that may be told to a shell; `unquoted`: to one that may put them on its line as they are. */
export function tellable(found: Completion, unquoted: boolean): Completion {
  const candidates = found.candidates.filter((one) => isSayable(one) && (!unquoted || isPlain(one)))
  return { ...found, candidates }
}

/** One `value<TAB>description` per line and the directive last: what the scripts, kubectl and oc read. */
export function completionLines({ candidates, files }: Completion): string[] {
  const lines = candidates.map(({ value, description }) =>
    description === '' ? value : `${value}\t${description.replace(/\s+/g, ' ')}`,
  )
  const isBegun = candidates.length > 0 && candidates.every(({ value }) => value.endsWith('='))
  return [...lines, `:${(isBegun ? noSpace : 0) + (files ? 0 : noFiles)}`]
}
