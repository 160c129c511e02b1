import type { OpenShiftShape } from './shape.ts'

/** A ClusterOperator in an update: those of one level start together, once all of the level before are done. */
export interface OperatorPlace {
  name: string
  level: number
  /** How long its update takes, in minutes; machine-config takes what the masters take besides. */
  minutes: number
}

const level = (order: number, operators: Readonly<Record<string, number>>): OperatorPlace[] =>
  Object.entries(operators).map(([name, minutes]) => ({ name, level: order, minutes }))

/** In the order in which their manifests stand in a release: about 40 minutes before machine-config. */
const operatorList: readonly OperatorPlace[] = [
  ...level(1, { 'config-operator': 1 }),
  ...level(2, { etcd: 5 }),
  ...level(3, { 'kube-apiserver': 10 }),
  ...level(4, { 'kube-controller-manager': 5, 'kube-scheduler': 4 }),
  ...level(5, {
    'cloud-controller-manager': 2,
    'cluster-autoscaler': 1,
    'machine-api': 2,
    'machine-approver': 1,
    'openshift-apiserver': 4,
  }),
  ...level(6, {
    authentication: 6,
    baremetal: 1,
    'cloud-credential': 1,
    console: 3,
    'control-plane-machine-set': 1,
    'csi-snapshot-controller': 2,
    'image-registry': 2,
    ingress: 3,
    insights: 1,
    'kube-storage-version-migrator': 1,
    marketplace: 1,
    monitoring: 6,
    'node-tuning': 2,
    'openshift-controller-manager': 2,
    'openshift-samples': 1,
    'operator-lifecycle-manager': 2,
    'operator-lifecycle-manager-catalog': 2,
    'operator-lifecycle-manager-packageserver': 2,
    'service-ca': 1,
    storage: 3,
  }),
  ...level(7, { dns: 4, network: 7 }),
  ...level(8, { 'machine-config': 2 }),
]

/** A hosted control plane brings its own etcd and machines, which no operator here updates. */
export function operatorsOf({ topology }: Pick<OpenShiftShape, 'topology'>): readonly OperatorPlace[] {
  return topology === 'External' ? operatorList.filter(({ name }) => !elsewhere.has(name)) : operatorList
}

const elsewhere = new Set([
  'config-operator',
  'etcd',
  'cloud-controller-manager',
  'cluster-autoscaler',
  'machine-api',
  'machine-approver',
  'cloud-credential',
  'control-plane-machine-set',
  'machine-config',
])
