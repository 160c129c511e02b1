import type { Context } from '../../context.ts'
import { allChecks } from '../../lib/checks/checks.ts'
import type { Finding } from '../../lib/checks/finding.ts'
import { runChecks } from '../../lib/checks/run-checks.ts'
import type { Evidence } from '../../lib/facts/evidence.ts'
import type { Loan } from '../../lib/procedure/journal.ts'
import type { Releases } from '../../lib/releases/releases.ts'
import { hasBegun } from '../../lib/upgrade/has-begun.ts'
import type { Seen } from '../../lib/upgrade/make-plan.ts'
import type { UpgradePlan } from '../../lib/upgrade/plan.ts'
import { look } from '../check/look.ts'
import { nearTarget } from './near-target.ts'
import type { LoadedManifest } from '../../lib/upgrade/steps/apply-manifest.ts'

interface Judged {
  cx: Context
  plan: UpgradePlan
  seen: Seen
  releases: Releases
  /** Open ones: an earlier run has begun. */
  loans: readonly Loan[]
  /** Where it was read already. */
  manifest: LoadedManifest | undefined
}

/** What the checks say against a plan, and what they were judged by; none where none was made. */
interface Checked {
  findings: readonly Finding[]
  evidence?: Evidence
}

/**
 * What all checks of `kvup check` say against a plan. Nothing once its update has begun, for the checks judge a cluster that stands still, and
 * stopping half-way is worse; the rights of this user are asked for right before the first write.
 */
export async function checked({ cx, plan, seen, releases, loans, manifest }: Judged): Promise<Checked> {
  if (hasBegun(plan, seen, loans)) return { findings: [] }
  const target = plan.olm === undefined ? plan.to : nearTarget(plan.olm, plan.to, seen.standing)
  const looked = await look(cx, { to: target, method: plan.method, without: 'rights' })
  const question = {
    ...looked,
    releases,
    ...(target && { target }),
    ...(manifest && { manifest: manifest.manifest.objects }),
  }
  const checks = allChecks.filter(({ id }) => !judgedElsewhere.has(id))
  const results = runChecks(checks, question)
  return {
    findings: results.flatMap(({ findings }) => findings.map(unlessUnseen)),
    evidence: looked.evidence,
  }
}

/** Whoever owns the installation is the plan's own business; so are the rights, right before the first write. */
const judgedElsewhere: ReadonlySet<string> = new Set(['rights', 'manager'])

/** Rights that only checks use may be missing (contract "Rights"): it is said, and does not stop whoever is allowed to do the work. */
function unlessUnseen(finding: Finding): Finding {
  return finding.level === 'not-checked' ? { ...finding, level: 'warning' } : finding
}

/**
 * Each finding once: what the plan itself says of it, in the list before, is nearer to what will be done. Of several in one list by one name the worst
 * is kept: a blocker is not lost behind a warning.
 */
export function together(...lists: readonly (readonly Finding[])[]): readonly Finding[] {
  const byId = new Map<string, Finding>()
  for (const list of lists) {
    const before = new Set(byId.keys())
    for (const finding of list) {
      const known = byId.get(finding.id)
      if (known === undefined || (!before.has(finding.id) && weight(finding) > weight(known)))
        byId.set(finding.id, finding)
    }
  }
  return [...byId.values()]
}

const weight = ({ level }: Finding): number => ({ info: 0, warning: 1, 'not-checked': 2, blocker: 3 })[level]
