import { valueAt } from '../../cluster/apply/field-path.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { lastWriter } from '../../procedure/last-writer.ts'
import type { Step, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import { readOwner } from '../find-owner.ts'
import { onKubeVirt, patchAt } from '../strategy/owner.ts'
import { type Owner, showWriters } from '../update-methods.ts'
import { gatesIn, gatesPath, liveUpdateGate, type RolloutStrategy, rolloutPath } from './vm-rollout.ts'

/** What the fields of the KubeVirt CR are to say. */
export interface WantedRollout {
  /** `default`: the field is taken out. */
  strategy: RolloutStrategy | 'default'
  /** The feature gate comes with it, in the same patch (night W10). */
  gate: boolean
}

const below = { strategy: rolloutPath.slice(0, -1), gates: gatesPath.slice(0, -1) }

/** Writes strategy and gate in one patch; refused where somebody else wrote since they were read. */
export function setRollout(owner: Owner, wanted: WantedRollout): Step {
  return {
    id: 'set-rollout-strategy',
    title: 'set what a change of a running VM does',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: seconds,
    follows: [],
    risk: { undo: 'kvup rollout set with the former strategy', safeToLeave: 'always' },
    async check({ reader }): Promise<StepState> {
      const missing = differencesFrom(await readOwner(reader, owner), wanted)
      return missing.length === 0 ? { is: 'done' } : { is: 'todo', change: `set ${missing.join('; ')}` }
    },
    shows: showWriters(owner),
    blame: async ({ reader }, after) =>
      lastWriter(await readOwner(reader, owner), `/${rolloutPath.join('/')}`, after),
    async apply({ reader, writer }) {
      const kubevirt = await readOwner(reader, owner)
      const { kind, ref } = onKubeVirt(owner)
      await writer.mergePatch(kind, ref, patchFor(kubevirt, wanted))
    },
  }
}

function patchFor(kubevirt: KubeVirt, { strategy, gate }: WantedRollout) {
  const gates = gatesIn(kubevirt)
  const added = gate && !gates.includes(liveUpdateGate) ? { featureGates: [...gates, liveUpdateGate] } : {}
  const vmRolloutStrategy = strategy === 'default' ? null : strategy
  return patchAt(
    [
      [below.strategy, { vmRolloutStrategy }],
      [below.gates, added],
    ],
    kubevirt,
  )
}

/** In words; none where it is so already. Null is as good as absence. */
function differencesFrom(kubevirt: KubeVirt, { strategy, gate }: WantedRollout): readonly string[] {
  const now = rolloutIn(kubevirt)
  return [
    ...(now === strategy ? [] : [`vmRolloutStrategy ${now} → ${strategy}`]),
    ...(gate && !gatesIn(kubevirt).includes(liveUpdateGate) ? [`feature gate ${liveUpdateGate} on`] : []),
  ]
}

function rolloutIn(kubevirt: KubeVirt): string {
  const said = valueAt(kubevirt, rolloutPath)
  return typeof said === 'string' ? said : 'default'
}
