import type { EusPlan } from '../../eus/eus-plan.ts'

/** `kvup.io/v1alpha1 EusPlan`: what `kvup eus plan` prints. */
export interface EusPlanDocument extends EusPlan {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'EusPlan'
  /** False: the platform and its operator are at the target, and nothing is paused. */
  pending: boolean
  /** Risks that were taken by name, why and by whom (`user@host`). */
  accepted: readonly { id: string; reason?: string; by?: string }[]
  /** The steps of `kvup eus run`, in order. */
  steps: readonly { id: string; title: string }[]
  /** The flags that it was made with. */
  request: Readonly<Record<string, unknown>>
  /** Ties the plan to the cluster that it was made for, by the uid of its namespace kube-system. */
  seal?: { uid: string; at: string; by: string; cluster: string }
  /** What to type to carry it out; nothing where it is done already, or would be refused. */
  next?: readonly string[]
}
