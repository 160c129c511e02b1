/** By which the journal and the notes on objects know the upgrade to a release of KubeVirt. */
export const upgradeName = (to: string): string => `upgrade to ${to}`

/** The same of a release of the operator of HyperConverged. */
export const olmUpgradeName = (to: string): string => `upgrade HyperConverged to ${to}`

/** Whether that procedure is an upgrade, to whatever release. */
export const isUpgradeName = (procedure: string): boolean =>
  /^upgrade (?:HyperConverged )?to /u.test(procedure)
