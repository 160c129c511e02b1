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
  /**
   * virt-handler rolls a second and a third time (facts 2.8): behind KubeVirt's own done, or as it was recorded with one worker
   * (operator-v1.6.0-v1.7.0-1w), before it.
   */
  moreHandlerRolls?: boolean | 'before done' | undefined
  /** The second roll never comes, as it was recorded with three workers (operator-v1.6.0-v1.7.0): the argument stays away. Switched off it comes. */
  noMigrationNames?: boolean | undefined
  /** From this minor on the release has a Deployment that nobody has heard of, whose pods bear no label `kubevirt.io`. */
  unknownComponent?: { readonly name: string; readonly since: number } | undefined
}
