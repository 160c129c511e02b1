import type { InstallPlan, InstallStep, Subscription } from '../../kube/kinds/operator-kinds.ts'
import { compareOperatorVersions, stemOf, versionOfCsv } from '../../releases/release-versions.ts'
import type { Reader } from '../../kube/cluster.ts'
import type { StepState } from '../../engine/step.ts'
import { againstPlatform } from '../../releases/platform-releases.ts'
import {
  type HopTools,
  isBetween,
  type OperatorHop,
  type OperatorScene,
  type PlatformNow,
  platformNow,
} from './operator-snapshot.ts'
import { channelCommand } from './subscription-channel.ts'
import {
  ClusterRoles,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
} from '../../kube/kinds/extension-kinds.ts'
import { whyUnknown } from '../../kube/known.ts'

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
  | 'plan-installs-more'
  | 'operator-before-platform'
  | 'automatic-unapproved'

/** Pure. Order matters: what can never become right is said before what has to be waited for. */
export function judgeInstallPlan(plan: InstallPlan, question: PlanQuestion): PlanVerdict {
  for (const rule of [unreferenced, offPath, finished, tooMuch, isBeyond, notForUs, tooEarly]) {
    const verdict = rule(plan, question)
    if (verdict !== undefined) return verdict
  }
  return { is: 'right' }
}

type Rule = (plan: InstallPlan, question: PlanQuestion) => PlanVerdict | undefined

/** ocp 2.3 #6: several plans may hold the same CSV; OLM goes on with the one that it names. */
const unreferenced: Rule = ({ metadata }, { subscription }) => {
  const { namespace: here = '', name: asking } = subscription.metadata
  const reference = subscription.status?.installPlanRef ?? {}
  const { namespace = here } = reference
  if (metadata.namespace !== here || namespace !== here)
    return wrong(
      'foreign-plan',
      `it lies in namespace ${metadata.namespace ?? ''}, the Subscription in ${here}`,
    )
  if (isReferenced(reference, metadata)) return undefined
  return wrong(
    'foreign-plan',
    `the Subscription ${asking} names ${reference.name ?? 'no InstallPlan'}, not this one`,
  )
}

function isReferenced(
  reference: { name?: string; uid?: string },
  { name, uid }: InstallPlan['metadata'],
): boolean {
  return reference.name === name && (!reference.uid || reference.uid === uid)
}

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

/** ocp 2.2: Complete and Failed are final. */
const finished: Rule = ({ spec, status }) => {
  if (status?.phase === 'Failed')
    return wrong(
      'plan-failed',
      `it has failed, and OLM never tries it again: ${status.message ?? 'no message'}`,
    )
  if (status?.phase === 'Complete' || status?.phase === 'Installing' || spec?.approved === true)
    return { is: 'joined' }
  return undefined
}

/** Night E8. */
const isBeyond: Rule = (_, { beyondPlatform }) =>
  beyondPlatform === undefined
    ? undefined
    : wrong('operator-before-platform', `its operator ${beyondPlatform}`)

/** Night E4: automatic approval, which is what nothing means, is joined and never replaced (ocp 2.3 #1, #4). */
const notForUs: Rule = (_, { subscription: { metadata, spec } }) =>
  spec?.installPlanApproval !== 'Manual'
    ? wrong(
        'automatic-unapproved',
        `the Subscription ${metadata.name} approves by itself, but this plan waits: another Subscription in the namespace is Manual, or it was made before`,
      )
    : undefined

/** ocp 2.3 #5: approved before its status is there, it is made a second time. */
const tooEarly: Rule = ({ spec, status }, { platformBusy }) => {
  const phase = status?.phase ?? ''
  if (phase !== 'RequiresApproval')
    return {
      is: 'not-yet',
      why: `it is ${phase === '' ? 'being made' : phase}, and not waiting for approval`,
    }
  if (spec?.approved === undefined) return { is: 'not-yet', why: 'it does not say whether it is approved' }
  return platformBusy === undefined ? undefined : { is: 'not-yet', why: platformBusy }
}

const wrong = (reason: WrongPlan, why: string) => ({ is: 'wrong', reason, why }) as const

export interface Judged {
  verdict: PlanVerdict
  /** Where it is wrong: what to say of it. */
  blocked?: Extract<StepState, { is: 'blocked' }> & { reason: WrongPlan; remedy: readonly string[] }
}

interface JudgedPlanQuestion {
  scene: Pick<OperatorScene, 'subscription'>
  plan: InstallPlan
  hop: OperatorHop
  tools: Pick<HopTools, 'releases' | 'command'>
}

/** The plan held to all rules of night E4, with the platform as it is right now. */
export async function judgedPlan(reader: Reader, question: JudgedPlanQuestion): Promise<Judged> {
  return judgedOn(await platformNow(reader), question)
}

