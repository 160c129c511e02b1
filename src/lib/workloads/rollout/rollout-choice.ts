import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { versionOf } from '../../releases/version.ts'
import { meaning } from './rollout-notes.ts'
import type { WantedRollout } from './set-rollout.ts'
import { revertingClears, type RolloutStrategy, vmRolloutOf } from './vm-rollout.ts'

/** What a choice means for the VMs that run, said before the question (facts 5, derived from it). Pure. */
export function rolloutChoice(kubevirt: KubeVirt, wanted: WantedRollout['strategy']): readonly string[] {
  const { inEffect, byDefault } = vmRolloutOf(kubevirt)
  const strategy = wanted === 'default' ? byDefault : wanted
  return [`${strategy}: ${meaning[strategy]}`, ...(strategy === inEffect ? [] : waiting(kubevirt)[strategy])]
}

function waiting({ status }: KubeVirt): Record<RolloutStrategy, string[]> {
  const seen = revertingClears(versionOf(status?.observedKubeVirtVersion))
  return {
    Stage: ['from now on a change of a running VM makes it RestartRequired'],
    LiveUpdate: [
      seen
        ? 'VMs that wait only for CPU, memory or placement get it at once, most of them by a migration'
        : 'VMs that are RestartRequired already stay so until they are restarted',
      'kvup rollout restart-required     shows them',
    ],
  }
}
