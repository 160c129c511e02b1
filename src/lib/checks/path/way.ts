import type { ServerVersion } from '../../cluster/cluster.ts'
import { pathTo } from '../../releases/path.ts'
import { type Version, versionOf } from '../../releases/version.ts'
import type { Question } from '../check.ts'

/** The steps from what is installed to that version, those of Kubernetes in between; or why there is no way, and what comes nearest. */
export function wayTo(
  to: Version,
  { standing, evidence, releases }: Question,
  otherwise: readonly string[] = [],
): readonly string[] {
  const from = versionOf(standing.observed.version)
  if (from === undefined) return []
  const runs = kubernetesMinor(evidence.serverVersion)
  const way = pathTo(from, to, runs === undefined ? undefined : `1.${runs}`, releases)
  if (way.is === 'none') return [`no way keeps to what is supported: ${way.why}`, ...otherwise]
  return way.steps.map((step) =>
    step.is === 'kubevirt' ? `kvup upgrade --to ${step.to}` : `take Kubernetes to ${step.to} (${step.why})`,
  )
}

/** 35 of `v1.35.4+k3s1`: `minor` is `35+` on some providers. */
export function kubernetesMinor(version: ServerVersion | undefined): number | undefined {
  const found = /^v?\d+\.(\d+)/u.exec(version?.gitVersion ?? '')?.[1]
  return found === undefined ? undefined : Number(found)
}