/** The same with the platform as it was seen. Pure. */
export function judgedOn(platform: PlatformNow, { scene, plan, hop, tools }: JudgedPlanQuestion): Judged {
  const verdict = judgeInstallPlan(plan, {
    subscription: scene.subscription,
    csv: hop.csv,
    approveAlso: hop.approveAlso,
    platformBusy: platform.busy,
    beyondPlatform: whyBeyond(hop.csv, platform.minor, tools.releases),
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
        set: scene.subscription.spec?.channel,
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
  return against.is === 'beyond' ? `${against.why}, and the platform is at ${platform}` : undefined
}

/** What the InstallPlan that OLM offers is to a hop. `not-yet`: it may become right; `first`: another release, on the way to it. */
type OfferedPlan =
  | { is: 'right' }
  | { is: 'first'; csv: string }
  | { is: 'not-yet'; why: string }
  | { is: 'wrong'; blocked: Extract<StepState, { is: 'blocked' }> }

interface OfferedPlanQuestion {
  scene: OperatorScene
  plan: InstallPlan
  hop: OperatorHop
  tools: HopTools
}

/** Holds it to night E4; one that is approved already is right. */
export async function offeredPlan(reader: Reader, question: OfferedPlanQuestion): Promise<OfferedPlan> {
  const { verdict, blocked } = await judgedPlan(reader, question)
  const first = verdict.is === 'wrong' ? onTheWay(question, verdict.offers) : undefined
  if (first !== undefined) return { is: 'first', csv: first }
  if (blocked !== undefined) return { is: 'wrong', blocked }
  return verdict.is === 'not-yet' ? verdict : { is: 'right' }
}

/** A release between what is installed and this hop, where that was not known beforehand. */
function onTheWay({ scene, hop }: OfferedPlanQuestion, offers: string | undefined): string | undefined {
  const { installedCSV } = scene.subscription.status ?? {}
  return hop.mayPassOthers === true && isBetween(offers, installedCSV, hop.csv) ? offers : undefined
}

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
function remedyFor({ reason, others = [] }: Wrong, place: Place): readonly string[] {
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

/**
 * What approving installs, in a sentence (night E4): the CSVs, the versions that CRDs gain or lose, the cluster roles that are new. A step may
 * only refer to a ConfigMap that has its object (ocp 2.2): then its versions are said to be there.
 */
export async function planContents(reader: Reader, { spec, status }: InstallPlan): Promise<string> {
  const steps = status?.plan ?? []
  const crds = stepsOf(steps, 'CustomResourceDefinition')
  const roles = stepsOf(steps, 'ClusterRole')
  const [changes, fresh] = await Promise.all([
    Promise.all(crds.map((step) => crdChange(reader, step))),
    Promise.all(roles.map((step) => isNew(reader, step))),
  ])
  const newRoles = roles.filter((_, index) => fresh[index]).map((step) => step.resource?.name ?? '')
  return [
    `installs ${(spec?.clusterServiceVersionNames ?? []).join(', ')}`,
    ...changes.filter((change) => change !== undefined),
    ...(newRoles.length > 0 ? [`new cluster roles ${newRoles.join(', ')}`] : []),
  ].join('; ')
}

function stepsOf(steps: readonly InstallStep[], kind: string): readonly InstallStep[] {
  return steps.filter(({ resource }) => resource?.kind === kind)
}

async function crdChange(reader: Reader, { resource = {} }: InstallStep): Promise<string | undefined> {
  const { name = '', manifest = '' } = resource
  const wanted = definitionIn(manifest)
  if (wanted === undefined) return `CRD ${name} as a ConfigMap has it`
  const now = await versionsNow(reader, name)
  if (now === 'unread') return `CRD ${name} with ${versionsOf(wanted).join(', ')}`
  const next = versionsOf(wanted)
  const added = next.filter((version) => !now.includes(version))
  const dropped = now.filter((version) => !next.includes(version))
  if (now.length === 0) return `new CRD ${name}`
  if (added.length + dropped.length === 0) return undefined
  const says = [...added.map((version) => `+${version}`), ...dropped.map((version) => `-${version}`)]
  return `CRD ${name} ${says.join(' ')}`
}

function definitionIn(manifest: string): CustomResourceDefinition | undefined {
  try {
    const value = JSON.parse(manifest) as CustomResourceDefinition | null
    return value?.kind === 'CustomResourceDefinition' ? value : undefined
  } catch {
    return undefined
  }
}

const versionsOf = ({ spec }: CustomResourceDefinition): readonly string[] =>
  (spec?.versions ?? []).filter(({ served }) => served !== false).map(({ name }) => name)

async function versionsNow(reader: Reader, name: string): Promise<readonly string[] | 'unread'> {
  try {
    const found = await reader.find(CustomResourceDefinitions, { name })
    return found.is === 'object' ? versionsOf(found.object) : []
  } catch (error) {
    if (whyUnknown(error) === undefined) throw error
    return 'unread'
  }
}

/** Roles that may not be read are not called new. */
async function isNew(reader: Reader, { resource = {} }: InstallStep): Promise<boolean> {
  try {
    return (await reader.find(ClusterRoles, { name: resource.name ?? '' })).is === 'absent'
  } catch (error) {
    if (whyUnknown(error) === undefined) throw error
    return false
  }
}
