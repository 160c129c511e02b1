import type { Topology } from '../../facts/openshift/topology.ts'
import { firstIntolerant, minorsTo, nextEus, platformMinor } from '../../releases/platform-minors.ts'
import { compareMinors } from '../../releases/platform-version.ts'
import { usageError } from '../../system/errors.ts'
import type { EusPlan } from '../eus-plan.ts'

/** What the way depends on; minors such as `4.18`. */
export interface Whereabouts {
  flavour: EusPlan['flavour']
  topology: Topology['is']
  /** Of the control plane. */
  here: string
  /** Of the paused pools' kubelets: older than `here` in the middle of a window. */
  began: string
  /** What was typed. */
  to?: string | undefined
}

/** From minor to minor. */
export interface Route {
  to: string
  /** Behind `here`, the target last; none where it is reached. */
  minors: readonly string[]
  way: EusPlan['way']
  /** Why the pools follow hop by hop; absent where they do not. */
  plainBecause?: string
  /** The first minor that does not tolerate the pools where they are: they have to follow before it. */
  intolerant?: string
}

/**
 * Where to and over what. Without a target: the next minor with extended support, on OKD, which has none, the next one. Whether pools may
 * stay behind is decided by what each control plane tolerates, never by even and odd (ocp 3.4). Throws `usage` for a target that is none.
 */
export function routeOf(whereabouts: Whereabouts): Route {
  const { here, began } = whereabouts
  const to = whereabouts.to ?? defaultTarget(whereabouts)
  const minors = to === here ? [] : minorsTo(here, to)
  if (minors === undefined) throw noWayTo(to, whereabouts)
  const plainBecause = whyPlain(whereabouts, to)
  if (plainBecause !== undefined) return { to, minors, way: 'plain', plainBecause }
  const behind = began === here ? minors : [here, ...minors]
  const intolerant = firstIntolerant(began, behind)
  return { to, minors, way: 'control-plane-only', ...(intolerant !== undefined && { intolerant }) }
}

function defaultTarget({ flavour, here, began }: Whereabouts): string {
  const next = flavour === 'okd' ? platformMinor(here)?.next[0] : nextEus(began)
  if (next !== undefined) return next
  throw usageError(
    'no-target',
    `kvup knows of no ${flavour === 'okd' ? 'minor' : 'minor with extended support'} after ${here}`,
    { remedy: 'kvup eus plan --to MINOR' },
  )
}

const ownPools: ReadonlySet<Topology['is']> = new Set(['usual', 'unknown'])

function whyPlain({ flavour, topology, began, here }: Whereabouts, to: string): string | undefined {
  if (began !== here) return undefined
  if (flavour === 'okd') return 'OKD has no extended update support, and no procedure to leave pools behind'
  if (topology === 'compact') return 'there is no pool that could stay behind: all machines belong to master'
  if (topology === 'single-node') return 'there is one node: nothing can stay behind'
  if (!ownPools.has(topology)) return "its pools are not its administrator's"
  const all = minorsTo(began, to) ?? []
  return all.length < 2 ? 'it is one hop: pools that stayed behind would reboot as often' : undefined
}

function noWayTo(to: string, { here }: Whereabouts): Error {
  const order = compareMinors(to, here)
  const why =
    platformMinor(to) === undefined
      ? `kvup does not know it`
      : order < 0
        ? `this cluster is at ${here}, and there is no way back`
        : `no way leads there from ${here}`
  return usageError('no-such-way', `the platform cannot be taken to ${to}: ${why}`, {
    remedy: 'kvup eus plan      says where it can go',
  })
}
