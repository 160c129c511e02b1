import { kubernetesWindow } from './known-releases.ts'
import { knownReleases, type Releases } from './releases.ts'
import { compareVersions, minorOf, versionOf } from './version.ts'

/**
 * What does not go together: a KubeVirt of a newer minor than the release data know, and a Kubernetes outside the window of that
 * KubeVirt (facts 7). A sentence each. It only warns: what an API server serves is asked of it, never guessed from a version.
 */
export function skewOf(
  { kubevirt, kubernetes }: { kubevirt: string | undefined; kubernetes: string | undefined },
  releases: Releases = knownReleases,
): readonly string[] {
  const installed = versionOf(kubevirt)
  if (installed === undefined) return []
  const newest = newestMinor(releases)
  const window = kubernetesWindow(installed, releases)
  const runs = kubernetesMinor(kubernetes)
  return [
    ...(newest !== undefined && compareVersions({ ...installed, text: `${minorOf(installed)}.0` }, newest) > 0
      ? [
          `KubeVirt ${installed.text} is newer than ${minorOf(newest)}, the newest this kvup knows of (${releases.asOf}): its rules are applied, its surprises are not known; get a newer kvup`,
        ]
      : []),
    ...(window && runs !== undefined && (runs < minor(window.min) || runs > minor(window.max))
      ? [
          `Kubernetes ${kubernetes} is outside ${window.min} to ${window.max}, which KubeVirt ${minorOf(installed)} supports`,
        ]
      : []),
  ]
}

function newestMinor(releases: Releases) {
  return Object.keys(releases.minors)
    .map((text) => versionOf(`${text}.0`))
    .filter((version) => version !== undefined)
    .toSorted(compareVersions)
    .at(-1)
}

/** Of `v1.34.1+k3s1` it is 34. */
function kubernetesMinor(version: string | undefined): number | undefined {
  const found = /^v?1\.(?<minor>\d+)/u.exec(version ?? '')?.groups?.['minor']
  return found === undefined ? undefined : Number(found)
}

const minor = (text: string): number => Number(text.split('.')[1])
