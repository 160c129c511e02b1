import { channelCommand } from './channel-command.ts'
import type { OperatorHop } from './operator-hop-types.ts'
import type { PlanVerdict, WrongPlan } from './judge-install-plan.ts'

type Wrong = Extract<PlanVerdict, { is: 'wrong' }>
interface Place extends Pick<OperatorHop, 'subscription' | 'version' | 'channel'> {
  /** The InstallPlan's name. */
  plan: string
  /** The channel that is set now. */
  set: string | undefined
  /** That goes on, with a flag more. */
  command: string
}

/**
 * What is to be typed against a plan that is not approved. kvup itself deletes none (night E4). Where the hop is in another channel than the one
 * that is set, that comes first: else OLM makes the same plan once more.
 */
export function remedyFor({ reason, others = [] }: Wrong, place: Place): readonly string[] {
  const { subscription, version, channel, plan, set, command } = place
  const { namespace, name } = subscription
  const show = `kubectl -n ${namespace} get installplan ${plan} -o yaml`
  const drop = [
    ...(channel === undefined || channel === set
      ? []
      : [`${channelCommand(subscription, channel)}     sets the channel of ${version} first`]),
    `kubectl -n ${namespace} delete installplan ${plan}     lets OLM resolve again to the present head of its channel`,
  ]
  const also = others.map((other) => ` --approve-also ${other}`).join('')
  const remedies: Readonly<Record<WrongPlan, readonly string[]>> = {
    'foreign-plan': [
      `kubectl -n ${namespace} get subscription ${name} -o jsonpath='{.status.installPlanRef.name}'`,
      show,
    ],
    'plan-failed': [show, ...drop],
    'plan-goes-back': [show, ...drop],
    'plan-off-path': [show, ...drop],
    'plan-names-twice': [show, ...drop],
    'plan-installs-more': [show, `${command}${also}     takes these along`],
    'operator-before-platform': [
      'oc get clusterversion',
      'update the platform first; the operator follows it',
    ],
    'automatic-unapproved': [
      `kubectl -n ${namespace} get subscriptions.operators.coreos.com     shows which one is Manual`,
      `kubectl -n ${namespace} patch subscription.operators.coreos.com ${name} --type merge -p '{"spec":{"installPlanApproval":"Manual"}}'     lets kvup approve, hop by hop`,
    ],
  }
  return remedies[reason]
}
