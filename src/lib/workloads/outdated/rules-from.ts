import type { Loan } from '../../procedure/journal.ts'
import type { Releases } from '../../releases/releases.ts'
import { clusterEvictionOf } from '../cluster-eviction.ts'
import { methodsOf } from '../update-methods.ts'
import { launchersOf } from './launchers.ts'
import type { OutlookRules } from './rules.ts'
import type { Selection } from './selection.ts'
import type { Surroundings } from './surroundings.ts'

/** What decides here, or undefined where the KubeVirt CR may not be read: then nothing is claimed. `held`: the loan of the methods. */
export function rulesFrom(
  { kubevirt, launcher, updating, nodes, migrating }: Surroundings,
  { held, asked, releases, at }: { held?: Loan | undefined; asked?: Selection; releases: Releases; at: Date },
): OutlookRules | undefined {
  if (kubevirt === undefined) return undefined
  const version = kubevirt.status?.observedKubeVirtVersion
  return {
    methods: methodsOf(kubevirt),
    clusterEviction: clusterEvictionOf(kubevirt),
    updating,
    held,
    migrating,
    ...(asked !== undefined && { asked }),
    launcher: launchersOf({ image: launcher, version }, releases, at),
    ...(nodes !== undefined && { nodes }),
  }
}
