import { type InstallPlan, type Subscription, Subscriptions } from '../../kube/kinds/operator-kinds.ts'
import { compareOperatorVersions, stemOf, versionOfCsv } from '../../releases/release-versions.ts'
import type { Reader } from '../../kube/cluster.ts'
import type { Step, StepContext, StepState } from '../../engine/step.ts'
import { againstPlatform } from '../../releases/platform-releases.ts'
import {
  type HopTools,
  isBetween,
  isEntered,
  labelOf,
  readOperator,
  type OperatorHop,
  type OperatorRollSnapshot,
  type PlatformNow,
  platformNow,
  rollSnapshotWatches,
} from './operator-manifest.ts'
import { afterExecuted, assessInstallPlan } from '../../openshift/olm-status.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import { someOf } from '../../kube/text.ts'
import type { OlmPart } from './olm-plan.ts'
import type { Journal, JournalReader } from '../../engine/journal.ts'

/** What an InstallPlan is held to before anybody approves it (ocp 2.3, night E4). */
export interface PlanQuestion {
  subscription: Subscription
  /** The CSV of this hop, and nothing else. */
  csv: string
  /** CSVs, or packages that one begins with, that may come along: `--approve-also`. */
  approveAlso: readonly string[]
  /** Why the platform does not let an operator be updated now, in words; undefined where nothing is in the way. */
  platformBusy?: string | undefined
  /** Why the hop's operator is ahead of the platform, in words; undefined where it is not, or nothing tells. */
  beyondPlatform?: string | undefined
  /** CSVs that its steps turned out to hold under other names; none where nobody has looked. */
  hidden?: readonly string[]
}

/**
 * `right`: it waits for approval and installs exactly what is wanted. `joined`: it is approved already, by whomever. `not-yet`: it
 * may become right by itself. `wrong`: it is never approved.
 */
type PlanVerdict =
  | { is: 'right' }
  | { is: 'joined' }
  | { is: 'not-yet'; why: string }
  /** `others`: what it would install besides. `offers`: the release of the same operator that it would install instead. */
  | { is: 'wrong'; reason: WrongPlan; why: string; others?: readonly string[]; offers?: string }

type WrongPlan =
  | 'foreign-plan'
  | 'plan-failed'
  | 'plan-goes-back'
  | 'plan-off-path'
  | 'plan-names-twice'
  | 'plan-contradicts-itself'
  | 'plan-installs-more'
  | 'operator-before-platform'
  | 'automatic-unapproved'

/** Pure. Order matters: what can never become right is said before what has to be waited for. */
export function judgeInstallPlan(plan: InstallPlan, question: PlanQuestion): PlanVerdict {
  for (const rule of [unreferenced, offPath, finished, contradicts, tooMuch, isBeyond, notForUs, tooEarly]) {
    const verdict = rule(plan, question)
    if (verdict !== undefined) return verdict
  }
  return { is: 'right' }
}

type Rule = (plan: InstallPlan, question: PlanQuestion) => PlanVerdict | undefined

/** Several plans may hold the same CSV; OLM goes on with the one that it names (ocp 2.3 #6). */
const unreferenced: Rule = ({ metadata }, { subscription }) => {
  const { namespace: here = '', name: asking } = subscription.metadata
  const reference = subscription.status?.installPlanRef ?? {}
  const { namespace = here } = reference
  if (metadata.namespace !== here || namespace !== here)
    return wrong(
      'foreign-plan',
      `it is in namespace ${metadata.namespace ?? ''}, the Subscription in ${here}`,
    )
  if (isReferenced(reference, metadata)) return undefined
  return wrong(
    'foreign-plan',
    `the Subscription ${asking} names ${reference.name ?? 'no InstallPlan'}, not this one`,
  )
}

const isReferenced = (
  reference: { name?: string; uid?: string },
  { name, uid }: InstallPlan['metadata'],
): boolean => reference.name === name && (!reference.uid || reference.uid === uid)

const offPath: Rule = ({ spec }, { csv, subscription }) => {
  const names = spec?.clusterServiceVersionNames ?? []
  return names.includes(csv) ? undefined : otherThan(csv, names, subscription)
}

/** Only of a plan that is to be approved: what is approved is under way, whatever it holds. */
const tooMuch: Rule = ({ spec }, { csv, approveAlso }) => {
  const names = spec?.clusterServiceVersionNames ?? []
  if (new Set(names).size < names.length)
    return wrong('plan-names-twice', `it names a CSV twice: ${names.join(', ')}`)
  const others = names.filter((name) => name !== csv && !isAllowed(name, approveAlso))
  if (others.length === 0) return undefined
  return { ...wrong('plan-installs-more', `it would also install ${others.join(', ')}`), others }
}

