import type { HyperConverged } from '../../cluster/kinds/hyperconverged.ts'
import { type KubeVirt, KubeVirts } from '../../cluster/kinds/kubevirt.ts'
import { jsonPatch } from '../api/json-patch.ts'
import { names } from './names.ts'
import { passedOn, virtualizationOf } from './passed-on.ts'
import { patchIn } from './tainted.ts'

/** The KubeVirt that a HyperConverged makes (hco 1, 5, 6). Throws the Refusal of a jsonpatch annotation that does not apply. */
export function wantedKubeVirt(hyperconverged: HyperConverged): KubeVirt {
  const { metadata } = hyperconverged
  const { workloadUpdateStrategy, migrations } = passedOn(hyperconverged)
  const { evictionStrategy } = virtualizationOf(hyperconverged)
  const made: KubeVirt = {
    apiVersion: KubeVirts.apiVersion,
    kind: KubeVirts.kind,
    metadata: {
      name: names.kubevirt,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      labels: { app: names.hyperconverged, 'app.kubernetes.io/managed-by': 'hco-operator' },
      finalizers: ['foregroundDeleteKubeVirt'],
      ownerReferences: [ownerReference(hyperconverged)],
    },
    spec: {
      configuration: {
        developerConfiguration: { featureGates: ['VMExport'] },
        migrations,
        ...(evictionStrategy === undefined ? {} : { evictionStrategy }),
      },
      customizeComponents: {},
      imagePullPolicy: 'IfNotPresent',
      workloadUpdateStrategy,
    },
  }
  return jsonPatch(made, patchIn(hyperconverged, 'kubevirt.kubevirt.io/jsonpatch')) as KubeVirt
}

export function ownerReference({ apiVersion, kind, metadata }: HyperConverged) {
  const { name, uid = '' } = metadata
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}
