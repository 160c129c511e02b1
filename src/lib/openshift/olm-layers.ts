import type {
  CatalogSource,
  ClusterExtension,
  ClusterServiceVersion,
  InstallPlan,
  OperatorCondition,
  OperatorGroup,
  Subscription,
} from '../kube/kinds/operator-kinds.ts'
import { filled, itemsOf, type Known, notAsked } from '../kube/known.ts'
import {
  afterExecuted,
  channelsOf,
  type CsvStatus,
  assessCsv,
  type PendingRelease,
  heldByCondition,
  assessInstallPlan,
  type InstallPlanStatus,
  type LifecycleSnapshot,
  type PackageChannelHead,
  type SubscriptionStatus,
  assessSubscription,
  unpackedNote,
} from './olm-status.ts'
import { assessResolution, resolutionNote, type ResolutionStatus } from './olm-resolution.ts'
import { isOverridden, saidOfReplacing } from './platform-status.ts'
import {
  deploymentsHelp,
  failedInstalls,
  forgetVersions,
  isSlow,
  isUnpackFailure,
  type RunningObjects,
  storedVersionLoss,
  unpackHelp,
} from './olm-failures.ts'
import type { CustomResourceDefinition } from '../kube/kinds/extension-kinds.ts'
import type { Job } from '../kube/kinds/workload-kinds.ts'

/** What is asked for besides where an installation fails; a part that was not is absent. */
export interface FailureParts {
  /** Of OLM's namespace, or HyperConverged's. */
  running?: RunningObjects
  /** That unpack bundles, of the namespace of the catalog. */
  unpackJobs?: Known<Job>
  /** That a failed InstallPlan names. */
  refusedCrd?: Known<CustomResourceDefinition>
}

/** Catalog, OperatorGroups where there is not exactly one, Subscription, the InstallPlan that it refers to where that is not done, and its CSV. None where OLM installs nothing of KubeVirt. */
export function lifecycleLayers(
  lifecycle: LifecycleSnapshot,
  at: Date,
  failures: FailureParts = {},
): Layer[] {
  const { subscriptions, clusterExtensions } = lifecycle
  if (!subscriptions.known) return [{ layer: 'subscription', verdict: 'Unknown', says: subscriptions.why }]
  const statuses = subscriptions.items.map(assessSubscription)
  const [first] = statuses
  const [object] = subscriptions.items
  if (!first || !object) return itemsOf(clusterExtensions).map(extensionLayer)
  const { catalogSources, installPlans, csvs, operatorGroups, operatorConditions, packageManifests } =
    lifecycle
  const conditions = itemsOf(operatorConditions)
  const channels = channelsOf(itemsOf(packageManifests))
  const resolution = assessResolution(object, csvs, at)
  return [
    ...told('catalog', catalogSources, (items) => items.map(catalogLayer)),
    ...present(operatorGroupLayer(operatorGroups, first.namespace)),
    {
      ...subscriptionLayer(statuses, object, { resolution, csvs, failures, installPlans }),
      ...(channels.length > 0 && { channels }),
    },
    ...told('install-plan', installPlans, () => present(referenced(lifecycle, failures))),
    ...told('csv', csvs, (items) => present(csvLayer({ csvs: items, conditions, failures }, first, at))),
  ]
}

const present = (layer: Layer | undefined): Layer[] => (layer ? [layer] : [])

/** What may not be read is a layer too, that is not known. */
function told<T>(layer: Layer['layer'], part: Known<T>, layers: (items: readonly T[]) => Layer[]): Layer[] {
  return part.known ? layers(part.items) : [{ layer, verdict: 'Unknown', says: part.why }]
}

/** OLM v1 knows no OperatorConditions: kvup does not drive it (ocp 2.9). */
const extensionLayer = ({ metadata }: ClusterExtension): Layer => ({
  layer: 'subscription',
  object: `clusterextension/${metadata.name}`,
  verdict: 'Healthy',
  says: `a ClusterExtension of OLM v1, which kvup does not update`,
})

const catalogVerdicts: Readonly<Record<string, Layer['verdict']>> = {
  READY: 'Healthy',
  TRANSIENT_FAILURE: 'Degraded',
  SHUTDOWN: 'Degraded',
}

