/** What every Kubernetes object has; `spec` and `status` are narrowed per kind, in `kinds/`. */
export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: Metadata
}

export interface Metadata {
  name: string
  namespace?: string
  generateName?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  /** RFC 3339, as the server wrote it: nothing here is ever turned into a `Date`. */
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  ownerReferences?: OwnerReference[]
  managedFields?: ManagedField[]
}

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
}

export interface ManagedField {
  manager?: string
  operation?: string
  apiVersion?: string
  time?: string
  fieldsType?: string
  fieldsV1?: Record<string, unknown>
  subresource?: string
}

export interface Condition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason?: string
  message?: string
  lastTransitionTime?: string
  lastProbeTime?: string | null
}

/** The condition of that type, if the object has it. Absent and `Unknown` are different answers. */
export function condition(
  of: { status?: { conditions?: Condition[] } },
  type: string,
): Condition | undefined {
  return of.status?.conditions?.find((c) => c.type === type)
}
