import table from './platform-minors.json' with { type: 'json' }
import { compareMinors } from './platform-version.ts'

/** What is known of a minor of OKD/OpenShift; parity says nothing of it (ocp 3.4, 9.17). */
export interface PlatformMinor {
  /** The Kubernetes in it, `1.31`. */
  kubernetes: string
  /** Extended update support, on OpenShift; OKD has none (ocp 3.7). */
  eus: boolean
  /** How many minors a kubelet may be behind its control plane; what the condition KubeletMinorVersionUpgradeable says wins. */
  kubeletsBehind: number
  /** What may follow. */
  next: readonly string[]
  /** Not released when the table was made: so it was announced. */
  planned?: boolean
}

const minors: Readonly<Record<string, PlatformMinor>> = table.minors

/** The day of the table, YYYY-MM-DD: every answer is as of then. */
export const platformMinorsAsOf: string = table.asOf

/** Undefined where the table does not know it. */
export function platformMinor(minor: string): PlatformMinor | undefined {
  return minors[minor]
}

/**
 * The minors to go through, the target last, the shortest way; undefined where the table knows none. From 4.22 both 4.23 and 5.0 follow.
 */
export function minorsTo(from: string, to: string): readonly string[] | undefined {
  const next = platformMinor(from)?.next ?? []
  if (next.includes(to)) return [to]
  const ways = next
    .filter((minor) => compareMinors(minor, to) < 0)
    .flatMap((minor) => {
      const rest = minorsTo(minor, to)
      return rest === undefined ? [] : [[minor, ...rest]]
    })
  return ways.toSorted((a, b) => a.length - b.length)[0]
}

/** The nearest minor with extended support after that one; undefined where the table ends. */
export function nextEus(from: string): string | undefined {
  return Object.keys(minors)
    .toSorted(compareMinors)
    .find((minor) => compareMinors(minor, from) > 0 && minors[minor]?.eus && minorsTo(from, minor))
}

/** How far kubelets of one minor are behind a control plane of another, in minors of Kubernetes. */
export function kubeletsBehind(kubelets: string, controlPlane: string): number | undefined {
  const [old, new_] = [platformMinor(kubelets), platformMinor(controlPlane)]
  if (old === undefined || new_ === undefined) return undefined
  return kubernetesNumber(new_.kubernetes) - kubernetesNumber(old.kubernetes)
}

/** The first minor of a way whose control plane does not tolerate kubelets of where it began; undefined where all do. */
export function firstIntolerant(began: string, way: readonly string[]): string | undefined {
  return way.find((minor) => {
    const behind = kubeletsBehind(began, minor)
    return behind === undefined || behind > (platformMinor(minor)?.kubeletsBehind ?? 0)
  })
}

/** The minor of the platform whose kubelets are of that Kubernetes, `1.31.7`; of several the oldest. */
export function platformOfKubernetes(kubernetes: string | undefined): string | undefined {
  return platformsOfKubernetes(kubernetes)[0]
}

/** All minors with that Kubernetes, the oldest first: 4.23 and 5.0 have the same. */
export function platformsOfKubernetes(kubernetes: string | undefined): readonly string[] {
  const wanted = /^v?(\d+\.\d+)\b/u.exec(kubernetes ?? '')?.[1]
  return Object.keys(minors)
    .toSorted(compareMinors)
    .filter((minor) => minors[minor]?.kubernetes === wanted)
}

const kubernetesNumber = (text: string): number => Number(text.split('.')[1])
