import { findKubeVirts } from '../../lib/facts/find-kubevirts.ts'
import { versionOf } from '../../lib/releases/version.ts'
import { reachable } from '../../lib/upgrade/reachable.ts'
import { type Asked, last, clusterOf, type Source } from './asked.ts'

/** Where the cluster can go in one hop. Throws where that is not known: no KubeVirt, or a saved cluster is judged. */
export const reachableVersions: Source = async (asked, offer) => {
  const observed = await observedVersion(asked)
  for (const value of reachable(observed)) offer({ value, description: `one hop from ${observed}` })
}

/** What follows `--for version=`. */
export const versionConditions: Source = async (asked, offer) => {
  const begun = 'version='
  if (!asked.typed.startsWith(begun)) throw new Error('no version is asked for')
  const observed = await observedVersion(asked)
  offer({ value: `${begun}${observed}`, description: 'as it is now' })
  for (const value of reachable(observed))
    offer({ value: `${begun}${value}`, description: `one hop from ${observed}` })
}

async function observedVersion(asked: Asked): Promise<string> {
  if (last(asked, '--from') !== undefined) throw new Error('a saved cluster is not read for a completion')
  const found = await findKubeVirts((await clusterOf(asked)).reader)
  const observed = found.known ? versionOf(found.items[0]?.status?.observedKubeVirtVersion)?.text : undefined
  if (observed === undefined) throw new Error('no version was observed')
  return observed
}
