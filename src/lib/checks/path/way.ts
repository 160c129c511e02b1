import type { ServerVersion } from '../../cluster/cluster.ts'
import { type Path, pathTo } from '../../releases/path.ts'
import { type Version, versionOf } from '../../releases/version.ts'
import type { Question } from '../check.ts'

/** The way from what is installed to that version, with the steps of Kubernetes in between; undefined where nothing was ever installed completely. */
export function pathFromHere(to: Version, { standing, evidence, releases }: Question): Path | undefined {
  const from = versionOf(standing.observed.version)
  if (from === undefined) return undefined
  const runs = kubernetesMinor(evidence.serverVersion)
  return pathTo(from, to, runs === undefined ? undefined : `1.${runs}`, releases)
}

/** Its steps as lines to type; or why there is no way, and what comes nearest. */
export function wayTo(to: Version, question: Question, otherwise: readonly string[] = []): readonly string[] {
  const way = pathFromHere(to, question)
  if (way === undefined) return []
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
