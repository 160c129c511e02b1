import type { Reader } from '../../lib/cluster/cluster.ts'
import type { Installation } from '../../lib/facts/installation.ts'
import type { VmRolloutDocument } from '../../lib/output/views/vm-rollout.ts'
import { meaning, rolloutNotes } from '../../lib/workloads/rollout/rollout-notes.ts'
import { rolloutOrigin } from '../../lib/workloads/rollout/rollout-origin.ts'
import { rolloutPath, vmRolloutOf } from '../../lib/workloads/rollout/vm-rollout.ts'

/** What is in effect by this look at the KubeVirt CR, and what its version makes of it. */
export async function rolloutDocument(
  reader: Reader,
  installation: Installation,
): Promise<VmRolloutDocument> {
  const { kubevirt, name, namespace } = installation
  const { inEffect, configured, byDefault, gate, served } = vmRolloutOf(kubevirt)
  const origin = await rolloutOrigin(reader, installation)
  const version = kubevirt.status?.observedKubeVirtVersion
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'VmRollout',
    kubevirt: { name, namespace, ...(version !== undefined && { version }) },
    strategy: inEffect,
    meaning: meaning[inEffect],
    origin: origin.from,
    ...(configured !== undefined && { configured }),
    byDefault,
    path: rolloutPath.join('.'),
    gate,
    notes: rolloutNotes(
      kubevirt,
      { inEffect, byDefault, gate, served, ...(configured && { configured }) },
      origin,
    ),
  }
}
