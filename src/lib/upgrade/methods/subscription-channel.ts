import type { Step, StepContext, StepState } from '../../engine/step.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import {
  type HopTools,
  isEntered,
  labelOf,
  lookAtOperator,
  type OperatorHop,
  type OperatorScene,
  sceneFollows,
} from './operator-snapshot.ts'
import { type InstallPlan, Subscriptions } from '../../kube/kinds/operator-kinds.ts'
import type { OlmPart } from './olm-plan.ts'
import type { Journal, JournalReader } from '../../engine/journal.ts'
import { stemOf, versionOfCsv } from '../../releases/release-versions.ts'

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

/** Sets a Subscription's channel and keeps what it was; refused (422) where somebody else wrote since it was read. */
export async function writeChannel(
  { reader, writer, journal }: Pick<StepContext, 'reader' | 'writer' | 'journal'>,
  at: Pick<OlmPart, 'subscription'>,
  { channel, ...of }: ChannelOf & { channel: string },
): Promise<void> {
  const { metadata, spec } = (await lookAtOperator(reader, at)).subscription
  const { namespace, name } = at.subscription
  await keepChannel(journal, of, spec?.channel)
  await writer.jsonPatch(Subscriptions, { namespace, name }, [
    { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
    { op: 'add', path: '/spec/channel', value: channel },
  ])
}

/** In the words of a step. */
export const channelChange = (name: string, now: string | undefined, channel: string): string =>
  `set the channel of subscription ${name} from ${now ?? 'none'} to ${channel}`

/** Of which hop of which procedure: its key in the journal, forgotten when that is finished. */
interface ChannelOf {
  procedure: string
  /** The hop's: its version, or the minor of the platform. */
  label: string
}

const keyOf = ({ procedure, label }: ChannelOf): string => `${procedure}/operator-channel/${label}`

/** What a Subscription's channel was before a hop set another one; the first value stays. Throws where the journal cannot be written. */
async function keepChannel(journal: Journal, of: ChannelOf, channel: string | undefined): Promise<void> {
  if (channel !== undefined) await journal.keep(keyOf(of), { channel })
}

async function keptChannel(journal: JournalReader, of: ChannelOf): Promise<string | undefined> {
  const found = (await journal.kept(keyOf(of))) as { channel?: unknown } | undefined
  return typeof found?.channel === 'string' ? found.channel : undefined
}

/** The same step, whose refusals say which line sets the channel back to what it was before this hop. */
export function withChannelBack(step: Step, of: ChannelOf, subscription: OlmPart['subscription']): Step {
  return {
    ...step,
    async check(cx): Promise<StepState> {
      const state = await step.check(cx)
      if (state.is !== 'blocked' && state.is !== 'stalled') return state
      const before = await keptChannel(cx.journal, of)
      if (before === undefined) return state
      const now = (await lookAtOperator(cx.reader, { subscription })).subscription.spec?.channel
      if (now === before) return state
      const line = `${channelCommand(subscription, before)}     sets the channel back to what it was, as long as nothing of ${now ?? 'the new one'} is approved`
      return { ...state, remedy: [...(state.remedy ?? []), line] }
    },
  }
}

/** What sets the channel of a Subscription, as a person types it. */
export function channelCommand({ namespace, name }: OlmPart['subscription'], channel: string): string {
  const patch = JSON.stringify({ spec: { channel } })
  return `kubectl -n ${namespace} patch subscription.operators.coreos.com ${name} --type merge -p '${patch}'`
}

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
