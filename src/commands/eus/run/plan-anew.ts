import type { SealedPlan } from '../../../lib/seal/read-sealed.ts'
import { shellWord } from '../../../lib/system/shell-word.ts'

/** The line that makes such a plan again: with the flags that this one was made with, and into another file, for somebody has reviewed the first. */
export function planAnewLine({
  request,
  accepted,
  file,
}: Pick<SealedPlan, 'request' | 'accepted' | 'file'>): string {
  const flags = Object.entries(request).flatMap(([name, value]) =>
    typeof value === 'string' ? [flagOf(name), shellWord(value)] : [],
  )
  const risks = accepted.flatMap(({ id }) => ['--accept', shellWord(id)])
  return ['kvup eus plan', ...flags, ...risks, '--to-file', shellWord(besideOf(file))].join(' ')
}

/** `graphFile` is `--graph-file`. */
const flagOf = (name: string): string =>
  `--${name.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`

/** `plan.yaml` → `plan.new.yaml`. Standard input has no name. */
function besideOf(file: string): string {
  if (file === 'standard input') return 'plan.new.yaml'
  const named = /^(?<name>.*[^/])(?<end>\.[^./]+)$/u.exec(file)?.groups
  return named === undefined ? `${file}.new` : `${named['name']}.new${named['end']}`
}
