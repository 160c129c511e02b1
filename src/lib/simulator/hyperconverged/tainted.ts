import type { Condition, KubeObject } from '../../cluster/object.ts'

/** Annotations on a HyperConverged that patch what it makes of a component (ocp 1.5). */
const annotations = [
  'kubevirt.kubevirt.io/jsonpatch',
  'containerizeddataimporter.kubevirt.io/jsonpatch',
  'networkaddonsconfigs.kubevirt.io/jsonpatch',
  'ssp.kubevirt.io/jsonpatch',
] as const

export type PatchAnnotation = (typeof annotations)[number]

/** The operations of one; empty where there are none, or none that can be read. */
export function patchIn({ metadata }: KubeObject, annotation: PatchAnnotation): readonly unknown[] {
  try {
    const operations: unknown = JSON.parse(metadata.annotations?.[annotation] ?? '[]')
    return Array.isArray(operations) ? operations : []
  } catch {
    return []
  }
}

/** There only while it is true. */
export function taintedCondition(hyperconverged: KubeObject): Condition[] {
  if (annotations.every((annotation) => patchIn(hyperconverged, annotation).length === 0)) return []
  return [
    {
      type: 'TaintedConfiguration',
      status: 'True',
      reason: 'UnsupportedFeatureAnnotation',
      message: 'Unsupported feature was activated via an HCO annotation',
    },
  ]
}
