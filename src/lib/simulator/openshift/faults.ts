import type { PoolShape } from './shape.ts'

/** What goes wrong with a platform and its machines. */
export interface OpenShiftFaults {
  /** Names of ClusterOperators that are Degraded, and do not get further in an update. */
  degradedOperators?: readonly string[] | undefined
  /** Names of ClusterOperators that do not finish their update, without a word. */
  slowOperators?: readonly string[] | undefined
  /** ClusterOperators that say Upgradeable=False: an update to another minor is refused. */
  notUpgradeable?: readonly NotUpgradeable[] | undefined
  /** The update service does not answer: no updates are known. */
  updatesNotRetrieved?: boolean | undefined
  /** Names of nodes on which a pod refuses to go. */
  undrainableNodes?: readonly string[] | undefined
  /** Names of nodes that do not come back from their reboot. */
  lostNodes?: readonly string[] | undefined
  /** How long a reboot takes, in ms; default three minutes. */
  rebootTime?: number | undefined
  /** Somebody adds this pool, with its nodes. */
  addedPool?: PoolShape | undefined
  /** Somebody unpauses these pools, once. */
  unpausedPools?: readonly string[] | undefined
  /** Alerts of what is not simulated here. */
  firing?: readonly { name: string; severity: string; namespace?: string }[] | undefined
}

interface NotUpgradeable {
  operator: string
  reason: string
  message: string
}
