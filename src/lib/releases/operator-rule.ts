import type { HopFinding } from './finding.ts'
import { type Version, compareVersions } from './version.ts'

export type Method = 'image-tag' | 'operator-manifest' | 'olm'

/** May this operator be asked for that version by this method? Facts 2.2, night U2, lab README 13. */
export function operatorRule(operator: Version, target: Version, method: Method): HopFinding[] {
  if (method === 'olm') return []
  if (method === 'operator-manifest') return operatorGoesBack(operator, target)
  return [...operatorOlder(operator, target), ...wrongStrategy(operator, target)]
}

/** Night U2: a target operator before v1.7 would run the wrong strategy Job for another tag that is pinned. */
export function pinnedTagRule(pinned: Version, target: Version): HopFinding[] {
  if (!runsOwnStrategy(target) || compareVersions(pinned, target) === 0) return []
  return [
    {
      id: 'pinned-tag',
      level: 'blocker',
      summary: `imageTag ${pinned.text} stays pinned while operator ${target.text} comes, which would install the images of ${pinned.text} with the rights and objects of ${target.text}`,
      remedy: ['take imageTag out of the KubeVirt CR first, so that the operator brings its own version'],
    },
  ]
}

/** Operators of v0.59 to v1.6 run their own image as strategy Job whatever the tag says (facts 2.2). */
function runsOwnStrategy({ major, minor }: Version): boolean {
  return (major === 0 && minor >= 59) || (major === 1 && minor < 7)
}

function operatorOlder(operator: Version, target: Version): HopFinding[] {
  if (compareVersions(operator, target) >= 0) return []
  const patchOnly = operator.major === target.major && operator.minor === target.minor
  return [
    {
      id: 'operator-not-older',
      level: patchOnly ? 'warning' : 'blocker',
      summary: patchOnly
        ? `operator ${operator.text} is a patch older than ${target.text}: its own code and CRD stay behind, upstream does not test it`
        : `operator ${operator.text} is a minor older than ${target.text}: it may not grant the new rights, KubeVirt ends Available=False and does not heal`,
      remedy: [byManifest(target)],
    },
  ]
}

function wrongStrategy(operator: Version, target: Version): HopFinding[] {
  if (!runsOwnStrategy(operator) || compareVersions(operator, target) === 0) return []
  return [
    {
      id: 'operator-runs-own-strategy',
      level: 'blocker',
      summary: `operators from v0.59 to v1.6 install the images of a tag with their own rights and objects: ${operator.text} can only be set to ${operator.text}`,
      remedy: [byManifest(target)],
    },
  ]
}

function operatorGoesBack(operator: Version, target: Version): HopFinding[] {
  if (compareVersions(operator, target) <= 0) return []
  return [
    {
      id: 'operator-goes-back',
      level: 'blocker',
      summary: `operator ${operator.text} is newer than ${target.text}: the manifest would take the operator and the KubeVirt CRD back`,
      remedy: [`kvup upgrade --to ${target.text} --method image-tag`],
    },
  ]
}

const byManifest = (target: Version) => `kvup upgrade --to ${target.text} --method operator-manifest`