function catalogLayer({ metadata, status = {} }: CatalogSource): Layer {
  const { lastObservedState: state = 'not connected yet', lastConnect } = status.connectionState ?? {}
  const verdict = catalogVerdicts[state] ?? 'Updating'
  return {
    layer: 'catalog',
    object: `catalogsource/${metadata.name}`,
    verdict,
    says: `${metadata.name} is ${state}`,
    ...(status.message && { notes: [status.message] }),
    ...(verdict !== 'Healthy' && { waitsFor: 'its registry to answer' }),
    ...(verdict !== 'Healthy' && lastConnect !== undefined && { since: lastConnect }),
  }
}

interface SubscriptionInputs {
  resolution: ResolutionStatus | undefined
  csvs: Known<ClusterServiceVersion>
  failures: FailureParts
  installPlans: Known<InstallPlan>
}

function subscriptionLayer(
  all: readonly SubscriptionStatus[],
  object: Subscription,
  { resolution, csvs, failures, installPlans }: SubscriptionInputs,
): Layer {
  const first = assessSubscription(object)
  const { name, namespace, channel = 'the default channel', approval, package: of } = first
  const base = { layer: 'subscription', object: `subscription/${name}` } as const
  if (all.length > 1) {
    const places = all.map((one) => `${one.namespace}/${one.name}`).join(', ')
    return { ...base, verdict: 'Degraded', says: `${all.length} Subscriptions of one package: ${places}` }
  }
  const passing = new Map<string, string>(
    [
      ['ResolutionFailed', resolutionNote(resolution)] as const,
      ['InstallPlanMissing', leftOver(first, csvs)] as const,
      [
        'BundleUnpackFailed',
        unpackedNote(
          object,
          itemsOf(installPlans).find(({ metadata }) => metadata.name === first.plan),
          itemsOf(csvs),
        ),
      ] as const,
    ].flatMap(([type, note]) => (note === undefined ? [] : [[type, note] as const])),
  )
  const says = `${of} from ${channel}, ${approval.toLowerCase()} approval`
  const notes = first.troubles.flatMap(({ type }) => passing.get(type) ?? [])
  const trouble = first.troubles.find(({ type }) => !passing.has(type))
  if (!trouble) return { ...base, verdict: 'Healthy', says, ...(notes.length > 0 && { notes }) }
  const stuck = resolution?.is === 'failed' ? resolution.stuck : undefined
  const unpack = isUnpackFailure(object) ? unpackHelp(object, failures.unpackJobs) : undefined
  const show = `kubectl -n ${namespace} describe subscriptions.operators.coreos.com ${name}`
  return {
    ...base,
    verdict: trouble.type === 'CatalogSourcesUnhealthy' ? 'Stalled' : 'Degraded',
    says: trouble.reason === trouble.type ? trouble.type : `${trouble.type} (${trouble.reason})`,
    notes: [trouble.message, ...(stuck === undefined ? [] : [`${stuck} is stuck`]), ...(unpack?.notes ?? [])],
    help: unpack?.help ?? causeHelp(trouble, failures, show).slice(0, 1),
  }
}

/**
 * Somebody deleted an InstallPlan that was carried out, or OLM, which keeps five: the condition stays, and nothing lacks. Undefined where what the Subscription names as installed is not
 * Succeeded, or another CSV waits to be replaced by it: then OLM makes no other plan, and nothing goes on.
 */
function leftOver(
  { installed, latest }: SubscriptionStatus,
  csvs: Known<ClusterServiceVersion>,
): string | undefined {
  const found = itemsOf(csvs)
  const own = found.find(({ metadata }) => metadata.name === installed)
  const isDone = own?.status?.phase === 'Succeeded' && installed === latest
  if (!isDone || found.some(({ status }) => status?.phase === 'Replacing')) return undefined
  return 'InstallPlanMissing is stale: the InstallPlan is gone, and what it installed is Succeeded'
}

function referenced(lifecycle: LifecycleSnapshot, failures: FailureParts): Layer | undefined {
  const [subscription] = itemsOf(lifecycle.subscriptions)
  const plans = itemsOf(lifecycle.installPlans).map((plan) => assessInstallPlan(plan, subscription))
  const plan = plans.find((one) => one.referenced)
  if (!plan || !subscription) return undefined
  return installPlanLayer(plan, { of: assessSubscription(subscription), failures })
}

