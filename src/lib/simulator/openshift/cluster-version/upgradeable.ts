import type { ConfigMap } from '../../../cluster/kinds/core.ts'
import type { ClusterOperator, ClusterVersion } from '../../../cluster/kinds/openshift.ts'
import { condition, type Condition } from '../../../cluster/object.ts'
import { type Claim, isTrue, withConditions } from '../conditions.ts'
import { type Cause, unacknowledged } from './admin-acks.ts'

interface Seen {
  version: ClusterVersion
  operators: readonly ClusterOperator[]
  gates: ConfigMap | undefined
  acks: ConfigMap | undefined
}

/**
 * The conditions with what stands in the way of another minor: no `Upgradeable` at all where nothing does, one with the cause, or one
 * for all causes and a further condition for each. As in 4.x up to 4.20; newer ones word the reasons otherwise (ocp 3.2).
 */
export function withUpgradeable(conditions: readonly Condition[], seen: Seen, at: string): Condition[] {
  const causes = causesOf(seen)
  const claims = claimsOf(causes)
  const types = new Set(claims.map(({ type }) => type))
  const kept = conditions.filter(({ type }) => !type.startsWith('Upgradeable') || types.has(type))
  return withConditions(kept, claims, at)
}

function claimsOf(causes: readonly Cause[]): Claim[] {
  const [only] = causes
  if (!only) return []
  const own = { type: 'Upgradeable', status: 'False' as const }
  if (causes.length === 1) return [{ ...own, reason: only.reason, message: only.message }]
  const reasons = causes.map(({ reason }) => reason).join(',')
  const messages = causes.map(({ message }) => message).join('\n* ')
  const message = `Cluster should not be upgraded between minor versions for multiple reasons: ${reasons}\n* ${messages}`
  return [
    { ...own, reason: 'MultipleReasons', message },
    ...causes.map((cause): Claim => Object.assign({ status: 'False' as const }, cause)),
  ]
}

function causesOf({ version, operators, gates, acks }: Seen): Cause[] {
  const { spec, status } = version
  const overridden = (spec?.overrides ?? []).length > 0
  const acknowledgement = unacknowledged(gates, acks, runningVersion(version))
  return [
    ...(overridden ? [overrides] : []),
    ...(acknowledgement ? [acknowledgement] : []),
    ...operatorsCause(operators),
    ...(isTrue(status?.conditions, 'Progressing') ? [inProgress] : []),
  ]
}

/** The last one that was completed; gates are of that one's minor. */
function runningVersion({ status }: ClusterVersion): string {
  const history = status?.history ?? []
  const completed = history.find(({ state }) => state === 'Completed') ?? history.at(-1)
  return completed?.version ?? ''
}

const inProgress: Cause = {
  type: 'UpgradeableUpgradeInProgress',
  reason: 'UpdateInProgress',
  message: 'An update is already in progress and the details are in the Progressing condition',
}
const overrides: Cause = {
  type: 'UpgradeableClusterVersionOverrides',
  reason: 'ClusterVersionOverridesSet',
  message:
    'Disabling ownership via cluster version overrides prevents upgrades. Please remove overrides before continuing.',
}

const words = (name: string): string =>
  `Cluster operator ${name} should not be upgraded between minor versions: `

function operatorsCause(operators: readonly ClusterOperator[]): Cause[] {
  const type = 'UpgradeableClusterOperators'
  const refusing = operators.flatMap((operator) => {
    const said = condition(operator, 'Upgradeable')
    return said?.status === 'False' ? [{ name: operator.metadata.name, said }] : []
  })
  const [only] = refusing
  if (!only) return []
  if (refusing.length === 1)
    return [
      { type, reason: only.said.reason ?? '', message: `${words(only.name)}${only.said.message ?? ''}` },
    ]
  const each = refusing.map(({ name, said }) => `${words(name)}${said.reason}: ${said.message}`)
  const message = `Multiple cluster operators should not be upgraded between minor versions:\n* ${each.join('\n* ')}`
  return [{ type, reason: 'ClusterOperatorsNotUpgradeable', message }]
}
