import type { SealedPlan } from '../../lib/seal/read-sealed.ts'
import { shellWord } from '../../lib/system/shell-word.ts'
import { flagOf, isAsWithout } from './sealed-request.ts'

/** Worked out when the plan is made, not asked for. */
const workedOut: ReadonlySet<string> = new Set(['to', 'manifestSha256'])

/** The line that makes a sealed plan anew, with `more` risks taken: the flags that it was made with, into the same file. */
export function planAgain(
  { request, accepted, file }: Pick<SealedPlan, 'request' | 'accepted' | 'file'>,
  more: readonly string[] = [],
): string {
  const flags = Object.entries(request)
    .filter(([name, value]) => !workedOut.has(name) && !isAsWithout(name, value))
    .map(([name, value]) => (typeof value === 'boolean' ? flagOf(name) : `${flagOf(name)} ${quoted(value)}`))
  const risks = [
    ...accepted.map(({ id, reason }) => (reason === undefined ? id : `${id}=${reason}`)),
    ...more,
  ]
  return [
    `kvup plan --to ${quoted(request['to'])}`,
    ...flags,
    ...risks.map((risk) => `--accept ${shellWord(risk)}`),
    file === 'standard input' ? '-o yaml' : `--to-file ${shellWord(file)}`,
  ].join(' ')
}

const quoted = (value: unknown): string => shellWord(String(value))
