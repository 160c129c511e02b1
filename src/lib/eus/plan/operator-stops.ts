import type { PackageChannel } from '../../cluster/kinds/operator-lifecycle.ts'
import { itemsOf } from '../../facts/known.ts'
import { platformOfOperator } from '../../releases/bundled.ts'
import { operatorVersionOf, versionOfCsv } from '../../releases/operator-version.ts'
import { comparePlatforms, platformVersionOf } from '../../releases/platform-version.ts'
import type { Releases } from '../../releases/releases.ts'
import type { EusPlan, OperatorNow, OperatorStop } from '../eus-plan.ts'
import type { EusEvidence } from './evidence.ts'
import { operatorMinorNow, operatorNow } from './operator-now.ts'
import { releaseLeft } from './operator-through.ts'

interface StopsQuestion {
  /** Of the platform. */
  minor: string
  flavour: EusPlan['flavour']
  releases: Pick<Releases, 'hyperconverged'>
}

/**
 * Where the operator has to be in a hop: at the platform's minor (night E8). PackageManifests show no edges: which releases lie between is
 * what OLM resolves (ocp 2.6). On OpenShift the catalog changes with the platform and the channel stays; upstream has a channel for each minor.
 */
export function operatorStops(evidence: EusEvidence, question: StopsQuestion): readonly OperatorStop[] {
  const now = operatorNow(evidence)
  const { minor, releases } = question
  if (now?.version !== undefined && operatorMinorNow(evidence, releases) === minor)
    return [thereNow(now, now.version), ...stillLeft(evidence, question, now.version)]
  const channel = channelFor(evidence, question)
  if (channel !== undefined) return [stopIn(channel, now?.channel, minor)]
  return [
    {
      chosenBecause: `decided when it is there: what OLM resolves in channel ${now?.channel ?? 'stable'} once the catalog is that of ${minor}`,
      done: false,
    },
  ]
}

const thereNow = ({ csv }: OperatorNow, version: string): OperatorStop => ({
  version,
  ...(versionOfCsv(csv)?.text === version && { csv }),
  chosenBecause: 'it is there',
  done: true,
})

/** A later release of the same minor, which OLM has found or is about to install: the next hop waits for it. */
function stillLeft(
  evidence: EusEvidence,
  { minor, releases }: StopsQuestion,
  runs: string,
): readonly OperatorStop[] {
  const csv = releaseLeft(evidence, minor, releases)
  const version = versionOfCsv(csv)?.text
  if (csv === undefined || version === undefined || version === runs) return []
  return [{ version, csv, chosenBecause: `OLM offers it after ${runs}`, done: false }]
}

function stopIn({ name, currentCSV }: PackageChannel, now: string | undefined, minor: string): OperatorStop {
  const version = versionOfCsv(currentCSV)?.text
  return {
    ...(version !== undefined && { version }),
    ...(currentCSV !== undefined && { csv: currentCSV }),
    ...(name !== undefined && name !== now && { channel: name }),
    chosenBecause: `the head of channel ${name ?? ''}, which belongs to ${minor}`,
    done: false,
  }
}

/** The channel whose head belongs to that minor; of several the one that is set, else the one with the newest head. */
function channelFor(evidence: EusEvidence, { minor, releases }: StopsQuestion): PackageChannel | undefined {
  const [manifest] = itemsOf(evidence.lifecycle.packageManifests)
  const fitting = (manifest?.status?.channels ?? []).filter(({ currentCSV }) => {
    const version = operatorVersionOf(versionOfCsv(currentCSV)?.text)
    return version !== undefined && platformOfOperator(version, releases) === minor
  })
  const set = operatorNow(evidence)?.channel
  return fitting.find(({ name }) => name === set) ?? fitting.toSorted(newestFirst)[0]
}

function newestFirst(a: PackageChannel, b: PackageChannel): number {
  const [one, other] = [a, b].map(({ currentCSV }) => platformVersionOf(versionOfCsv(currentCSV)?.text))
  return one && other ? comparePlatforms(other, one) : 0
}
