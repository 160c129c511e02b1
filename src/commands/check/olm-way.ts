import type { Cluster } from '../../lib/cluster/cluster.ts'
import type { Check, Question } from '../../lib/checks/check.ts'
import type { Finding } from '../../lib/checks/finding.ts'
import type { Installation } from '../../lib/facts/installation.ts'
import type { Releases } from '../../lib/releases/releases.ts'
import { KvupError } from '../../lib/system/errors.ts'
import { exitCode } from '../../lib/system/exit-codes.ts'
import { olmGoal, type OlmGoal } from '../../lib/upgrade/olm/make-olm-plan.ts'
import { seeOperator } from '../../lib/upgrade/olm/operator-seen.ts'

/** How HyperConverged comes to a release, as `kvup upgrade` reads `--to`; or why it does not go there. */
export type OlmWay = { goal: OlmGoal } | { refused: KvupError }

/** Undefined where it cannot be asked: OLM does not keep that HyperConverged, or may not be read, or was not saved. */
export async function olmWay(
  { reader }: Pick<Cluster, 'reader'>,
  asked: { to: string; accepted: readonly string[]; releases: Releases },
): Promise<OlmWay | undefined> {
  const { to, accepted, releases } = asked
  const command = `kvup upgrade --to ${to} --method olm`
  const request = { typed: to, approveAlso: [], accepted, command }
  const seen = await unless(
    () => true,
    () => seeOperator(reader),
  )
  if (seen instanceof KvupError) return undefined
  const goal = await unless(isBlocked, async () => olmGoal({ request, seen, releases }))
  return goal instanceof KvupError ? { refused: goal } : { goal }
}

const isBlocked = (error: KvupError): boolean => error.exitCode === exitCode.blocked

async function unless<T>(
  expected: (error: KvupError) => boolean,
  work: () => Promise<T>,
): Promise<T | KvupError> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof KvupError && expected(error)) return error
    throw error
  }
}

/**
 * In the place of the check that says who owns KubeVirt: OLM is asked, and what it says is what a plan says. Where the way leads over several minors of KubeVirt
 * there is no one target to judge: each hop has its own.
 */
export function checksByOlm(
  checks: readonly Check[],
  way: OlmWay,
  { installation, target }: Pick<Question, 'installation' | 'target'>,
): readonly Check[] {
  return checks.flatMap((one) => {
    if (one.id === 'manager') return [byOlm(way, installation, target !== undefined)]
    return one.needsTarget && target === undefined ? [] : [one]
  })
}

const byOlm = (way: OlmWay, { manager }: Installation, isNear: boolean): Check => ({
  id: 'manager',
  group: 'installation',
  title: `OLM can take HyperConverged there${isNear ? '' : '; what each minor of KubeVirt on the way brings is judged at its hop'}`,
  findings: 'any',
  needs: [],
  blocks: true,
  assess: () => ('goal' in way ? way.goal.findings : [refusal(way.refused, manager.name ?? '')]),
})

const refusal = ({ message, remedy }: KvupError, name: string): Finding => ({
  id: 'managed-by-hyperconverged',
  level: 'blocker',
  summary: `HyperConverged ${name} decides which KubeVirt is installed, and does not go there: ${message}`,
  remedy,
})
