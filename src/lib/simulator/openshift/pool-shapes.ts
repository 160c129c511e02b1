import type { OpenShiftShape, PoolShape } from './shape.ts'

const usual: readonly PoolShape[] = [
  { name: 'master', nodes: 3 },
  { name: 'worker', nodes: 3 },
]
const single: readonly PoolShape[] = [
  { name: 'master', nodes: 1 },
  { name: 'worker', nodes: 0 },
]
const hosted: readonly PoolShape[] = [{ name: 'worker', nodes: 3 }]

/** Whose machines are there: as said, or as the topology has them. */
export function poolsOf({
  pools,
  topology,
}: Pick<OpenShiftShape, 'pools' | 'topology'>): readonly PoolShape[] {
  if (pools) return pools
  if (topology === 'SingleReplica') return single
  return topology === 'External' ? hosted : usual
}

export function nodeNames({ name, nodes }: PoolShape): readonly string[] {
  return typeof nodes === 'number' ? Array.from({ length: nodes }, (_, i) => `${name}-${i}`) : nodes
}
