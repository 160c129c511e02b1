/** A VM that is to be moved or restarted, and what its turn depends on: under 200 bytes, for there may be 100,000. */
export interface Candidate {
  /** `namespace/name`, of the VM and of its VMI. */
  vm: string
  /** Of the VMI as it was seen last. */
  uid: string
  node?: string
  by: 'migration' | 'restart'
  /** Value of `--wave-by`; empty where it has none. */
  wave: string
  /** Meant by `--canary-label`. */
  canary: boolean
  /** What it must not be interrupted together with (night W4). */
  apart?: string
  /** Bytes of the guest. */
  memory: number
  /** ms since the epoch: when the VMI was made. */
  bornAt: number
  /** ms: how long the guest may take to shut down. Of a restart. */
  grace?: number
  /** Only the restart itself starts it again: were that lost, it would stay down (facts 3.4). */
  onlyOnce?: boolean
}
