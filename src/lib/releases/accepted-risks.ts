import type { HopFinding } from './hop-findings.ts'

/** A risk that a person took by its name: `--accept ID` or `--accept ID=reason`. */
export interface AcceptedRisk {
  id: string
  reason?: string
}

export function parseAccepted(words: readonly string[]): readonly AcceptedRisk[] {
  return words.map((word) => {
    const at = word.indexOf('=')
    return at < 0 ? { id: word } : { id: word.slice(0, at), reason: word.slice(at + 1) }
  })
}

/** The blockers that nobody accepted. A check that could not be made blocks as well. */
export function unaccepted(
  findings: readonly HopFinding[],
  accepted: readonly AcceptedRisk[],
): readonly HopFinding[] {
  const taken = new Set(accepted.map(({ id }) => id))
  return findings.filter(
    ({ id, level }) => (level === 'blocker' || level === 'not-checked') && !taken.has(id),
  )
}

/** Whether `passGate` throws: what is planned would be refused. */
export const isBlocked = (findings: readonly HopFinding[], accepted: readonly AcceptedRisk[]): boolean =>
  unaccepted(findings, accepted).length > 0
