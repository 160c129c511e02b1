import { hop } from './hop.ts'
import { kubernetesWindow, latestPatch } from './known-releases.ts'
import { minorOf, type Version } from './version.ts'
import { knownReleases, type Releases } from './releases.ts'

/** One step of the way; Kubernetes is a minor, `1.34`. */
type PathStep = { is: 'kubevirt'; to: string; why: string } | { is: 'kubernetes'; to: string; why: string }

/** The way from here to there, or why there is none. */
export type Path = { is: 'path'; steps: readonly PathStep[] } | { is: 'none'; why: string }

/**
 * Supported hops only: the last patch of a minor, then the next minor, with the Kubernetes steps in between that keep both ends
 * of every hop inside their windows (facts 7). `kubernetes` absent: its steps are left out. Pure.
 */
export function pathTo(
  from: Version,
  to: Version,
  kubernetes?: string,
  releases: Releases = knownReleases,
): Path {
  const { kind } = hop(from, to, releases)
  if (kind === 'downgrade')
    return { is: 'none', why: `${to.text} is older than ${from.text}, and going back is not supported` }
  if (from.major === 0 && from.minor < 17)
    return { is: 'none', why: `updates begin with v0.17.0, this is ${from.text}` }
  const stops = stopsBetween(from, to, releases)
  if (typeof stops === 'string') return { is: 'none', why: stops }
  return withKubernetes(from, stops, kubernetes, releases)
}

/** The releases to go through, the target last; a text says why there are none. */
function stopsBetween(from: Version, to: Version, releases: Releases): readonly Version[] | string {
  const stops: Version[] = []
  const { skipped = [], kind } = hop(from, to, releases)
  if (kind === 'same') return stops
  if (kind !== 'patch') pushNewer(stops, from, latestPatch(minorOf(from), releases))
  for (const minor of skipped) {
    const stop = latestPatch(minor, releases)
    if (stop === undefined) return `no release of ${minor} is known as of ${releases.asOf}`
    stops.push(stop)
  }
  return [...stops, to]
}

function pushNewer(stops: Version[], from: Version, latest: Version | undefined): void {
  if (latest !== undefined && latest.patch > from.patch && latest.minor === from.minor) stops.push(latest)
}

function withKubernetes(
  from: Version,
  stops: readonly Version[],
  kubernetes: string | undefined,
  releases: Releases,
): Path {
  const steps: PathStep[] = []
  let runs = kubernetes
  let at = from
  for (const stop of stops) {
    const window = kubernetesWindow(stop, releases)
    if (runs !== undefined && window !== undefined) {
      if (minorNumber(runs) > minorNumber(window.max))
        return {
          is: 'none',
          why: `${stop.text} supports Kubernetes up to ${window.max}, this cluster runs ${runs}`,
        }
      steps.push(...kubernetesSteps(runs, window.min, { at, stop }))
      runs = later(runs, window.min)
    }
    steps.push({
      is: 'kubevirt',
      to: stop.text,
      why: stop === stops.at(-1) ? 'the target' : `the last patch of ${minorOf(stop)}`,
    })
    at = stop
  }
  return { is: 'path', steps }
}

/** Kubernetes itself is updated minor by minor. */
function kubernetesSteps(
  runs: string,
  needed: string,
  { at, stop }: { at: Version; stop: Version },
): PathStep[] {
  const missing = minorNumber(needed) - minorNumber(runs)
  const why = `${stop.text} needs ${needed} or newer, and ${at.text} runs on it`
  return Array.from({ length: Math.max(0, missing) }, (_, i) => ({
    is: 'kubernetes',
    to: `1.${minorNumber(runs) + 1 + i}`,
    why,
  }))
}

const later = (a: string, b: string): string => (minorNumber(a) < minorNumber(b) ? b : a)

const minorNumber = (text: string): number => Number(text.split('.')[1])
