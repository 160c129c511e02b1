import { type Condition, type KubeObject, clusterKind, namespacedKind } from '../object.ts'
import type { PolicyRule } from './extension-kinds.ts'

/** Kinds of the Operator Lifecycle Manager, generation 0 (ocp 2). */
const group = 'operators.coreos.com'

/** What OLM keeps installed and from which channel (ocp 2.1). Found by its package, `spec.name`, never by its own name. */
export interface Subscription extends KubeObject {
  spec?: {
    /** The package. */
    name?: string
    channel?: string
    /** The CatalogSource. */
    source?: string
    sourceNamespace?: string
    startingCSV?: string
    installPlanApproval?: 'Automatic' | 'Manual'
  }
  status?: {
    currentCSV?: string
    installedCSV?: string
    installPlanRef?: { apiVersion?: string; kind?: string; name?: string; namespace?: string; uid?: string }
    installPlanGeneration?: number
    /** `UpgradePending`, `AtLatestKnown`, `UpgradeFailed`, ``. */
    state?: string
    conditions?: Condition[]
    catalogHealth?: {
      healthy?: boolean
    }[]
    lastUpdated?: string
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
  status?: {
    /** ``, `Planning`, `RequiresApproval`, `Installing`, `Complete`, `Failed`; the last two are final. */
    phase?: string
    conditions?: (Condition & { lastUpdateTime?: string })[]
    catalogSources?: string[]
    plan?: InstallStep[]
    bundleLookups?: unknown[]
    message?: string
    startTime?: string
  }
}

export interface InstallStep {
  /** The CSV that it belongs to. */
  resolving?: string
  /** `Unknown`, `NotPresent`, `Present`, `Created`, `WaitingForApi`, `UnsupportedResource`. */
  status?: string
  resource?: {
    version?: string
    kind?: string
    name?: string
    sourceNamespace?: string
    /** JSON of the object, or of a reference to a ConfigMap that has it. */
    manifest?: string
  }
}

/** A version of an operator as OLM installs it (ocp 2.4). */
export interface ClusterServiceVersion extends KubeObject {
  spec?: {
    version?: string
    replaces?: string
    skips?: string[]
    displayName?: string
    install?: {
      strategy?: string
      spec?: {
        deployments?: { name?: string; spec?: unknown }[]
        /** OLM makes ClusterRoles and bindings of them, of hashed names. */
        clusterPermissions?: { serviceAccountName?: string; rules?: PolicyRule[] }[]
        /** Roles and bindings of its own namespace. */
        permissions?: { serviceAccountName?: string; rules?: PolicyRule[] }[]
      }
    }
    customresourcedefinitions?: { owned?: { name?: string; kind?: string; version?: string }[] }
    /** OLM makes their certificates. */
    webhookdefinitions?: {
      type?: string
      generateName?: string
      deploymentName?: string
      admissionReviewVersions?: string[]
      sideEffects?: string
    }[]
    relatedImages?: { name?: string; image?: string }[]
    installModes?: { type?: string; supported?: boolean }[]
  }
  status?: {
    /** ``, `Pending`, `InstallReady`, `Installing`, `Succeeded`, `Failed`, `Unknown`, `Replacing`, `Deleting`. */
    phase?: string
    reason?: string
    message?: string
    lastTransitionTime?: string
    requirementStatus?: {
      name?: string
      status?: string
      message?: string
    }[]
    /** RFC 3339: when OLM made the certificates of its webhooks. */
    certsLastUpdated?: string
    /** The history of its phases, the last 20; no typed conditions. */
    conditions?: { phase?: string; reason?: string; message?: string; lastTransitionTime?: string }[]
  }
}

/** Where OLM takes operators from (ocp 2.6). */
export interface CatalogSource extends KubeObject {
  spec?: {
    image?: string
    displayName?: string
  }
  status?: {
    connectionState?: { lastObservedState?: string; address?: string; lastConnect?: string }
    reason?: string
    message?: string
  }
}

/** Bears the name of its CSV (ocp 1.8, 2.5). */
export interface OperatorCondition extends KubeObject {
  spec?: { conditions?: Condition[]; overrides?: Condition[]; deployments?: string[] }
  status?: { conditions?: (Condition & { observedGeneration?: number })[] }
}

/** Exactly one in a namespace (ocp 2.6). */
export interface OperatorGroup extends KubeObject {
  spec?: { targetNamespaces?: string[]; upgradeStrategy?: string }
  status?: { namespaces?: string[]; lastUpdated?: string }
}

/** An aggregated API, without CRD (ocp 2.6); has no edges. */
export interface PackageManifest extends KubeObject {
  status?: {
    catalogSource?: string
    catalogSourceNamespace?: string
    packageName?: string
    defaultChannel?: string
    channels?: PackageChannel[]
  }
}

export interface PackageChannel {
  name?: string
  currentCSV?: string
  currentCSVDesc?: { version?: string; annotations?: Record<string, string> }
  entries?: { name?: string; version?: string }[]
}

/** OLM v1 (ocp 2.9). */
export interface ClusterExtension extends KubeObject {
  spec?: { source?: { catalog?: { packageName?: string } } }
}

export const Subscriptions = namespacedKind<Subscription>(`${group}/v1alpha1`, 'Subscription')

export const InstallPlans = namespacedKind<InstallPlan>(`${group}/v1alpha1`, 'InstallPlan')

export const ClusterServiceVersions = namespacedKind<ClusterServiceVersion>(
  `${group}/v1alpha1`,
  'ClusterServiceVersion',
)

export const CatalogSources = namespacedKind<CatalogSource>(`${group}/v1alpha1`, 'CatalogSource')

export const OperatorConditions = namespacedKind<OperatorCondition>(`${group}/v2`, 'OperatorCondition')

export const OperatorGroups = namespacedKind<OperatorGroup>(`${group}/v1`, 'OperatorGroup')

export const PackageManifests = namespacedKind<PackageManifest>(
  'packages.operators.coreos.com/v1',
  'PackageManifest',
)

export const ClusterExtensions = clusterKind<ClusterExtension>(
  'olm.operatorframework.io/v1',
  'ClusterExtension',
)

/** Copies of CSVs in other namespaces carry it (ocp 2.7). */
export const copiedFromLabel = 'olm.copiedFrom'

/** v1 keeps below `spec.virtualization` what v1beta1 has at the top of the spec, so that nothing is promised of it here. */
export interface HyperConverged extends KubeObject {
  spec?: Readonly<Record<string, unknown>>
  /** The same in both versions (ocp 1.5). */
  status?: {
    conditions?: (Condition & { observedGeneration?: number })[]
    observedGeneration?: number
    /** `operator`: the release whose operands are all there; on a fresh installation at once. */
    versions?: { name?: string; version?: string }[]
    relatedObjects?: { apiVersion?: string; kind?: string; name?: string; namespace?: string }[]
    systemHealthStatus?: string
    infrastructureHighlyAvailable?: boolean
  }
}

/** The one that is served by every release; name the version that is stored instead, see `storedHyperConverged`. */
export const HyperConvergeds = namespacedKind<HyperConverged>('hco.kubevirt.io/v1beta1', 'HyperConverged')
