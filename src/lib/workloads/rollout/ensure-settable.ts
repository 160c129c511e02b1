import type { Installation } from '../../facts/installation.ts'
import { versionOf } from '../../releases/version.ts'
import { blocked, usageError } from '../../system/errors.ts'
import { jsonpatchAnnotation } from './rollout-origin.ts'
import type { WantedRollout } from './set-rollout.ts'
import { liveUpdateGate, type VmRollout, vmRolloutOf } from './vm-rollout.ts'

/** Throws where what would be written has no effect or does not last (night W10): `blocked`, and `usage` for a gate that is not needed. */
export function ensureSettable(installation: Installation, wanted: WantedRollout): void {
  const { kubevirt, manager } = installation
  const { served, gate } = vmRolloutOf(kubevirt)
  const version = versionOf(kubevirt.status?.observedKubeVirtVersion)?.text ?? 'of unknown version'
  if (manager.kind === 'hyperconverged') throw fixed(installation, wanted)
  if (!served)
    throw blocked(
      'rollout-not-served',
      `KubeVirt ${version} has no vmRolloutStrategy, which came with v1.2`,
      {
        remedy: 'kvup releases     shows what there is to upgrade to',
      },
    )
  if (wanted.gate && !gate.needed)
    throw usageError('gate-not-needed', `KubeVirt ${version} needs no feature gate ${liveUpdateGate}`, {
      remedy: `kvup rollout set ${wanted.strategy}`,
    })
  if (isIgnored(vmRolloutOf(kubevirt), wanted)) throw ignored(version)
}

function isIgnored({ gate, byDefault }: VmRollout, wanted: WantedRollout): boolean {
  const strategy = wanted.strategy === 'default' ? byDefault : wanted.strategy
  return strategy === 'LiveUpdate' && gate.needed && !gate.listed && !wanted.gate
}

function ignored(version: string): Error {
  return blocked(
    'rollout-gate-missing',
    `KubeVirt ${version} ignores LiveUpdate without the feature gate ${liveUpdateGate}, which is not on`,
    { remedy: 'kvup rollout set LiveUpdate --add-gate     adds it in the same patch' },
  )
}

/** Its operator compares the whole spec of the KubeVirt and overwrites what differs (hco 6). */
function fixed(
  { manager, namespace, name }: Installation,
  { strategy }: Pick<WantedRollout, 'strategy'>,
): Error {
  const object = `hyperconvergeds.hco.kubevirt.io/${manager.name ?? 'kubevirt-hyperconverged'}`
  const patch = '[{"op":"add","path":"/spec/configuration/vmRolloutStrategy","value":"Stage"}]'
  const stage = strategy === 'Stage'
  return blocked(
    'rollout-fixed-by-hyperconverged',
    `HyperConverged fixes the VM rollout strategy to LiveUpdate and overwrites what is written to kubevirts/${name}`,
    {
      object: `${object} in namespace ${namespace}`,
      notes: stage
        ? [
            `only its annotation ${jsonpatchAnnotation} overrides that, beside what it patches already; it taints the HyperConverged (TaintedConfiguration, UnsupportedFeatureAnnotation) and has to go before an upgrade`,
          ]
        : ['LiveUpdate is what it passes on by itself'],
      remedy: stage
        ? `kubectl -n ${namespace} annotate ${object} '${jsonpatchAnnotation}=${patch}'`
        : 'kvup rollout show     shows what is in effect',
    },
  )
}
