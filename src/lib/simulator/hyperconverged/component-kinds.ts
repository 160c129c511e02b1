import type { Kind } from '../../cluster/kind.ts'
import type { CustomResourceDefinition } from '../../cluster/kinds/extension.ts'
import type { Condition, KubeObject } from '../../cluster/object.ts'
import { custom } from '../api/kinds/make-kind.ts'
import type { SimKind } from '../api/sim-kind.ts'
import type { ComponentKind } from './faults.ts'

/** A component beside KubeVirt that HyperConverged makes (ocp 1.5). */
export interface ComponentResource extends KubeObject {
  status?: {
    conditions?: Condition[]
    operatorVersion?: string
    targetVersion?: string
    observedVersion?: string
    observedGeneration?: number
  }
}

export interface Component {
  readonly kind: Kind<ComponentResource> & { readonly kind: ComponentKind }
  /** Of its one object. */
  readonly name: string
  /** Label `name` of its operator's pods. */
  readonly operator: string
}

/** In the order in which HyperConverged sees to them, behind KubeVirt. */
export const components: readonly Component[] = [
  {
    kind: { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'CDI', plural: 'cdis', namespaced: false },
    name: 'cdi-kubevirt-hyperconverged',
    operator: 'cdi-operator',
  },
  {
    kind: {
      apiVersion: 'networkaddonsoperator.network.kubevirt.io/v1',
      kind: 'NetworkAddonsConfig',
      plural: 'networkaddonsconfigs',
      namespaced: false,
    },
    name: 'cluster',
    operator: 'cluster-network-addons-operator',
  },
  {
    kind: { apiVersion: 'ssp.kubevirt.io/v1beta3', kind: 'SSP', plural: 'ssps', namespaced: true },
    name: 'ssp-kubevirt-hyperconverged',
    operator: 'ssp-operator',
  },
]

export function componentKinds(): SimKind[] {
  return components.map(({ kind }) => custom(kind))
}

/** As a bundle brings them. */
export function componentDefinitions(): CustomResourceDefinition[] {
  return components.map(({ kind }) => {
    const [group = '', version = ''] = kind.apiVersion.split('/')
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${kind.plural}.${group}` },
      spec: {
        group,
        scope: kind.namespaced ? 'Namespaced' : 'Cluster',
        names: { kind: kind.kind, plural: kind.plural, singular: kind.kind.toLowerCase() },
        versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
      },
    }
  })
}

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
