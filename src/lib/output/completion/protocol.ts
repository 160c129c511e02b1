import type { Completion } from './complete.ts'

/** Cobra's directives, which kubectl expects of a plug-in's completion: 0 files if there is nothing else, 4 never files. */
const directive = { files: ':0', none: ':4' } as const

/** One `value<TAB>description` per line and the directive last: what the scripts and kubectl read. */
export function completionLines({ candidates, files }: Completion): string[] {
  const lines = candidates.map(({ value, description }) =>
    description === '' ? value : `${value}\t${description.replace(/\s+/g, ' ')}`,
  )
  return [...lines, files ? directive.files : directive.none]
}
