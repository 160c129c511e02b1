import { itemsOf } from '../../facts/known.ts'
import { platformOfOperator } from '../../releases/bundled.ts'
import { operatorVersionOf, versionOfCsv } from '../../releases/operator-version.ts'
import type { Releases } from '../../releases/releases.ts'
import type { EusEvidence } from './evidence.ts'
import { operatorNow, subscriptionOf } from './operator-now.ts'

type Rows = Pick<Releases, 'hyperconverged'>

/**
 * The release of this minor that the operator has still to get to, as a CSV: what OLM resolved, or the head of the channel. Undefined where all of what is installed
 * runs and nothing of the minor comes after it: that its version belongs to the minor says nothing of that (night E4).
 */
export function releaseLeft(evidence: EusEvidence, minor: string, releases: Rows): string | undefined {
  const standing = subscriptionOf(evidence)
  const { installed = '', latest = installed, channel } = standing ?? {}
  const isOfMinor = (csv: string) => {
    const version = operatorVersionOf(versionOfCsv(csv)?.text)
    return version !== undefined && platformOfOperator(version, releases) === minor
  }
  const left = [latest, headOf(evidence, channel)].find((csv) => csv !== installed && isOfMinor(csv))
  if (left !== undefined) return left
  const runs = operatorNow(evidence)?.version
  return runs !== versionOfCsv(installed)?.text && isOfMinor(installed) ? installed : undefined
}

function headOf({ lifecycle }: EusEvidence, channel: string | undefined): string {
  const channels = itemsOf(lifecycle.packageManifests).flatMap(({ status }) => status?.channels ?? [])
  return channels.find(({ name }) => name === channel)?.currentCSV ?? ''
}
