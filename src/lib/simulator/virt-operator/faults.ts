import type { MachineryFaults } from '../machinery/faults.ts'

/** What goes wrong with virt-operator, besides what goes wrong with pods. */
export interface OperatorFaults extends MachineryFaults {
  /** Its ClusterRole lacks a rule: every pass ends in "forbidden". */
  withoutRights?: boolean | undefined
  /** Its processes hang: nobody renews the Lease, nobody answers. */
  stopped?: boolean | undefined
  /** Objects of this CRD are stored in a version of old, which a new CRD may not drop (facts 1.6). */
  storedVersion?: { readonly crd: string; readonly version: string } | undefined
  /** Its status writes are refused, "etcdserver: request is too large": the CR says nothing new any more (facts 8, 5462). */
  statusTooLarge?: boolean | undefined
  /** Four seconds after AllComponentsReady it fails once on its own cache, and heals (lab "Seen" 2). */
  blipAfterReady?: boolean | undefined
  /** virt-handler rolls a second and a third time after it looked finished (facts 2.8). */
  moreHandlerRolls?: boolean | undefined
}
