import { Subscriptions } from '../../cluster/kinds/operator-lifecycle.ts'
import type { Step, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import { keepChannel } from '../../upgrade/olm/kept-channel.ts'
import { lookAtOperator } from '../../upgrade/olm/operator-scene.ts'
import type { OperatorPart } from './operator-part.ts'

/**
 * Where each minor has a channel of its own (ocp 1.1). A hop of the platform was accepted before it, so that nobody sets it back by himself; what it was is kept, for who
 * has to.
 */
export function operatorChannel(
  { minor, operator: { subscription } }: Pick<OperatorPart, 'minor' | 'operator'>,
  channel: string,
  procedure: string,
): Step {
  const { namespace, name } = subscription
  return {
    id: `operator-channel-${minor}`,
    title: `channel ${channel} of the operator`,
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    follows: [{ kind: Subscriptions, where: { namespace } }],
    risk: { undo: 'none: the platform has left the minor before', safeToLeave: 'always' },
    shows: `oc -n ${namespace} get subscriptions.operators.coreos.com ${name} -o yaml --show-managed-fields`,
    async check({ reader }): Promise<StepState> {
      const now = (await lookAtOperator(reader, { subscription })).subscription.spec?.channel
      if (now === channel) return { is: 'done' }
      return {
        is: 'todo',
        change: `set the channel of subscription ${name} from ${now ?? 'none'} to ${channel}`,
      }
    },
    async apply({ reader, writer, journal }) {
      const { metadata, spec } = (await lookAtOperator(reader, { subscription })).subscription
      await keepChannel(journal, { procedure, label: minor }, spec?.channel)
      await writer.jsonPatch(Subscriptions, { namespace, name }, [
        { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
        { op: 'add', path: '/spec/channel', value: channel },
      ])
    },
  }
}
