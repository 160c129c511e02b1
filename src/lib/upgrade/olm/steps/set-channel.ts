import type { Step, StepState } from '../../../procedure/step.ts'
import { minutes, seconds } from '../../../system/units.ts'
import { type HopTools, labelOf, type OperatorHop } from '../operator-hop-types.ts'
import { isEntered, lookAtOperator, sceneFollows } from '../operator-scene.ts'
import { channelChange, writeChannel } from '../write-channel.ts'

/** Sets the Subscription's channel, where the release of this hop is in another one (ocp 1.1: on OKD each minor has its own), and keeps what it was. */
export function setChannel(
  hop: OperatorHop,
  channel: string,
  { procedure }: Pick<HopTools, 'procedure'>,
): Step {
  const { namespace, name } = hop.subscription
  return {
    id: `set-channel-${labelOf(hop)}`,
    title: `channel ${channel}`,
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    follows: sceneFollows(hop),
    risk: { undo: 'none once an InstallPlan of it is approved', safeToLeave: 'with Manual approval always' },
    shows: `kubectl -n ${namespace} get subscription.operators.coreos.com ${name} -o yaml --show-managed-fields`,
    async check({ reader }): Promise<StepState> {
      const scene = await lookAtOperator(reader, hop)
      const now = scene.subscription.spec?.channel
      if (now === channel || isEntered(scene, hop)) return { is: 'done' }
      return { is: 'todo', change: channelChange(name, now, channel) }
    },
    apply: (cx) => writeChannel(cx, hop, { channel, procedure, label: labelOf(hop) }),
  }
}