/** Where there is not exactly one: every CSV of the namespace fails then (ocp 2.6). Undefined where there is, and where it is not known. */
function operatorGroupLayer(groups: Known<OperatorGroup>, namespace: string): Layer | undefined {
  if (!groups.known || groups.items.length === 1) return undefined
  const [first] = groups.items
  const names = groups.items.map(({ metadata }) => metadata.name).join(', ')
  const found = first === undefined ? 'there is none' : `there are ${groups.items.length} (${names})`
  return {
    layer: 'operator-group',
    ...(first && { object: `operatorgroup/${first.metadata.name}` }),
    verdict: 'Degraded',
    says: `${found} in namespace ${namespace}, and OLM installs nothing without exactly one`,
    help: [`kubectl -n ${namespace} get operatorgroups.operators.coreos.com`],
  }
}

type JudgedInstallPlan = Pick<Layer, 'verdict' | 'says' | 'waitsFor' | 'help' | 'notes'>

interface InstallPlanInputs {
  of: SubscriptionStatus
  failures: FailureParts
}

type JudgeInstallPlan = (plan: InstallPlanStatus, inputs: InstallPlanInputs) => JudgedInstallPlan

/** Undefined once it is done: that proves no more than that what it holds was written (ocp 9.10). */
function installPlanLayer(plan: InstallPlanStatus, inputs: InstallPlanInputs): Layer | undefined {
  if (plan.state === 'done') return undefined
  return {
    layer: 'install-plan',
    object: `installplan/${plan.name}`,
    ...installPlanVerdicts[plan.state](plan, inputs),
    ...filled({ since: plan.startedAt }),
  }
}

const installs = ({ name, csvs }: InstallPlanStatus): string => `${name} installs ${csvs.join(', ')}`

const installPlanWords = ({ message }: InstallPlanStatus): string[] => (message === '' ? [] : [message])

const installPlanVerdicts: Record<Exclude<InstallPlanStatus['state'], 'done'>, JudgeInstallPlan> = {
  preparing: (plan) => ({ verdict: 'Updating', says: installs(plan), waitsFor: 'OLM to fill it in' }),
  'needs-approval': (plan, { of }) => ({
    verdict: 'Waiting',
    says: installs(plan),
    waitsFor: 'approval of everything that it installs',
    help: [`kubectl -n ${plan.namespace} describe installplans ${plan.name}`],
    ...(of.approval === 'Automatic' && {
      notes: [
        'its Subscription is Automatic, but another one in the namespace makes every plan there manual',
      ],
    }),
  }),
  approved: (plan) => ({ verdict: 'Updating', says: installs(plan), waitsFor: 'OLM to start' }),
  installing: (plan) => ({
    verdict: 'Updating',
    says: installs(plan),
    waitsFor: 'OLM to install its objects',
    notes: installPlanWords(plan),
  }),
  failed: (plan, { of, failures }) => ({
    verdict: 'Degraded',
    says: `${plan.name} failed, and OLM does not retry it`,
    notes: [...installPlanWords(plan), ...(plan.executed ? afterExecuted(of.name, plan.csvs) : [])],
    help: causeHelp(plan, failures, `kubectl -n ${plan.namespace} describe installplans ${plan.name}`),
  }),
}

/** What mends the cause of a plan that failed, where that is known; the first line shows it. */
function causeHelp(
  { message }: Pick<InstallPlanStatus, 'message'>,
  { refusedCrd }: FailureParts,
  otherwise: string,
): readonly string[] {
  const loss = storedVersionLoss(message)
  if (loss === undefined) return [otherwise]
  const crd = itemsOf(refusedCrd ?? notAsked).find(({ metadata }) => metadata.name === loss.name)
  const stored = crd?.spec?.versions?.find(({ storage }) => storage === true)?.name
  return forgetVersions(loss.name, stored === loss.version ? undefined : stored)
}

/** What a rule says of a layer. */
export type JudgedLayer = Pick<Layer, 'verdict' | 'says' | 'waitsFor' | 'expected' | 'notes' | 'help'>

interface CsvInputs {
  csvs: readonly ClusterServiceVersion[]
  /** None where they may not be read. */
  conditions: readonly OperatorCondition[]
  failures: FailureParts
}

