import { condition } from '../../cluster/object.ts'
import { hyperConvergedStanding } from '../../facts/hyperconverged/hyperconverged-standing.ts'
import { goneCsv, showsWithoutCsv } from '../../facts/operator-lifecycle/gone-csv.ts'
import type { HopFinding } from '../../releases/finding.ts'
import { againstPlatform, knownMinors } from '../../releases/operator-and-platform.ts'
import { operatorMinor, type OperatorVersion } from '../../releases/operator-version.ts'
import type { Releases } from '../../releases/releases.ts'
import type { OperatorSeen } from './operator-seen.ts'

/** What speaks against beginning, seen when the plan is made; each step asks again. Pure. */
export function olmFindings(
  seen: OperatorSeen,
  to: OperatorVersion,
  releases: Pick<Releases, 'hyperconverged'>,
): readonly HopFinding[] {
  if (seen.installed.text === to.text) return csvNotSucceeded(seen)
  return [
    ...notGood(seen, to),
    ...csvNotSucceeded(seen),
    ...tainted(seen),
    ...minorUnknown(seen, to, releases),
  ]
}

/** Night E8. Where it is known to be beyond the platform it is refused. */
function minorUnknown(
  { platform: { minor } }: OperatorSeen,
  to: OperatorVersion,
  releases: Pick<Releases, 'hyperconverged'>,
): readonly HopFinding[] {
  if (minor === undefined || againstPlatform(to, minor, releases).is !== 'unknown') return []
  const last = knownMinors(releases).at(-1)
  const known = last === undefined ? '' : `: the last that is known is ${last.operator}, of ${last.platform}`
  return [
    {
      id: 'operator-minor-unknown',
      level: 'warning',
      summary: `whether HyperConverged ${to.text} belongs to platform ${minor} or to a later one is not known${known}. Out of step it is not supported`,
      remedy: [
        `kvup upgrade --to ${to.text} --method olm --releases FILE     with later release data`,
        'kvup releases -o json     prints those that are used',
      ],
    },
  ]
}

function notGood({ hyperconverged, installed }: OperatorSeen, to: OperatorVersion): readonly HopFinding[] {
  const { good, why, name, namespace } = hyperConvergedStanding(hyperconverged)
  if (good) return []
  const remedy = [`kubectl -n ${namespace} describe hyperconverged.hco.kubevirt.io ${name}`]
  const isRepair =
    condition(hyperconverged, 'Degraded')?.status === 'True' && operatorMinor(installed) === operatorMinor(to)
  const summary = `HyperConverged ${name} is not good: ${why.join('; ')}`
  if (isRepair) return [{ id: 'hyperconverged-degraded', level: 'blocker', summary, remedy }]
  return [
    {
      id: 'hyperconverged-not-good',
      level: 'warning',
      summary: `${summary}; the gate waits until it is`,
      remedy,
    },
  ]
}

/** Night E3. */
function csvNotSucceeded(seen: OperatorSeen): readonly HopFinding[] {
  const { csv, csvPhase, csvSays, csvIsGone, subscription } = seen
  const { namespace, name } = subscription.metadata
  if (csvIsGone)
    return [
      {
        id: 'csv-not-succeeded',
        level: 'warning',
        summary: `${goneCsv(name, csv)}, and HyperConverged is not written before it is Succeeded`,
        remedy: [showsWithoutCsv(namespace)],
      },
    ]
  if (csvPhase === undefined || csvPhase === 'Succeeded') return []
  return [
    {
      id: 'csv-not-succeeded',
      level: 'warning',
      summary: `ClusterServiceVersion ${csv} is ${csvPhase}${csvSays === undefined ? '' : ` (${csvSays})`}: HyperConverged is not written before it is Succeeded`,
      remedy: [`kubectl -n ${namespace} describe csv ${csv}`],
    },
  ]
}

/** ocp 1.5: upstream wants these annotations gone before an upgrade. */
function tainted({ hyperconverged }: OperatorSeen): readonly HopFinding[] {
  const { tainted: why, name, namespace } = hyperConvergedStanding(hyperconverged)
  if (why === undefined) return []
  return [
    {
      id: 'hyperconverged-tainted',
      level: 'warning',
      summary: `HyperConverged ${name} carries an override that no release promises to keep: ${why}`,
      remedy: [
        `kubectl -n ${namespace} get hyperconverged.hco.kubevirt.io ${name} -o yaml     its annotations end in /jsonpatch`,
      ],
    },
  ]
}
