import type { KubeObject } from '../cluster/object.ts'

/** Who puts an object back when somebody else changes it. `name` is the owner's own name, where it can be told. */
export interface Manager {
  kind: 'plain' | 'hyperconverged' | 'olm' | 'helm' | 'gitops'
  /** `HyperConverged`, `ClusterServiceVersion`, `Helm release`, `Argo CD application`, … */
  owner?: string
  name?: string
  namespace?: string
}

type Finder = (object: KubeObject) => Manager | undefined

/** In this order: what rewrites soonest comes first. */
const finders: readonly Finder[] = [
  hyperconverged,
  argo,
  labelled('kustomize.toolkit.fluxcd.io', 'Flux Kustomization'),
  labelled('helm.toolkit.fluxcd.io', 'Flux HelmRelease'),
  fleet,
  olm,
  helm,
  byFieldManager,
]

/** Read from ownerReferences, labels, annotations and managedFields of one object; undefined when nobody is named. */
export function managerOf(object: KubeObject): Manager | undefined {
  for (const find of finders) {
    const manager = find(object)
    if (manager) return manager
  }
  return undefined
}

/** Its operator sets back what is written to the KubeVirt, and brings its version. */
export const isOfHyperConverged = (kubevirt: KubeObject): boolean =>
  managerOf(kubevirt)?.kind === 'hyperconverged'

function hyperconverged(object: KubeObject): Manager | undefined {
  const owner = object.metadata.ownerReferences?.find((reference) => reference.kind === 'HyperConverged')
  if (owner) return { kind: 'hyperconverged', owner: 'HyperConverged', name: owner.name }
  return label(object, 'app.kubernetes.io/managed-by') === 'hco-operator'
    ? { kind: 'hyperconverged', owner: 'HyperConverged' }
    : undefined
}

function argo(object: KubeObject): Manager | undefined {
  const owner = 'Argo CD application'
  // APPLICATION:GROUP/KIND:NAMESPACE/NAME; the application may be NAMESPACE_NAME.
  const tracked = annotation(object, 'argocd.argoproj.io/tracking-id')?.split(':')[0]
  const name = tracked ?? label(object, 'argocd.argoproj.io/instance')
  return name === undefined ? undefined : { kind: 'gitops', owner, name }
}

function labelled(prefix: string, owner: string): Finder {
  return (object) => {
    const name = label(object, `${prefix}/name`)
    const namespace = label(object, `${prefix}/namespace`)
    return name === undefined
      ? undefined
      : { kind: 'gitops', owner, name, ...(namespace ? { namespace } : {}) }
  }
}

function fleet(object: KubeObject): Manager | undefined {
  const name = annotation(object, 'objectset.rio.cattle.io/id')
  return name === undefined ? undefined : { kind: 'gitops', owner: 'Rancher Fleet bundle', name }
}

function olm(object: KubeObject): Manager | undefined {
  const name =
    label(object, 'olm.owner') ??
    object.metadata.ownerReferences?.find((reference) => reference.kind === 'ClusterServiceVersion')?.name
  return name === undefined ? undefined : { kind: 'olm', owner: 'ClusterServiceVersion', name }
}

function helm(object: KubeObject): Manager | undefined {
  const name = annotation(object, 'meta.helm.sh/release-name')
  const namespace = annotation(object, 'meta.helm.sh/release-namespace')
  if (name === undefined && label(object, 'app.kubernetes.io/managed-by') !== 'Helm') return undefined
  return {
    kind: 'helm',
    owner: 'Helm release',
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
  }
}

const fieldManagers: Readonly<Record<string, Manager>> = {
  'argocd-controller': { kind: 'gitops', owner: 'Argo CD application' },
  'argocd-application-controller': { kind: 'gitops', owner: 'Argo CD application' },
  argocd: { kind: 'gitops', owner: 'Argo CD application' },
  'kustomize-controller': { kind: 'gitops', owner: 'Flux Kustomization' },
  'helm-controller': { kind: 'gitops', owner: 'Flux HelmRelease' },
  fleetagent: { kind: 'gitops', owner: 'Rancher Fleet bundle' },
  helm: { kind: 'helm', owner: 'Helm release' },
}

function byFieldManager(object: KubeObject): Manager | undefined {
  for (const { manager = '' } of object.metadata.managedFields ?? []) {
    const found = Object.hasOwn(fieldManagers, manager) ? fieldManagers[manager] : undefined
    if (found) return found
  }
  return undefined
}

const label = (object: KubeObject, key: string): string | undefined => object.metadata.labels?.[key]
const annotation = (object: KubeObject, key: string): string | undefined => object.metadata.annotations?.[key]
