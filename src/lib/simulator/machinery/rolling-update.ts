import type { Deployment, ReplicaSet } from '../../cluster/kinds/apps.ts'
import { share } from './share.ts'

/** A ReplicaSet and how many replicas it is to have. */
export interface Move {
  set: ReplicaSet
  to: number
}

/** What may be scaled now without more than maxSurge pods too many or maxUnavailable too few: first up, then down. Pure. */
export function nextMoves(deployment: Deployment, current: ReplicaSet, old: readonly ReplicaSet[]): Move[] {
  const desired = deployment.spec?.replicas ?? 1
  const { surge, unavailable } = limitsOf(deployment, desired)
  const total = replicas(current) + sum(old, replicas)
  const up = Math.min(desired, replicas(current) + Math.max(0, desired + surge - total))
  if (up > replicas(current)) return [{ set: current, to: up }]
  const excess = Math.max(0, replicas(current) - desired)
  const spare = total - excess - (desired - unavailable) - (replicas(current) - available(current))
  const moves: Move[] = excess > 0 ? [{ set: current, to: desired }] : []
  return [...moves, ...scaleDown(old, spare)]
}

/** Pods that serve nobody go first. */
function scaleDown(old: readonly ReplicaSet[], most: number): Move[] {
  let left = Math.max(0, most)
  const moves: Move[] = []
  for (const set of [...old].sort((a, b) => available(a) - available(b))) {
    const less = Math.min(replicas(set), left)
    if (less > 0) moves.push({ set, to: replicas(set) - less })
    left -= less
  }
  return moves
}

function limitsOf({ spec }: Deployment, desired: number): { surge: number; unavailable: number } {
  const rolling = (spec?.strategy?.['rollingUpdate'] ?? {}) as {
    maxSurge?: number | string
    maxUnavailable?: number | string
  }
  const surge = share(rolling.maxSurge ?? '25%', desired, 'up')
  const unavailable = share(rolling.maxUnavailable ?? '25%', desired, 'down')
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable }
}

const replicas = (set: ReplicaSet): number => set.spec?.replicas ?? 0
const available = (set: ReplicaSet): number => Math.min(replicas(set), set.status?.availableReplicas ?? 0)
const sum = (sets: readonly ReplicaSet[], of: (set: ReplicaSet) => number): number =>
  sets.reduce((all, set) => all + of(set), 0)
