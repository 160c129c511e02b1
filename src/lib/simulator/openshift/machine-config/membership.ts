import type { Node } from '../../../cluster/kinds/core.ts'
import type { MachineConfigPool } from '../../../cluster/kinds/openshift.ts'

/** The pool that a node is managed by: master before a custom pool, a custom pool before worker (ocp 3.5). */
export function poolOf(node: Node, pools: readonly MachineConfigPool[]): MachineConfigPool | undefined {
  const mine = pools.filter((pool) => selects(pool, node))
  const named = (name: string): MachineConfigPool | undefined =>
    mine.find(({ metadata }) => metadata.name === name)
  const custom = mine.find(({ metadata }) => metadata.name !== 'master' && metadata.name !== 'worker')
  return named('master') ?? custom ?? named('worker')
}

function selects({ spec }: MachineConfigPool, { metadata }: Node): boolean {
  const wanted = Object.entries(spec?.nodeSelector?.matchLabels ?? {})
  return wanted.length > 0 && wanted.every(([key, value]) => metadata.labels?.[key] === value)
}
