import type { HyperConvergedShape } from '../hyperconverged/versions.ts'

/** OLM in a cluster, and HyperConverged as what it installed (ocp 2). */
export interface OlmShape {
  /** The operator's, in which Subscription, OperatorGroup and KubeVirt are. */
  namespace: string
  package: string
  /** The Subscription's name; default `hco-operatorhub`. */
  subscription?: string
  channel: string
  approval: Approval
  /** The CatalogSource. */
  source: string
  sourceNamespace: string
  /** Version of the operator that is installed: one of the entries'. */
  installed: string
  /** The first is the package's default. */
  channels: readonly ChannelShape[]
  /** Operators that other Subscriptions installed, in the same namespace where nothing else is said. */
  others?: readonly OtherSubscription[]
  /** What the steps of a plan say: the objects, or which ConfigMap has them, as they do where bundles are images; default the objects. */
  manifests?: 'inline' | 'referenced'
  /** Default `quay.io/kubevirt`: where virt-operator's image is. */
  registry?: string
}

export type Approval = 'Manual' | 'Automatic'

export interface ChannelShape {
  name: string
  entries: readonly BundleShape[]
}

/** An entry of a channel, as a file-based catalog has it. */
export interface EntryShape {
  /** Of the CSV. */
  name: string
  version: string
  replaces?: string
  skips?: readonly string[]
  /** `>=4.17.0 <4.18.0`. */
  skipRange?: string
  /** Platform minor, `4.19`, from which on the catalog shows it; default always. */
  since?: string
  /** The last platform minor whose catalog shows it; default all. */
  until?: string
  /** The last platform minor on which it may stay (ocp 2.8). */
  maxOpenShiftVersion?: string
}

/** A release of HyperConverged. */
export interface BundleShape extends EntryShape {
  /** The version of KubeVirt that it brings: `v1.4.0`. */
  kubevirt: string
  /** Which versions its CRD stores and serves. */
  crd: HyperConvergedShape
}

interface OtherSubscription {
  /** Its name is that of the package. */
  package: string
  channel: string
  approval: Approval
  installed: string
  entries: readonly EntryShape[]
  /** Default that of HyperConverged. */
  namespace?: string
}
