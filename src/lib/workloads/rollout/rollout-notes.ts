import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { versionOf } from '../../releases/version.ts'
import { methodsOf } from '../update-methods.ts'
import type { RolloutOrigin } from './rollout-origin.ts'
import { liveUpdateGate, type VmRollout } from './vm-rollout.ts'

/** What a strategy means, in a sentence (facts 5). */
export const meaning = {
  Stage: 'a change of a running VM waits for its restart',
  LiveUpdate:
    'CPU sockets, memory, node selector, affinity and tolerations reach a running VM; all else waits for its restart',
} as const

/** What the version at hand makes of the field, and what would change it. Pure. */
export function rolloutNotes(
  kubevirt: KubeVirt,
  rollout: VmRollout,
  origin: RolloutOrigin,
): readonly string[] {
  return [
    ...fieldNotes(kubevirt, rollout),
    ...gateNotes(kubevirt, rollout),
    ...defaultNotes(rollout, origin),
    ...migrationNotes(kubevirt, rollout),
    ...ownerNotes(origin),
  ]
}

const versionText = ({ status }: KubeVirt): string =>
  versionOf(status?.observedKubeVirtVersion)?.text ?? 'of unknown version'

function fieldNotes(kubevirt: KubeVirt, { served, gate }: VmRollout): readonly string[] {
  if (served) return []
  const gated =
    gate.needed && gate.listed
      ? `; its feature gate ${liveUpdateGate} is on, so that VMs with spec.liveUpdateFeatures get changes of CPU and memory live`
      : ''
  return [`KubeVirt ${versionText(kubevirt)} has no vmRolloutStrategy, which came with v1.2${gated}`]
}

function gateNotes(kubevirt: KubeVirt, { served, configured, gate }: VmRollout): readonly string[] {
  if (!gate.needed)
    return gate.listed && served ? [`the feature gate ${liveUpdateGate} does nothing since v1.5`] : []
  if (configured !== 'LiveUpdate' || gate.listed) return []
  return [
    `LiveUpdate is ignored: KubeVirt ${versionText(kubevirt)} needs the feature gate ${liveUpdateGate} for it, which is not on`,
    'kvup rollout set LiveUpdate --add-gate     adds it',
  ]
}

function defaultNotes({ configured, byDefault }: VmRollout, { from }: RolloutOrigin): readonly string[] {
  if (configured !== undefined || from !== 'default') return []
  if (byDefault === 'LiveUpdate') return ['LiveUpdate is the default since v1.6; before it was Stage']
  return [
    'from v1.6 on the default is LiveUpdate: an upgrade to it changes what holds here',
    'kvup rollout set Stage     keeps it as it is',
  ]
}

/** The workload updater carries live changes out (facts 5, issue 17329). */
function migrationNotes(kubevirt: KubeVirt, { inEffect }: VmRollout): readonly string[] {
  if (inEffect === 'Stage' || methodsOf(kubevirt).includes('LiveMigrate')) return []
  return [
    'changes of CPU and memory are carried out as migrations, and LiveMigrate is not among the workload update methods: they wait',
    'kvup workloads strategy show     shows the methods, and whether they are held',
  ]
}

/** Night W10. */
function ownerNotes({ from, unread }: RolloutOrigin): readonly string[] {
  if (from === 'annotation')
    return [
      'the annotation kubevirt.kubevirt.io/jsonpatch of the HyperConverged sets it, which taints it (TaintedConfiguration, UnsupportedFeatureAnnotation)',
    ]
  if (from !== 'HyperConverged') return []
  return [
    'HyperConverged fixes it to LiveUpdate',
    ...(unread === undefined ? [] : [`whether its annotation overrides that is not known: ${unread}`]),
  ]
}