/** What OLM carries out are the steps; the names are what anybody looks at. On the real one they are always the same. */
const contradicts: Rule = ({ spec, status }, { hidden: held = [] }) => {
  if (held.length > 0)
    return wrong(
      'plan-contradicts-itself',
      `its steps have ${held.length === 1 ? 'CSV' : 'CSVs'} ${someOf(held)}, which it does not name`,
    )
  const steps = status?.plan ?? []
  if (steps.length === 0) return undefined
  const carried = new Set(
    steps.flatMap(({ resource }) =>
      resource?.kind === 'ClusterServiceVersion' ? [resource.name ?? ''] : [],
    ),
  )
  const named = new Set(spec?.clusterServiceVersionNames)
  const hidden = [...carried].filter((name) => !named.has(name))
  const absent = [...named].filter((name) => !carried.has(name))
  if (hidden.length + absent.length === 0) return undefined
  const says = [
    ...(hidden.length > 0 ? [`its steps install ${someOf(hidden)}, which it does not name`] : []),
    ...(absent.length > 0 ? [`no step of it installs ${someOf(absent)}, which it names`] : []),
  ]
  return wrong('plan-contradicts-itself', says.join('; '))
}

/** By the CSV's whole name, or that of its package: what stands before the version. */
function isAllowed(csv: string, approveAlso: readonly string[]): boolean {
  return approveAlso.some((name) => csv === name || stemOf(csv) === name)
}

function otherThan(csv: string, names: readonly string[], { status }: Subscription): PlanVerdict {
  const own = names.find((name) => stemOf(name) === stemOf(csv))
  const [offered, installed] = [versionOfCsv(own), versionOfCsv(status?.installedCSV)]
  if (offered && installed && compareOperatorVersions(offered, installed) < 0)
    return wrong('plan-goes-back', `it would install ${own}, which is older than ${status?.installedCSV}`)
  const holds = names.length === 0 ? 'no CSV' : names.join(', ')
  const why = `it would install ${holds} and not ${csv}`
  return { ...wrong('plan-off-path', why), ...(own !== undefined && { offers: own }) }
}

/** Complete and Failed are final (ocp 2.2). */
const finished: Rule = ({ spec, status }) => {
  if (status?.phase === 'Failed')
    return wrong('plan-failed', `it failed, and OLM does not retry it: ${status.message ?? 'no message'}`)
  if (status?.phase === 'Complete' || status?.phase === 'Installing' || spec?.approved === true)
    return { is: 'joined' }
  return undefined
}

/** A plan that takes the operator beyond what its platform supports is not approved (night E8). */
const isBeyond: Rule = (_, { beyondPlatform }) =>
  beyondPlatform === undefined
    ? undefined
    : wrong('operator-before-platform', `its operator ${beyondPlatform}`)

/** Automatic approval, which is what nothing means, is joined and never replaced (ocp 2.3 #1, #4, night E4). */
const notForUs: Rule = (_, { subscription: { metadata, spec } }) =>
  spec?.installPlanApproval !== 'Manual'
    ? wrong(
        'automatic-unapproved',
        `the Subscription ${metadata.name} approves automatically, but this plan waits: another Subscription in the namespace is Manual, or the plan is older`,
      )
    : undefined

/** Approved before its status is there, a plan is made a second time (ocp 2.3 #5). */
const tooEarly: Rule = ({ spec, status }, { platformBusy }) => {
  const phase = status?.phase ?? ''
  if (phase !== 'RequiresApproval')
    return {
      is: 'not-yet',
      why: `it is ${phase === '' ? 'being created' : phase}, not waiting for approval`,
    }
  if (spec?.approved === undefined) return { is: 'not-yet', why: 'it does not show whether it is approved' }
  return platformBusy === undefined ? undefined : { is: 'not-yet', why: platformBusy }
}

const wrong = (reason: WrongPlan, why: string) => ({ is: 'wrong', reason, why }) as const

export interface Judged {
  verdict: PlanVerdict
  /** Where it is wrong: what to say of it. */
  blocked?: Extract<StepState, { is: 'blocked' }> & { reason: WrongPlan; remedy: readonly string[] }
}

interface JudgedPlanQuestion {
  snapshot: Pick<OperatorRollSnapshot, 'subscription'>
  plan: InstallPlan
  hop: OperatorHop
  tools: Pick<HopTools, 'releases' | 'command'>
  /** As in `PlanQuestion`. */
  hidden?: readonly string[] | undefined
}

