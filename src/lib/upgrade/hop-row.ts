import type { Step } from '../procedure/step.ts'

/** What the ids of the steps of a hop end in, of which a run has several: `virt-handler-v1.7.4`. */
export const idIn = (id: string, hop: string): string => `${id}-${hop}`

/** The id without the hop that it ends in. */
export function idWithout(id: string, hops: readonly string[]): string {
  const hop = hops.find((one) => id.endsWith(`-${one}`))
  return hop === undefined ? id : id.slice(0, -hop.length - 1)
}

/** Steps as the row of one hop: the time of the run counts for each hop anew. By OLM a hop is a release of the operator, else a minor of KubeVirt. */
export const ofHop = (steps: readonly Step[], hop: string): readonly Step[] =>
  steps.map((step) => ({ ...step, hop }))

/** The same, where the ids do not name the hop yet: they and what they build on are named by it. */
export const namedByHop = (steps: readonly Step[], hop: string): readonly Step[] =>
  ofHop(
    steps.map((step) => ({
      ...step,
      id: idIn(step.id, hop),
      ...(step.dependsOn && { dependsOn: step.dependsOn.map((id) => idIn(id, hop)) }),
    })),
    hop,
  )
