/**
 * What there is to say where a Subscription names a CSV as installed and there is none: somebody deleted it. OLM resolves from what it finds, and what it found
 * installed it does not make again (ocp 2.3; played on the simulator in trap 11).
 */
export const goneCsv = (subscription: string, csv: string): string =>
  `subscription ${subscription} names ${csv} as installed, and there is no such ClusterServiceVersion: OLM does not make it again by itself`

/** What is there instead. */
export const showsWithoutCsv = (namespace: string): string =>
  `kubectl -n ${namespace} get csv,installplans,subscriptions.operators.coreos.com`
