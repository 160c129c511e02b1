import type {
  ClusterServiceVersion,
  InstallPlan,
  OperatorCondition,
  Subscription,
} from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import { conditions, type Said } from '../platform/cluster-version.ts'

const apiVersion = 'operators.coreos.com/v1alpha1'
const namespace = 'openshift-cnv'
export const nameOf = (version: string) => `kubevirt-hyperconverged-operator.v${version}`

export function subscription(
  status: Subscription['status'] = {},
  said: readonly Said[] = [],
  spec: Subscription['spec'] = {},
): Subscription {
  return {
    apiVersion,
    kind: 'Subscription',
    metadata: { name: 'hco-operatorhub', namespace },
    spec: {
      name: 'kubevirt-hyperconverged',
      channel: 'stable',
      source: 'redhat-operators',
      sourceNamespace: 'openshift-marketplace',
      installPlanApproval: 'Manual',
      ...spec,
    },
    status: { state: 'AtLatestKnown', conditions: conditions(said), ...status },
  }
}

export function csv(
  version: string,
  status: ClusterServiceVersion['status'],
  spec: ClusterServiceVersion['spec'] = {},
): ClusterServiceVersion {
  return {
    apiVersion,
    kind: 'ClusterServiceVersion',
    metadata: { name: nameOf(version), namespace, creationTimestamp: '2026-11-20T07:00:00Z' },
    spec: { version, ...spec },
    ...(status && { status }),
  }
}

export function installPlan(
  phase: string,
  spec: InstallPlan['spec'] = {},
  status: InstallPlan['status'] = {},
): InstallPlan {
  return {
    apiVersion,
    kind: 'InstallPlan',
    metadata: { name: 'install-abcde', namespace, uid: 'u1' },
    spec: { approval: 'Manual', approved: false, clusterServiceVersionNames: [nameOf('4.19.8')], ...spec },
    status: { phase, ...status },
  }
}

export function operatorCondition(
  parts: Pick<OperatorCondition, 'spec' | 'status'>,
  generation = 2,
): OperatorCondition {
  return {
    apiVersion: 'operators.coreos.com/v2',
    kind: 'OperatorCondition',
    metadata: { name: nameOf('4.18.9'), namespace, generation },
    ...parts,
  }
}
