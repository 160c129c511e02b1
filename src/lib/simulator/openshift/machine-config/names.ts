const prefix = 'machineconfiguration.openshift.io'

/** What is said of a node's configuration on the node itself (ocp 3.5). */
export const nodeNote = {
  current: `${prefix}/currentConfig`,
  desired: `${prefix}/desiredConfig`,
  /** `Done`, `Working`, `Rebooting`, `Degraded`. */
  state: `${prefix}/state`,
  reason: `${prefix}/reason`,
  desiredDrain: `${prefix}/desiredDrain`,
  lastDrain: `${prefix}/lastAppliedDrain`,
} as const

/** On a rendered MachineConfig. */
export const renderNote = {
  by: `${prefix}/generated-by-controller-version`,
  release: `${prefix}/release-image-version`,
  /** Two with the same differ in name only: no machine has to restart for it. */
  content: 'simulator.kvup.io/content',
} as const
