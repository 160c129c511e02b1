import { explanations, isRefusal } from './explanations.ts'
import type { Finding } from './check-definition.ts'
import type { AcceptedRisk } from './check-run.ts'
import { blocked } from '../kube/errors.ts'

export function parseAccepted(words: readonly string[]): readonly AcceptedRisk[] {
  return words.map((word) => {
    const at = word.indexOf('=')
    return at < 0 ? { id: word } : { id: word.slice(0, at), reason: word.slice(at + 1) }
  })
}

/** The blockers that nobody accepted. A check that could not be made blocks as well. */
function unaccepted(findings: readonly Finding[], accepted: readonly AcceptedRisk[]): readonly Finding[] {
  const taken = new Set(accepted.map(({ id }) => id))
  return findings.filter(
    ({ id, level }) => (level === 'blocker' || level === 'not-checked') && !taken.has(id),
  )
}

/** Whether `passGate` throws: what is planned would be refused. */
export const isBlocked = (findings: readonly Finding[], accepted: readonly AcceptedRisk[]): boolean =>
  unaccepted(findings, accepted).length > 0

/** How risks are taken by name, with the flags of the command itself unless it says otherwise. */
export type Accepting = (ids: readonly string[]) => string

const byFlags: Accepting = (ids) => `take the risk by name: ${ids.map((id) => `--accept ${id}`).join(' ')}`

/** A name that `--accept` does not take: what kvup would write would not last. */
const isRefused = (id: string): boolean => explanations.some((one) => one.id === id && isRefusal(one))

/** Throws `blocked` (exit 3) with every blocker that was not accepted, each with its remedy. How to accept them is said only where that is enough. */
export function passGate(
  findings: readonly Finding[],
  accepted: readonly AcceptedRisk[],
  accepting: Accepting = byFlags,
): void {
  const [first, ...more] = unaccepted(findings, accepted)
  if (!first) return
  const all = [first, ...more]
  const ids = all.map(({ id }) => id)
  const ways = ids.some(isRefused) ? [] : [accepting(ids)]
  throw blocked(first.id, all.map(({ id, summary }) => `${oneLine(summary)} (${id})`).join('\n  '), {
    ...(first.objects && { object: first.objects.join(', ') }),
    remedy: [...new Set([...all.flatMap(({ remedy }) => remedy), ...ways])],
  })
}

/** A newline in it is the cluster's, and not the end of a finding. */
const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/gu, ' ')