/** The CSV that the Subscription has installed or is about to, with what its OperatorCondition says; undefined while there is none. */
function csvLayer(
  { csvs, conditions, failures }: CsvInputs,
  { installed, latest, namespace }: SubscriptionStatus,
  at: Date,
): Layer | undefined {
  const csv = [latest, installed]
    .flatMap((name) => csvs.filter(({ metadata }) => metadata.name === name))
    .at(0)
  if (!csv) return undefined
  const csvStatus = assessCsv(csv, at)
  const held = heldByCondition([csv])
  const condition = named(conditions, held ? held.replaces : csvStatus.name)
  const said = held ? undefined : saidOfReplacing(condition)
  const judged = held
    ? heldBack(held, namespace, condition)
    : withDeployments(alternating(csv, csvStatus) ?? csvVerdicts[csvStatus.state](csvStatus, namespace), {
        csv,
        csvStatus,
        failures,
        at,
      })
  return {
    layer: 'csv',
    object: `clusterserviceversion/${csvStatus.name}`,
    ...judged,
    ...(said !== undefined && { notes: [...(judged.notes ?? []), said] }),
    // The operator's own word comes and goes with every update; an override stays until somebody takes it out.
    ...(said !== undefined && isOverridden(condition) && { help: [show(csvStatus.name, namespace)] }),
    ...filled({ since: csvStatus.since }),
  }
}

/** After the second time nothing speaks for a third that would do better. */
const tooOften = 2

/** Its phase says in turn Failed, Pending and Installing: each of them alone looks as if it got on. */
function alternating(
  csv: ClusterServiceVersion,
  { name, phase, ...rest }: CsvStatus,
): JudgedLayer | undefined {
  const times = failedInstalls(csv)
  if (times < tooOften || rest.state === 'succeeded' || rest.state === 'leaving') return undefined
  return {
    verdict: 'Stalled',
    says: `${name} has failed to install ${times} times, and is ${phase} again`,
    waitsFor: 'its Deployments to be ready: OLM retries after five minutes',
    notes: csvWords({ name, phase, ...rest }),
  }
}

/** With what runs of it, where it does not get ready. */
function withDeployments(
  judged: JudgedLayer,
  {
    csv,
    csvStatus,
    failures,
    at,
  }: { csv: ClusterServiceVersion; csvStatus: CsvStatus; at: Date } & Pick<CsvInputs, 'failures'>,
): JudgedLayer {
  const { notes, help } = isSlow(csv, csvStatus, at)
    ? deploymentsHelp(csv, failures.running)
    : { notes: [], help: [] }
  return {
    ...judged,
    ...(notes.length > 0 && { notes: [...(judged.notes ?? []), ...notes] }),
    ...(help.length > 0 && { help: [...(judged.help ?? []), ...help] }),
  }
}

const named = (conditions: readonly OperatorCondition[], name: string | undefined) =>
  conditions.find(({ metadata }) => metadata.name === name)

const show = (name: string, namespace: string): string =>
  `kubectl -n ${namespace} get operatorconditions.operators.coreos.com ${name} -o yaml`

/** Its own phase says Pending, and everything else that the upgrade is done (ocp 9.11). */
function heldBack(
  { csv, replaces = 'the one before', message }: PendingRelease,
  namespace: string,
  condition: OperatorCondition | undefined,
): JudgedLayer {
  return {
    verdict: 'Waiting',
    says: `${csv} is blocked by OLM; ${replaces} still runs`,
    waitsFor: `the OperatorCondition of ${replaces}`,
    notes: [message, ...(isOverridden(condition) ? ['an override in it says so'] : [])],
    help: [show(replaces, namespace)],
  }
}

const csvWords = ({ reason, message, isUsual }: CsvStatus): string[] => {
  if (isUsual) return []
  const text = [reason, message].filter(Boolean).join(': ')
  return text === '' ? [] : [text]
}

const csvVerdicts: Record<CsvStatus['state'], (csv: CsvStatus, namespace: string) => JudgedLayer> = {
  succeeded: (csv) => ({ verdict: 'Healthy', says: `${csv.name} is Succeeded` }),
  going: (csv) => ({
    verdict: 'Updating',
    says: `${csv.name} is ${csv.phase || 'new'}`,
    waitsFor: 'it to be Succeeded',
    notes: csvWords(csv),
  }),
  held: (csv) => ({
    verdict: 'Waiting',
    says: `${csv.name} is blocked by OLM`,
    waitsFor: 'the OperatorCondition of the one before',
    notes: csvWords(csv),
  }),
  failing: (csv) => ({
    verdict: 'Updating',
    says: `${csv.name} is Failed for now`,
    waitsFor: 'OLM to retry',
    expected: 'it retries by itself',
    notes: csvWords(csv),
  }),
  failed: (csv, namespace) => ({
    verdict: 'Degraded',
    says: `${csv.name} is Failed`,
    notes: csvWords(csv),
    help: [`kubectl -n ${namespace} describe clusterserviceversions ${csv.name}`],
  }),
  leaving: (csv) => ({
    verdict: 'Updating',
    says: `${csv.name} is ${csv.phase}`,
    waitsFor: 'the one that replaces it',
  }),
}

