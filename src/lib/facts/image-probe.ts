/** What became of one image on one pool of nodes (night C6). */
export interface ImageProbe {
  /** Components that it is for: `virt-launcher`. */
  of: readonly string[]
  /** Absent where it cannot be told which image it would be. */
  image?: string
  /** False where only an extra feature would lack it, and no update waits for it. */
  needed: boolean
  /** Names of the nodes of the pool, and the one that was asked. */
  nodes: readonly string[]
  node?: string
  /** `untried`: nothing is known of it. */
  is: 'pulled' | 'refused' | 'untried'
  /** Where it is not `pulled`: in a few words. */
  why?: string
  /** What the registry or the node said. */
  message?: string
}
