import { Subscriptions } from '../../../cluster/kinds/operator-lifecycle.ts'
import type { Step, StepState } from '../../../procedure/step.ts'
import { minutes, seconds } from '../../../system/units.ts'
import { keepChannel } from '../kept-channel.ts'
import { type HopTools, labelOf, type OperatorHop } from '../operator-hop-types.ts'
import { isEntered, lookAtOperator, sceneFollows } from '../operator-scene.ts'

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
      return {
        is: 'todo',
        change: `set the channel of subscription ${name} from ${now ?? 'none'} to ${channel}`,
      }
    },
    async apply({ reader, writer, journal }) {
      const { subscription } = await lookAtOperator(reader, hop)
      await keepChannel(journal, { procedure, label: labelOf(hop) }, subscription.spec?.channel)
      const { resourceVersion } = subscription.metadata
      await writer.jsonPatch(Subscriptions, { namespace, name }, [
        { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
        { op: 'add', path: '/spec/channel', value: channel },
      ])
    },
  }
}
