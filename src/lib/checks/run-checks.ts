import type { EvidencePart } from '../facts/evidence.ts'
import type { Check, Question } from './check.ts'
import type { Finding } from './finding.ts'
import { notSetBack } from './not-set-back.ts'
import { roleRemedy } from '../system/role-remedy.ts'

export interface CheckResult {
  check: Check
  /** `skipped`: what it needs was not asked for. */
  is: 'passed' | 'found' | 'not-checked' | 'skipped'
  findings: readonly Finding[]
  /** Of a skipped one: the flag that it is made with. */
  without?: AskedBy
}

/** Flags without which some checks are not made. */
export type AskedBy = '--to' | '--probe-images'

/** All of them, always, in their order; what could not be read is `not-checked`, never passed. Pure. */
export function runChecks(checks: readonly Check[], question: Question): readonly CheckResult[] {
  return checks.map((check) => resultOf(check, question))
}

function resultOf(check: Check, question: Question): CheckResult {
  const without = notAskedFor(check, question)
  if (without !== undefined) return { check, is: 'skipped', findings: [], without }
  const unknown = check.needs.flatMap((part) => whyUnknown(part, question))
  if (unknown.length > 0) return { check, is: 'not-checked', findings: [notChecked(check, unknown)] }
  const findings = check.assess(question).map((finding) => notSetBack(finding, question))
  return { check, is: findings.length > 0 ? 'found' : 'passed', findings }
}

function notAskedFor(check: Check, { target, evidence }: Question): AskedBy | undefined {
  if (check.needsTarget && target === undefined) return '--to'
  return check.needsProbes && evidence.probes === undefined ? '--probe-images' : undefined
}

function whyUnknown(part: EvidencePart, { evidence }: Question): string[] {
  const found = evidence[part]
  if (found === undefined) return [`${part}: not read`]
  return 'known' in found && !found.known ? [`${part}: ${found.why}`] : []
}

/** Blocks where the check can block: unknown is not the same as good. */
function notChecked({ id, title, blocks }: Check, why: readonly string[]): Finding {
  return {
    id,
    level: blocks ? 'not-checked' : 'warning',
    summary: `could not tell whether ${title}: ${why.join('; ')}`,
    remedy: [why.every(isNotSaved) ? saveAll : roleRemedy('kvup-view')],
  }
}

const saveAll = 'kvup snapshot --to-file cluster.ndjson.gz     saves all that is judged'

/** A saved cluster lacks it; a right would not bring it. */
const isNotSaved = (why: string): boolean => /does not hold|: not read$/u.test(why)
