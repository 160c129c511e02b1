import { atVersion } from '../../cluster/kind.ts'
import type { CustomResourceDefinition } from '../../cluster/kinds/extension.ts'
import { HyperConvergeds } from '../../cluster/kinds/hyperconverged.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { byPriority } from '../api/custom-kinds.ts'
import { custom } from '../api/kinds/make-kind.ts'
import type { SimKind } from '../api/sim-kind.ts'
import { type HyperConvergedShape, versioningOf } from './versions.ts'

const name = 'kubevirt-hyperconverged'
const uid = 'c0ffee00-0000-4000-8000-000000000001'

/** The KubeVirt that a HyperConverged makes (hco 5). */
const managedKubeVirt = 'kubevirt-kubevirt-hyperconverged'

/** Has to be there before the CRD, which knows nothing of what its versions default. */
export function hyperConvergedKind(shape: HyperConvergedShape): SimKind {
  return custom(atVersion(HyperConvergeds, shape.stored), {
    shortNames: ['hco', 'hcos'],
    versions: byPriority(shape.served),
    versioning: versioningOf(shape),
  })
}

/** The CRD and its one object, as stored. `methods` absent: as the server defaults them. */
export function hyperConvergedObjects(
  shape: HyperConvergedShape,
  { namespace, methods }: { namespace: string; methods: readonly string[] | undefined },
): KubeObject[] {
  const apiVersion = `hco.kubevirt.io/${shape.stored}`
  const given = methods && { workloadUpdateStrategy: { workloadUpdateMethods: [...methods] } }
  const spec = shape.stored === 'v1' ? { virtualization: given ?? {} } : (given ?? {})
  const hyperconverged: KubeObject & { spec: object } = {
    apiVersion,
    kind: HyperConvergeds.kind,
    metadata: { name, namespace, uid },
    spec,
  }
  return [definition(shape), versioningOf(shape).accept(hyperconverged, apiVersion)]
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
    metadata: { ...kubevirt.metadata, name: managedKubeVirt, labels, ownerReferences: [owner] },
  }
}

function definition({ stored, served, conversion }: HyperConvergedShape): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'hyperconvergeds.hco.kubevirt.io' },
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