/** The plan held to all rules of night E4, with the platform as it is right now. */
export async function judgedPlan(reader: Reader, question: JudgedPlanQuestion): Promise<Judged> {
  return judgedOn(await platformNow(reader), question)
}

/** The same with the platform as it was seen. Pure. */
export function judgedOn(platform: PlatformNow, question: JudgedPlanQuestion): Judged {
  const { snapshot, plan, hop, tools, hidden = [] } = question
  const verdict = judgeInstallPlan(plan, {
    subscription: snapshot.subscription,
    csv: hop.csv,
    approveAlso: hop.approveAlso,
    platformBusy: platform.busy,
    beyondPlatform: whyBeyond(hop.csv, platform.minor, tools.releases),
    hidden,
  })
  if (verdict.is !== 'wrong') return { verdict }
  const { name, namespace } = plan.metadata
  return {
    verdict,
    blocked: {
      is: 'blocked',
      reason: verdict.reason,
      by: `installplans/${name} in namespace ${namespace ?? ''} is not approved: ${verdict.why}`,
      remedy: remedyFor(verdict, {
        ...hop,
        plan: name,
        executed: assessInstallPlan(plan).executed ? (plan.spec?.clusterServiceVersionNames ?? []) : [],
        set: snapshot.subscription.spec?.channel,
        command: tools.command,
      }),
    },
  }
}

function whyBeyond(
  csv: string,
  platform: string | undefined,
  releases: HopTools['releases'],
): string | undefined {
  const version = versionOfCsv(csv)
  if (version === undefined || platform === undefined) return undefined
  const against = againstPlatform(version, platform, releases)
  return against.is === 'beyond' ? `${against.why}, but the platform is at ${platform}` : undefined
}

/** What the InstallPlan that OLM offers is to a hop. `not-yet`: it may become right; `first`: another release, on the way to it. */
type OfferedPlan =
  | { is: 'right' }
  | { is: 'first'; csv: string }
  | { is: 'not-yet'; why: string }
  | { is: 'wrong'; blocked: Extract<StepState, { is: 'blocked' }> }

interface OfferedPlanQuestion {
  snapshot: OperatorRollSnapshot
  plan: InstallPlan
  hop: OperatorHop
  tools: HopTools
}

/** Holds it to night E4; one that is approved already is right. */
export async function offeredPlan(reader: Reader, question: OfferedPlanQuestion): Promise<OfferedPlan> {
  const { verdict, blocked } = await judgedPlan(reader, question)
  const first = verdict.is === 'wrong' ? whileOffered(question, verdict.offers) : undefined
  if (first !== undefined) return { is: 'first', csv: first }
  if (blocked !== undefined) return { is: 'wrong', blocked }
  return verdict.is === 'not-yet' ? verdict : { is: 'right' }
}

/** A release between what is installed and this hop, where that was not known beforehand. */
function whileOffered(
  { snapshot, hop }: OfferedPlanQuestion,
  offers: string | undefined,
): string | undefined {
  const { installedCSV } = snapshot.subscription.status ?? {}
  return hop.mayPassOthers === true && isBetween(offers, installedCSV, hop.csv) ? offers : undefined
}

type Wrong = Extract<PlanVerdict, { is: 'wrong' }>
interface Place extends Pick<OperatorHop, 'subscription' | 'version' | 'channel'> {
  /** The InstallPlan's name. */
  plan: string
  /** The CSVs that it has written. */
  executed: readonly string[]
  /** The channel that is set now. */
  set: string | undefined
  /** That goes on, with a flag more. */
  command: string
}

/**
 * What is to be typed against a plan that is not approved. kvup itself deletes none (night E4). Where the hop is in another channel than the one
 * that is set, that comes first: else OLM makes the same plan once more.
 */
function remedyFor({ reason, others = [] }: Wrong, place: Place): readonly string[] {
  const { subscription, version, channel, plan, executed, set, command } = place
  const { namespace, name } = subscription
  const show = `kubectl -n ${namespace} get installplan ${plan} -o yaml`
  const anew = [
    ...(channel === undefined || channel === set
      ? []
      : [`${channelCommand(subscription, channel)}     sets the channel of ${version} first`]),
    `kubectl -n ${namespace} delete installplan ${plan}     lets OLM resolve again to the present head of its channel`,
  ]
  const drop = executed.length > 0 ? afterExecuted(name, executed) : anew
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
    'plan-contradicts-itself': [show, ...drop],
    'plan-installs-more': [show, `${command}${also}     accepts these`],
    'operator-before-platform': [
      'oc get clusterversion',
      'update the platform first; the operator follows it',
    ],
    'automatic-unapproved': [
      `kubectl -n ${namespace} get subscriptions.operators.coreos.com     shows which one is Manual`,
      `kubectl -n ${namespace} patch subscription.operators.coreos.com ${name} --type merge -p '{"spec":{"installPlanApproval":"Manual"}}'     lets kvup approve, step by step`,
    ],
  }
  return remedies[reason]
}

