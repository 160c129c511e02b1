import type { InstallPlan } from '../../cluster/kinds/operator-lifecycle.ts'
import { stemOf, versionOfCsv } from '../../releases/operator-version.ts'
import { channelCommand } from './channel-command.ts'
import type { OlmPart } from './olm-part.ts'
import type { OperatorScene } from './operator-scene.ts'

/** What can be done with an upgrade by OLM that ended early, besides going on. */
export interface WayOut {
  note: string
  /** Commands, in their order. */
  remedy: readonly string[]
}

/**
 * Until an InstallPlan is approved everything stays as it is, and what was set can be set back; from then on there is no way back, for OLM knows no
 * downgrade (night E2, ocp 2.3). Pure.
 */
export function wayOut(part: OlmPart, scene: OperatorScene): WayOut {
  const installed = versionOfCsv(scene.subscription.status?.installedCSV)?.text
  const own = ownIn(scene.plan, part)
  if (own !== undefined && scene.plan?.spec?.approved === true)
    return { note: `there is no way back: ${own} is approved, and OLM knows no downgrade`, remedy: [] }
  if (installed !== part.from)
    return {
      note: `there is no way back to ${part.from}: ${installed ?? 'another release'} is installed, and OLM knows no downgrade`,
      remedy: [],
    }
  const note =
    part.approval === 'Manual'
      ? `no InstallPlan is approved: HyperConverged stays at ${part.from} as long as nobody approves one`
      : `no InstallPlan is there yet: HyperConverged is at ${part.from}, and OLM approves the next one by itself`
  return { note, remedy: setBack(part, scene) }
}

/** The release of the operator that a plan which is not carried out yet holds. */
function ownIn(plan: InstallPlan | undefined, { csv }: OlmPart): string | undefined {
  if (plan?.status?.phase === 'Complete') return undefined
  return plan?.spec?.clusterServiceVersionNames?.find((name) => stemOf(name) === stemOf(csv))
}

/** A plan that was made of another channel stays when that is set back, and would be approved with the next one (ocp 2.3 #3). */
function setBack(part: OlmPart, { subscription: { spec }, plan }: OperatorScene): readonly string[] {
  const { channel, subscription } = part
  if (channel === undefined || spec?.channel === channel) return []
  const drop = `kubectl -n ${subscription.namespace} delete installplan ${plan?.metadata.name}     takes away the InstallPlan that was made of ${spec?.channel ?? 'it'}`
  return [
    `${channelCommand(subscription, channel)}     sets the channel back`,
    ...(ownIn(plan, part) === undefined ? [] : [drop]),
  ]
}
