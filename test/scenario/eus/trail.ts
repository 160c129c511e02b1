import {
  type HyperConverged,
  HyperConvergeds,
  type Subscription,
  Subscriptions,
} from '../../../src/lib/kube/kinds/operator-kinds.ts'
import { type ClusterVersion, ClusterVersions } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { condition } from '../../../src/lib/kube/object.ts'
import type { Stage } from '../stage.ts'

/** What a window makes of a cluster, as it happens. */
export interface Trail {
  /** Each release of platform and operator, in the order in which they were reached and settled. */
  readonly hops: readonly string[]
  /** Each state that platform and operator were in: in each of them a run may be cut off. */
  readonly places: readonly string[]
}

const releaseOf = (csv = ''): string => csv.replace(/^.*\.v/u, '')

/** Follows a stage from now on. */
export function trailOf({ simulated: { store } }: Stage): Trail {
  const hops: string[] = []
  const places: string[] = []
  const note = () => {
    const [cv]: readonly ClusterVersion[] = store.list(ClusterVersions).items
    const [subscription]: readonly Subscription[] = store.list(Subscriptions).items
    const [hco]: readonly HyperConverged[] = store.list(HyperConvergeds).items
    const [{ version, state } = { version: '', state: '' }] = cv?.status?.history ?? []
    const operator = hco?.status?.versions?.[0]?.version ?? ''
    const [installed, next] = [subscription?.status?.installedCSV, subscription?.status?.currentCSV].map(
      releaseOf,
    )
    const rolls = hco && condition(hco, 'Progressing')?.status === 'True' ? 'rolls' : 'stands'
    const made = [...(state === 'Completed' ? [`platform ${version}`] : []), `operator ${operator}`]
    hops.push(...made.filter((hop) => !hops.includes(hop)))
    const place = `platform ${version} ${state}, operator ${operator} ${rolls}, ${installed} installed, ${next} next`
    if (!places.includes(place)) places.push(place)
  }
  for (const kind of [ClusterVersions, Subscriptions, HyperConvergeds]) store.watch(kind, note)
  note()
  return { hops, places }
}
