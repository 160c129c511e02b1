import { atVersion } from '../../cluster/kind.ts'
import type { CustomResourceDefinition } from '../../cluster/kinds/extension.ts'
import { HyperConvergeds } from '../../cluster/kinds/hyperconverged.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { byPriority } from '../api/custom-kinds.ts'
import { custom } from '../api/kinds/make-kind.ts'
import type { SimKind } from '../api/sim-kind.ts'
import { names } from './names.ts'
import { type HyperConvergedShape, shapeOf, versioningOf } from './versions.ts'

const name = names.hyperconverged
const uid = 'c0ffee00-0000-4000-8000-000000000001'

/** Has to be there before the CRD, which knows nothing of what its versions default. */
export function hyperConvergedKind(shape: HyperConvergedShape): SimKind {
  return custom(atVersion(HyperConvergeds, shape.stored), {
    shortNames: ['hco', 'hcos'],
    versions: byPriority(shape.served),
    versioning: versioningOf(shape),
    versioningBy: (definition) => versioningOf(shapeOf(definition)),
  })
}

/** The one object, as stored. What the strategy does not say the server defaults. */
export function hyperConvergedObject(
  shape: HyperConvergedShape,
  { namespace, strategy }: { namespace: string; strategy: object },
): KubeObject {
  const apiVersion = `hco.kubevirt.io/${shape.stored}`
  const given = { workloadUpdateStrategy: strategy }
  const hyperconverged: KubeObject & { spec: object } = {
    apiVersion,
    kind: HyperConvergeds.kind,
    metadata: { name, namespace, uid },
    spec: shape.stored === 'v1' ? { virtualization: given } : given,
  }
  return versioningOf(shape).accept(hyperconverged, apiVersion)
}

/** As its operator marks what it made. */
export function ownedByHyperConverged(kubevirt: KubeVirt, { stored }: HyperConvergedShape): KubeVirt {
  const apiVersion = `hco.kubevirt.io/${stored}`
  const owner = {
    apiVersion,
    kind: HyperConvergeds.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  }
  const labels = { ...kubevirt.metadata.labels, 'app.kubernetes.io/managed-by': 'hco-operator' }
  return {
    ...kubevirt,
    metadata: { ...kubevirt.metadata, name: names.kubevirt, labels, ownerReferences: [owner] },
  }
}

/** The CRD of HyperConverged, as a release keeps it. */
export function hyperConvergedDefinition({
  stored,
  served,
  conversion,
}: HyperConvergedShape): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: names.definition },
    spec: {
      group: 'hco.kubevirt.io',
      scope: 'Namespaced',
      conversion: { strategy: conversion },
      names: {
        kind: HyperConvergeds.kind,
        plural: HyperConvergeds.plural,
        singular: 'hyperconverged',
        listKind: 'HyperConvergedList',
        shortNames: ['hco', 'hcos'],
      },
      versions: served.map((version) => ({
        name: version,
        served: true,
        storage: version === stored,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: { status: {} },
      })),
    },
  }
}