/** Of one layer: `Waiting` for somebody who has to do something; `Unknown` where it may not be read or was not saved. */
export type LayerVerdict = 'Healthy' | 'Updating' | 'Waiting' | 'Stalled' | 'Degraded' | 'Unknown'

/** One thing that those below it depend on. */
export interface Layer {
  layer:
    | 'platform'
    | 'operators'
    | 'pool'
    | 'catalog'
    | 'operator-group'
    | 'subscription'
    | 'install-plan'
    | 'csv'
    | 'hyperconverged'
    | 'kubevirt'
    | 'vms'
  /** As kubectl names it, `machineconfigpool/worker`. */
  object?: string
  verdict: LayerVerdict
  /** Healthy as far as it was judged: something that belongs to it could not be seen. */
  partly?: true
  /** How it stands, in a few words. */
  says: string
  /** What has to happen before it is settled. */
  waitsFor?: string
  /** Why a verdict that is not Healthy is as it should be here: then nobody has to do anything. */
  expected?: string
  /** RFC 3339. */
  since?: string
  /** Of the operator: it belongs to another minor of the platform than the one at hand, which nobody supports; in a sentence. */
  outOfStep?: string
  /** What else is to be known, a line each. */
  notes?: readonly string[]
  /** Commands that help. */
  help?: readonly string[]
  /** Of the package that a Subscription installs, as its catalog shows it; a person sees them with `-o wide`. */
  channels?: readonly PackageChannelHead[]
}

/** With how it is called: `pool worker`, `HyperConverged`. */
export interface TitledLayer extends Layer {
  title: string
}

/** The verdict over all layers, and which of them it is from. */
export interface Overall {
  verdict: Exclude<LayerVerdict, 'Unknown'>
  /** Of the first layer, in the order in which they depend on one another, that has this verdict. Absent where all are settled. */
  because?: string
  /** Titles of layers that are not known, or not all of which could be seen; absent where there is none. */
  notJudged?: readonly string[]
}

const severity = ['Healthy', 'Updating', 'Waiting', 'Stalled', 'Degraded'] as const

/** The worst of them; what is expected is no worse than Updating, and what is not known is not judged. */
export function overallOf(layers: readonly TitledLayer[]): Overall {
  const judged = layers.flatMap((layer) => {
    const verdict = counted(layer)
    return verdict === undefined ? [] : [{ layer, verdict }]
  })
  const worst = judged.reduce(
    (most, { verdict }) => (severity.indexOf(verdict) > severity.indexOf(most) ? verdict : most),
    'Healthy' as Overall['verdict'],
  )
  const first = judged.find(({ verdict }) => verdict === worst)?.layer
  const notJudged = layers
    .filter(({ verdict, partly }) => verdict === 'Unknown' || partly)
    .map(({ title }) => title)
  return {
    verdict: worst,
    ...(worst !== 'Healthy' && first && { because: `${first.title}: ${first.says}` }),
    ...(notJudged.length > 0 && { notJudged }),
  }
}

function counted({ verdict, expected }: Layer): Overall['verdict'] | undefined {
  if (verdict === 'Unknown') return undefined
  return expected === undefined || verdict === 'Healthy' ? verdict : 'Updating'
}

const titles: Record<Layer['layer'], string> = {
  platform: 'platform',
  operators: 'operators',
  pool: 'pool',
  catalog: 'catalog',
  'operator-group': 'OperatorGroup',
  subscription: 'Subscription',
  'install-plan': 'InstallPlan',
  csv: 'CSV',
  hyperconverged: 'HyperConverged',
  kubevirt: 'KubeVirt',
  vms: 'VMs',
}

/** Of kinds that there may be several of with the name. */
export function titled(layer: Layer): TitledLayer {
  const name = layer.object?.slice(layer.object.indexOf('/') + 1)
  const of = layer.layer === 'pool' && name !== undefined ? ` ${name}` : ''
  return { title: `${titles[layer.layer]}${of}`, ...layer }
}
