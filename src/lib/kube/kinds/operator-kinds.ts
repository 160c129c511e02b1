import {
  type Condition,
  type Conditions,
  type Kind,
  type KubeObject,
  type Texts,
  clusterKind,
  namespacedKind,
} from '../object.ts'
import type { PolicyRule } from './extension-kinds.ts'

/** What OLM keeps installed and from which channel (ocp 2.1). Found by its package, `spec.name`, never by its own name; `source` is the CatalogSource. */
export interface Subscription extends KubeObject {
  spec?: Texts<'name' | 'channel' | 'source' | 'sourceNamespace' | 'startingCSV'> & {
    installPlanApproval?: 'Automatic' | 'Manual'
  }
  status?: Conditions &
    Texts<'currentCSV' | 'installedCSV' | 'lastUpdated'> & {
      installPlanRef?: Texts<'apiVersion' | 'kind' | 'name' | 'namespace' | 'uid'>
      installPlanGeneration?: number
      /** `UpgradePending`, `AtLatestKnown`, `UpgradeFailed`, ``. */
      state?: string
      catalogHealth?: { healthy?: boolean }[]
    }
}

/** What OLM is about to install, and waits for an approval of where that is Manual (ocp 2.2). */
export interface InstallPlan extends KubeObject {
  spec?: {
    approval?: 'Automatic' | 'Manual'
    approved?: boolean
    clusterServiceVersionNames?: string[]
    generation?: number
  }
  status?: Texts<'message' | 'startTime'> & {
    /** ``, `Planning`, `RequiresApproval`, `Installing`, `Complete`, `Failed`; the last two are final. */
    phase?: string
    conditions?: (Condition & { lastUpdateTime?: string })[]
    catalogSources?: string[]
    plan?: InstallStep[]
    bundleLookups?: unknown[]
  }
}

export interface InstallStep {
  /** The CSV that it belongs to. */
  resolving?: string
  /** `Unknown`, `NotPresent`, `Present`, `Created`, `WaitingForApi`, `UnsupportedResource`. */
  status?: string
  /** `manifest`: JSON of the object, or of a reference to a ConfigMap that has it. */
  resource?: Texts<'version' | 'kind' | 'name' | 'sourceNamespace' | 'manifest'>
}

type Permissions = { serviceAccountName?: string; rules?: PolicyRule[] }[]

/** A version of an operator as OLM installs it (ocp 2.4). */
export interface ClusterServiceVersion extends KubeObject {
  spec?: Texts<'version' | 'replaces' | 'displayName'> & {
    skips?: string[]
    install?: {
      strategy?: string
      spec?: {
        deployments?: { name?: string; spec?: unknown }[]
        /** OLM makes ClusterRoles and bindings of them, of hashed names. */
        clusterPermissions?: Permissions
        /** Roles and bindings of its own namespace. */
        permissions?: Permissions
      }
    }
    customresourcedefinitions?: { owned?: Texts<'name' | 'kind' | 'version'>[] }
    /** OLM makes their certificates. */
    webhookdefinitions?: (Texts<'type' | 'generateName' | 'deploymentName' | 'sideEffects'> & {
      admissionReviewVersions?: string[]
    })[]
    relatedImages?: Texts<'name' | 'image'>[]
    installModes?: { type?: string; supported?: boolean }[]
  }
  status?: Texts<'reason' | 'message' | 'lastTransitionTime'> & {
    /** ``, `Pending`, `InstallReady`, `Installing`, `Succeeded`, `Failed`, `Unknown`, `Replacing`, `Deleting`. */
    phase?: string
    requirementStatus?: Texts<'name' | 'status' | 'message'>[]
    /** RFC 3339: when OLM made the certificates of its webhooks. */
    certsLastUpdated?: string
    /** The history of its phases, the last 20; no typed conditions. */
    conditions?: Texts<'phase' | 'reason' | 'message' | 'lastTransitionTime'>[]
  }
}

/** Where OLM takes operators from (ocp 2.6). */
export interface CatalogSource extends KubeObject {
  spec?: Texts<'image' | 'displayName'>
  status?: Texts<'reason' | 'message'> & {
    connectionState?: Texts<'lastObservedState' | 'address' | 'lastConnect'>
  }
}

type Observed = { conditions?: (Condition & { observedGeneration?: number })[] }

/** Bears the name of its CSV (ocp 1.8, 2.5). */
export interface OperatorCondition extends KubeObject {
  spec?: Conditions & { overrides?: Condition[]; deployments?: string[] }
  status?: Observed
}

/** Exactly one in a namespace (ocp 2.6). */
export interface OperatorGroup extends KubeObject {
  spec?: { targetNamespaces?: string[]; upgradeStrategy?: string }
  status?: { namespaces?: string[]; lastUpdated?: string }
}

/** An aggregated API, without CRD (ocp 2.6); has no edges. */
export interface PackageManifest extends KubeObject {
  status?: Texts<'catalogSource' | 'catalogSourceNamespace' | 'packageName' | 'defaultChannel'> & {
    channels?: PackageChannel[]
  }
}

export interface PackageChannel extends Texts<'name' | 'currentCSV'> {
  currentCSVDesc?: { version?: string; annotations?: Record<string, string> }
  entries?: Texts<'name' | 'version'>[]
}

/** OLM v1 (ocp 2.9). */
export interface ClusterExtension extends KubeObject {
  spec?: { source?: { catalog?: { packageName?: string } } }
}

/** v1 keeps below `spec.virtualization` what v1beta1 has at the top of the spec, so that nothing is promised of it here. */
export interface HyperConverged extends KubeObject {
  spec?: Readonly<Record<string, unknown>>
  /** The same in both versions (ocp 1.5). */
  status?: Observed & {
    observedGeneration?: number
    /** `operator`: the release whose operands are all there; on a fresh installation at once. */
    versions?: Texts<'name' | 'version'>[]
    relatedObjects?: Texts<'apiVersion' | 'kind' | 'name' | 'namespace'>[]
    systemHealthStatus?: string
    infrastructureHighlyAvailable?: boolean
  }
}

/** Kinds of the Operator Lifecycle Manager, generation 0 (ocp 2). */
const olm = <T extends KubeObject>(kind: string, version = 'v1alpha1'): Kind<T> =>
  namespacedKind(`operators.coreos.com/${version}`, kind)

export const Subscriptions = olm<Subscription>('Subscription')
export const InstallPlans = olm<InstallPlan>('InstallPlan')
export const ClusterServiceVersions = olm<ClusterServiceVersion>('ClusterServiceVersion')
export const CatalogSources = olm<CatalogSource>('CatalogSource')
export const OperatorConditions = olm<OperatorCondition>('OperatorCondition', 'v2')
export const OperatorGroups = olm<OperatorGroup>('OperatorGroup', 'v1')
export const PackageManifests = namespacedKind<PackageManifest>(
  'packages.operators.coreos.com/v1',
  'PackageManifest',
)
export const ClusterExtensions = clusterKind<ClusterExtension>(
  'olm.operatorframework.io/v1',
  'ClusterExtension',
)
/** The one that is served by every release; name the version that is stored instead, see `storedHyperConverged`. */
export const HyperConvergeds = namespacedKind<HyperConverged>('hco.kubevirt.io/v1beta1', 'HyperConverged')

/** Copies of CSVs in other namespaces carry it (ocp 2.7). */
export const copiedFromLabel = 'olm.copiedFrom'
