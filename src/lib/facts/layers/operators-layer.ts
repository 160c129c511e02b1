import type { ClusterOperator } from '../../cluster/kinds/openshift.ts'
import { earliest, since } from '../elapsed.ts'
import { filled } from '../filled.ts'
import { type ClusterOperatorStanding, clusterOperatorStandings } from '../openshift/operator-standings.ts'
import type { Layer } from './layer.ts'

/** How long a part of the platform may be degraded while the platform updates (ocp 4.2: an error from then on). */
const updatePatience = 40 * 60_000

/** The operators that are degraded or not available; undefined where none is. */
export function operatorsLayer(
  operators: readonly ClusterOperator[],
  { updating, at }: { updating: boolean; at: Date },
): Layer | undefined {
  const bad = clusterOperatorStandings(operators).filter((one) => one.degraded || !one.available)
  if (bad.length === 0) return undefined
  const from = earliest(bad.map(({ degraded }) => degraded?.since))
  const isExpected = updating && bad.every((one) => one.available) && (since(from, at) ?? 0) < updatePatience
  return {
    layer: 'operators',
    object: `clusteroperator/${bad[0]?.name}`,
    verdict: isExpected ? 'Updating' : 'Degraded',
    says: bad.map(inWords).join(', '),
    ...(isExpected && {
      expected: 'so it looks for a while when the platform updates',
      waitsFor: 'the update to go on',
    }),
    ...filled({ since: from }),
    notes: bad.flatMap(({ name, degraded }) => (degraded?.message ? [`${name}: ${degraded.message}`] : [])),
    help: [`oc describe clusteroperator ${bad[0]?.name}`],
  }
}

function inWords({ name, available, degraded }: ClusterOperatorStanding): string {
  const states = [...(available ? [] : ['not available']), ...(degraded ? ['degraded'] : [])]
  return `${name} is ${states.join(' and ')}`
}
