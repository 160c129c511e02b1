import { alertsProxy } from '../facts/openshift/firing-alerts.ts'
import type { Row } from './right.ts'

const olm = 'operators.coreos.com'
const platform = 'config.openshift.io'
const read = 'get list watch'
const status = { optional: true, onlyStatus: true } as const
const layers = 'show where the platform stands, on OKD and OpenShift'
const operator = 'show where the operator of HyperConverged stands'
const window = 'say what an EUS window needs'
/** What has to be acknowledged, and the certificate that paused pools miss before 4.14. */
const eusConfigMaps = 'admin-gates admin-acks kube-apiserver-to-kubelet-client-ca'

/** What is above KubeVirt: `kvup status` shows it, `kvup eus plan` plans by it, and nothing else fails for lack of it. */
export const aboveRights: readonly Row[] = [
  ['cluster', platform, 'clusterversions clusteroperators', read, layers, status],
  ['cluster', 'machineconfiguration.openshift.io', 'machineconfigpools', read, layers, status],
  ['cluster', platform, 'infrastructures', 'list', window, status],
  ['cluster', '', 'services/proxy', 'get', 'say which alerts fire', { ...status, names: alertsProxy }],
  ['cluster', '', 'configmaps', 'get', window, { ...status, names: eusConfigMaps }],
  ['cluster', 'apiserver.openshift.io', 'apirequestcounts', 'list', window, status],
  ['cluster', 'machine.openshift.io', 'machinehealthchecks', 'get', window, status],
  ['cluster', 'remediation.medik8s.io', 'nodehealthchecks', 'get', window, status],
  ['cluster', 'nodemaintenance.medik8s.io', 'nodemaintenances', 'list', window, status],
  ['cluster', 'nodemaintenance.kubevirt.io', 'nodemaintenances', 'list', window, status],
  ['cluster', 'hco.kubevirt.io', 'hyperconvergeds', read, operator, status],
  ['cluster', olm, 'subscriptions catalogsources', read, operator, status],
  ['kubevirt', olm, 'installplans clusterserviceversions', read, operator, status],
  ['kubevirt', olm, 'operatorconditions operatorgroups', read, operator, status],
  ['cluster', 'packages.operators.coreos.com', 'packagemanifests', 'list', window, status],
  ['cluster', 'olm.operatorframework.io', 'clusterextensions', 'list', operator, status],
]
