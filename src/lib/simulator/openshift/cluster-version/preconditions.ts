import type { ClusterVersion } from '../../../cluster/kinds/openshift.ts'
import { condition } from '../../../cluster/object.ts'
import { compareReleases, releaseNumber, sameMinor } from '../release-number.ts'

interface Failure {
  name: string
  reason: string
  message: string
}

/** Why an update to that version is not begun, in the words of ReleaseAccepted; undefined where nothing is in the way (ocp 3.2). Pure. */
export function preconditionFailure(seen: Judged, target: string): string | undefined {
  const current = seen.status?.desired?.version ?? ''
  const failures = [
    ...upgradeable(seen, current, target),
    ...rollback(seen, current, target),
    ...giantHop(current, target),
  ].map((f) => `Precondition "${f.name}" failed because of "${f.reason}": ${f.message}`)
  if (failures.length <= 1) return failures[0]
  return `Multiple precondition checks failed:\n* ${failures.join('\n* ')}`
}

type Judged = Pick<ClusterVersion, 'spec' | 'status'>

/** Upgradeable=False is in the way of another minor, overrides of any update. */
function upgradeable(seen: Judged, current: string, target: string): Failure[] {
  const said = condition(seen, 'Upgradeable')
  const isForward = compareReleases(target, current) > 0 && !sameMinor(current, target)
  if (said?.status !== 'False' || !(isForward || isOverridden(seen))) return []
  const { reason = '', message = '' } = said
  return [{ name: 'ClusterVersionUpgradeable', reason, message }]
}

const isOverridden = ({ spec }: Judged): boolean => (spec?.overrides ?? []).length > 0

function rollback({ status }: Judged, current: string, target: string): Failure[] {
  if (compareReleases(target, current) >= 0) return []
  const previous = (status?.history ?? []).find(({ version }) => version !== current)?.version
  if (previous === target && sameMinor(current, target)) return []
  const why =
    previous === target
      ? "and matches the cluster's previous version, but rollbacks that change major or minor versions are not recommended"
      : `and the only supported rollback is to the cluster's previous version ${previous ?? 'none'}`
  return [
    {
      name: 'ClusterVersionRollback',
      reason: 'LowDesiredVersion',
      message: `${target} is less than the current target ${current}, ${why}`,
    },
  ]
}

function giantHop(current: string, target: string): Failure[] {
  const [here, there] = [releaseNumber(current), releaseNumber(target)]
  const name = 'ClusterVersionGiantHop'
  if (there.major > here.major) {
    if (there.major === 5 && here.major === 4 && there.minor === 0) return []
    const message = `${target} has a larger major version than the current target ${current} (${there.major} > ${here.major}), and only updates within the current major version or to 5.0 are supported.`
    return [{ name, reason: 'MajorVersionUpdate', message }]
  }
  if (there.major < here.major || there.minor <= here.minor + 1) return []
  const message = `${target} is more than one minor version beyond the current target ${current} (${there.major}.${there.minor} > ${here.major}.(${here.minor}+1)), and only updates within the current minor version or to the next minor version are supported.`
  return [{ name, reason: 'MultipleMinorVersionsUpdate', message }]
}