/** Sets the Subscription's channel, where the release of this hop is in another one (ocp 1.1: on OKD each minor has its own), and keeps what it was. */
export function setChannel(
  hop: OperatorHop,
  channel: string,
  { procedure }: Pick<HopTools, 'procedure'>,
): Step {
  const { namespace, name } = hop.subscription
  return {
    id: `set-channel-${labelOf(hop)}`,
    title: `set channel ${channel}`,
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    watches: rollSnapshotWatches(hop),
    risk: { undo: 'none once an InstallPlan of it is approved', safeToLeave: 'with Manual approval always' },
    shows: `kubectl -n ${namespace} get subscription.operators.coreos.com ${name} -o yaml --show-managed-fields`,
    async check({ reader }): Promise<StepState> {
      const snapshot = await readOperator(reader, hop)
      const now = snapshot.subscription.spec?.channel
      if (now === channel || isEntered(snapshot, hop)) return { is: 'done' }
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
  const { metadata, spec } = (await readOperator(reader, at)).subscription
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
export function withChannelRestored(step: Step, of: ChannelOf, subscription: OlmPart['subscription']): Step {
  return {
    ...step,
    async check(cx): Promise<StepState> {
      const state = await step.check(cx)
      if (state.is !== 'blocked' && state.is !== 'stalled') return state
      const before = await keptChannel(cx.journal, of)
      if (before === undefined) return state
      const now = (await readOperator(cx.reader, { subscription })).subscription.spec?.channel
      if (now === before) return state
      const line = `${channelCommand(subscription, before)}     restores the channel, while nothing of ${now ?? 'the new one'} is approved`
      return { ...state, remedy: [...(state.remedy ?? []), line] }
    },
  }
}

/** What sets the channel of a Subscription, as a person types it. */
function channelCommand({ namespace, name }: OlmPart['subscription'], channel: string): string {
  const patch = JSON.stringify({ spec: { channel } })
  return `kubectl -n ${namespace} patch subscription.operators.coreos.com ${name} --type merge -p '${patch}'`
}

/** What can be done with an upgrade by OLM that ended early, besides going on. */
export interface RollbackHint {
  note: string
  /** Commands, in their order. */
  remedy: readonly string[]
}

/**
 * Until an InstallPlan is approved everything stays as it is, and what was set can be set back; from then on there is no way back, for OLM knows no
 * downgrade (night E2, ocp 2.3). Pure.
 */
export function rollbackHint(part: OlmPart, snapshot: OperatorRollSnapshot): RollbackHint {
  const installed = versionOfCsv(snapshot.subscription.status?.installedCSV)?.text
  const own = ownIn(snapshot.plan, part)
  if (own !== undefined && snapshot.plan?.spec?.approved === true)
    return { note: `there is no way back: ${own} is approved, and OLM does not downgrade`, remedy: [] }
  if (installed !== part.from)
    return {
      note: `there is no way back to ${part.from}: ${installed ?? 'another release'} is installed, and OLM does not downgrade`,
      remedy: [],
    }
  const note =
    part.approval === 'Manual'
      ? `no InstallPlan is approved: HyperConverged remains at ${part.from} until you approve one`
      : `there is no InstallPlan yet: HyperConverged is at ${part.from}, and OLM approves the next one automatically`
  return { note, remedy: fieldsToRestore(part, snapshot) }
}

/** The release of the operator that a plan which is not carried out yet holds. */
function ownIn(plan: InstallPlan | undefined, { csv }: OlmPart): string | undefined {
  if (plan?.status?.phase === 'Complete') return undefined
  return plan?.spec?.clusterServiceVersionNames?.find((name) => stemOf(name) === stemOf(csv))
}

/** A plan that was made of another channel stays when that is set back, and would be approved with the next one (ocp 2.3 #3). */
function fieldsToRestore(
  part: OlmPart,
  { subscription: { spec }, plan }: OperatorRollSnapshot,
): readonly string[] {
  const { channel, subscription } = part
  if (channel === undefined || spec?.channel === channel) return []
  const drop = `kubectl -n ${subscription.namespace} delete installplan ${plan?.metadata.name}     takes away the InstallPlan that was made of ${spec?.channel ?? 'it'}`
  return [
    `${channelCommand(subscription, channel)}     restores the channel`,
    ...(ownIn(plan, part) === undefined ? [] : [drop]),
  ]
}
