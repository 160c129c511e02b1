import { Subscriptions } from '../../cluster/kinds/operator-lifecycle.ts'
import type { Step, StepState } from '../../procedure/step.ts'
import { compareOperatorVersions, operatorVersionOf, versionOfCsv } from '../../releases/operator-version.ts'
import { minutes, seconds } from '../../system/units.ts'
import { lookAtOperator } from '../../upgrade/olm/operator-scene.ts'
import { channelChange, writeChannel } from '../../upgrade/olm/write-channel.ts'
import type { OperatorPart } from './operator-part.ts'

/** A channel, and the stop that is resolved in it. */
export interface NextChannel {
  channel: string
  /** Ends the step's id: the minor, and the release where others of the hop come after it. */
  label: string
}

/**
 * That of the first stop that is not installed yet, and of no later one: a release that has to come first would not be offered any more. Undefined where the one that
 * is set will do.
 */
export function nextChannel(
  { minor, stops }: Pick<OperatorPart, 'minor' | 'stops'>,
  installedCsv: string | undefined,
): NextChannel | undefined {
  const installed = versionOfCsv(installedCsv)
  const isAhead = ({ version }: OperatorPart['stops'][number]) => {
    const at = operatorVersionOf(version)
    return at === undefined || installed === undefined || compareOperatorVersions(at, installed) > 0
  }
  const at = stops.findIndex(isAhead)
  const next = at < 0 ? stops.length - 1 : at
  const channel = stops.slice(0, next + 1).findLast((stop) => stop.channel !== undefined)?.channel
  const isLast = next === stops.length - 1
  if (channel === undefined) return undefined
  return { channel, label: isLast ? minor : `${minor}-${stops[next]?.version}` }
}

/**
 * Where each minor has a channel of its own (ocp 1.1). A hop of the platform was accepted before it, so that nobody sets it back by himself; what it was is kept, for who
 * has to.
 */
export function operatorChannel(
  { minor, operator: { subscription } }: Pick<OperatorPart, 'minor' | 'operator'>,
  { channel, label }: NextChannel,
  procedure: string,
): Step {
  const { namespace, name } = subscription
  return {
    id: `operator-channel-${label}`,
    title: `channel ${channel} of the operator`,
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    follows: [{ kind: Subscriptions, where: { namespace } }],
    risk: { undo: 'none: the platform has left the minor before', safeToLeave: 'always' },
    shows: `oc -n ${namespace} get subscriptions.operators.coreos.com ${name} -o yaml --show-managed-fields`,
    async check({ reader }): Promise<StepState> {
      const now = (await lookAtOperator(reader, { subscription })).subscription.spec?.channel
      if (now === channel) return { is: 'done' }
      return { is: 'todo', change: channelChange(name, now, channel) }
    },
    apply: (cx) => writeChannel(cx, { subscription }, { channel, procedure, label: minor }),
  }
}
