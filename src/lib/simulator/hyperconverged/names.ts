/** Names that HyperConverged gives (ocp 1.1, 1.6). */
export const names = {
  hyperconverged: 'kubevirt-hyperconverged',
  kubevirt: 'kubevirt-kubevirt-hyperconverged',
  definition: 'hyperconvergeds.hco.kubevirt.io',
} as const

/** Of the pods of its operators: the label `name` (ocp 1.1). */
export const podNames = {
  operator: 'hyperconverged-cluster-operator',
  webhook: 'hyperconverged-cluster-webhook',
} as const
