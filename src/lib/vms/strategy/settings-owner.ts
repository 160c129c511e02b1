import { valueAt } from '../../kube/server-side-apply.ts'
import type { DeepPartial, JsonOperation, Reader, Ref, Writer } from '../../kube/cluster.ts'
import { groupOf, type Kind, type KubeObject, resourceOf } from '../../kube/object.ts'
import { methodsOf, methodsText, type Owner, sameMethods } from '../update-methods.ts'
import {
  type ClusterServiceVersion,
  HyperConvergeds,
  type InstallPlan,
} from '../../kube/kinds/operator-kinds.ts'
import { type Manager, managerOf } from '../../kubevirt/installation.ts'
import { ApiError, blocked, KvupError } from '../../kube/errors.ts'
import { storedHyperConverged } from '../../openshift/hyperconverged.ts'
import type { ReadContext, StepContext, StepState, Watched } from '../../engine/step.ts'
import { type HopFinding, blocker } from '../../releases/hop-findings.ts'
import { readRefusal } from '../../kube/access-rights.ts'
import { type Deployment, Deployments } from '../../kube/kinds/workload-kinds.ts'
import { CustomResourceDefinitions } from '../../kube/kinds/extension-kinds.ts'
import { itemsOf } from '../../kube/known.ts'
import {
  goneCsv,
  heldByCondition,
  type LifecycleSnapshot,
  showsWithoutCsv,
  takeLifecycle,
} from '../../openshift/olm-status.ts'
import { roleRemedy } from '../../output/kvup-words.ts'

/** The object that holds the settings of workload updates, whatever else is in it. */
type SettingsHolder = KubeObject & { spec?: unknown }

/**
 * Where the settings of workload updates and migrations are written so that they last: the KubeVirt CR, or the HyperConverged that
 * overwrites it (hco 5). Found by `findSettingsOwner`.
 */
export interface SettingsOwner {
  /** Under the version that is stored: a write through another one may turn `[]` into `[LiveMigrate]`. */
  kind: Kind<SettingsHolder>
  ref: Ref & { namespace: string }
  uid: string
  /** Fields on the way to workloadUpdateMethods, batchEvictionSize and batchEvictionInterval. */
  strategy: readonly string[]
  /** Fields on the way to the limits and timeouts of migrations. */
  migrations: readonly string[]
  /** The CR that takes effect; for a plain KubeVirt it is the owner itself. */
  kubevirt: Owner
  /** Ids of the risks that were accepted for writing it: `csv-not-succeeded`. */
  accepted?: readonly string[]
}

/** The fields of the KubeVirt CR, whoever owns it. */
export const kubeVirtFields = {
  strategy: ['spec', 'workloadUpdateStrategy'],
  migrations: ['spec', 'configuration', 'migrations'],
} as const

/** A KubeVirt that nobody overwrites. */
export function onKubeVirt(kubevirt: Owner): SettingsOwner {
  const { kind, ref, uid } = kubevirt
  return { kind, ref, uid, ...kubeVirtFields, kubevirt }
}

/** Somebody else than the KubeVirt CR itself: what is written has to be passed on to it. */
export const passesOn = ({ kind, kubevirt }: SettingsOwner): boolean => kind.kind !== kubevirt.kind.kind

/** Null and absent read as empty: only HyperConverged defaults them, and its server does so before anybody reads. */
export function methodsIn(
  object: KubeObject,
  { strategy }: Pick<SettingsOwner, 'strategy'>,
): readonly string[] {
  const methods = valueAt(object, [...strategy, 'workloadUpdateMethods'])
  return Array.isArray(methods) ? methods.map(String) : []
}

/** JSON pointer of the methods, for the journal. */
export function methodsPointer({ strategy }: Pick<SettingsOwner, 'strategy'>): string {
  return `/${[...strategy, 'workloadUpdateMethods'].join('/')}`
}

/** A merge patch of the fields below each path and of some annotations, refused when somebody else wrote first. A path without fields is left out. */
export function patchAt(
  places: readonly (readonly [path: readonly string[], fields: Readonly<Record<string, unknown>>])[],
  { metadata }: KubeObject,
  annotations: Readonly<Record<string, string | null>> = {},
): DeepPartial<SettingsHolder> {
  const patch: Record<string, unknown> = {
    metadata: {
      resourceVersion: metadata.resourceVersion ?? '',
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
  }
  for (const [path, fields] of places)
    if (Object.keys(fields).length > 0) Object.assign(reach(patch, path), fields)
  return patch
}

/** The object at the end of the path, made where it is missing. */
function reach(from: Record<string, unknown>, path: readonly string[]): Record<string, unknown> {
  return path.reduce((at, name) => {
    const below = (at[name] ?? {}) as Record<string, unknown>
    at[name] = below
    return below
  }, from)
}

/** Command that shows who writes which field of it; the version is named, for an unversioned read is of the preferred one. */
export function showsWriters({
  kind,
  ref: { name, namespace },
}: Pick<SettingsOwner, 'kind' | 'ref'>): string {
  const version = kind.apiVersion.split('/').at(-1)
  const resource = kind.kind === 'KubeVirt' ? kind.plural : `${kind.plural}.${version}.${groupOf(kind)}`
  return `kubectl -n ${namespace} get ${resource} ${name} -o yaml --show-managed-fields`
}

/** One that was found: each step works out anew in which version it is stored. */
export const onHyperConverged = (
  { ref, uid }: Pick<SettingsOwner, 'ref' | 'uid'>,
  kubevirt: Owner,
  accepted: readonly string[],
): SettingsOwner => ({ kind: HyperConvergeds, ref, uid, ...hyperConvergedFields.v1beta1, kubevirt, accepted })

/** Where there is one, it bears this name (hco 1). */
const usualName = 'kubevirt-hyperconverged'

/**
 * Who owns the settings of workload updates and migrations: the HyperConverged that manages this KubeVirt, else the KubeVirt itself.
 * `manager` is that of the installation. Throws `blocked` where the HyperConverged is gone or no version of it can be written safely.
 */
export async function getSettingsOwner(
  reader: Reader,
  kubevirt: Owner,
  manager: Pick<Manager, 'kind' | 'name'>,
): Promise<SettingsOwner> {
  if (manager.kind !== 'hyperconverged') return onKubeVirt(kubevirt)
  const { kind, version } = await storedHyperConverged(reader)
  const ref = { name: manager.name ?? usualName, namespace: kubevirt.ref.namespace }
  const found = await reader.get(kind, ref)
  if (found.is === 'object')
    return { kind, ref, uid: found.object.metadata.uid ?? '', ...hyperConvergedFields[version], kubevirt }
  const object = nameOf({ kind, ref })
  throw blocked(
    'hyperconverged-gone',
    `${nameOf(kubevirt)} names a HyperConverged as its owner, but there is no ${object}`,
    { object, remedy: 'kubectl get hyperconvergeds.hco.kubevirt.io -A' },
  )
}

/** The one object that was found: a later one of the same name has another uid. */
interface Particular<T extends KubeObject> {
  kind: Kind<T>
  ref: Ref & { namespace: string }
  uid: string
}

const ofKubeVirt = { gone: 'kubevirt-gone', replaced: 'kubevirt-replaced', deleting: 'kubevirt-deleting' }
const ofHyperConverged = {
  gone: 'hyperconverged-gone',
  replaced: 'hyperconverged-replaced',
  deleting: 'hyperconverged-deleting',
}

/** Reads the KubeVirt CR or the HyperConverged; throws `blocked` when it is gone or another one took its place. */
export async function readOwner<T extends KubeObject>(
  reader: Reader,
  { kind, ref, uid }: Particular<T>,
): Promise<T> {
  const found = await reader.get(kind, ref)
  const object = nameOf({ kind, ref })
  const reasons = kind.kind === 'KubeVirt' ? ofKubeVirt : ofHyperConverged
  if (found.is !== 'object')
    throw blocked(reasons.gone, `${object} no longer exists`, { object, remedy: 'kvup status' })
  if (found.object.metadata.uid !== uid)
    throw blocked(reasons.replaced, `${object} was deleted and created again while kvup was running`, {
      object,
      remedy: 'kvup status',
    })
  if (found.object.metadata.deletionTimestamp !== undefined)
    throw blocked(reasons.deleting, `${object} is being deleted`, { object, remedy: 'kvup status' })
  return found.object
}

/** As kubectl names it; a HyperConverged with its group, for nobody knows it by its plural alone. */
export function nameOf({ kind, ref }: { kind: Kind; ref: Ref & { namespace: string } }): string {
  const resource = kind.kind === 'KubeVirt' ? kind.plural : resourceOf(kind)
  return `${resource}/${ref.name} in namespace ${ref.namespace}`
}

/** Where each version of HyperConverged keeps the settings (hco 2). */
const hyperConvergedFields = {
  v1beta1: {
    strategy: ['spec', 'workloadUpdateStrategy'],
    migrations: ['spec', 'liveMigrationConfig'],
  },
  v1: {
    strategy: ['spec', 'virtualization', 'workloadUpdateStrategy'],
    migrations: ['spec', 'virtualization', 'liveMigrationConfig'],
  },
} as const

type Waiting = Extract<StepState, { is: 'waiting' }>

/**
 * The same owner in the version that is stored now: an upgrade of HyperConverged moves it (hco 2). While nobody converts between the versions in
 * etcd, what has to be waited for (hco 8). Throws what else `storedHyperConverged` throws.
 */
export async function storedNow(reader: Reader, owner: SettingsOwner): Promise<SettingsOwner | Waiting> {
  if (!passesOn(owner)) return owner
  try {
    const { kind, version } = await storedHyperConverged(reader)
    return { ...owner, kind, ...hyperConvergedFields[version] }
  } catch (error) {
    if (!(error instanceof KvupError) || error.reason !== 'hyperconverged-not-converted') throw error
    return { is: 'waiting', on: `HyperConverged to be converted: ${error.message}`, remedy: error.remedy }
  }
}

/** Right before a write: an upgrade of HyperConverged may have moved the stored version since we looked. Throws `blocked`. */
export async function ensureStillStored(reader: Reader, owner: SettingsOwner): Promise<void> {
  if (!passesOn(owner)) return
  const { kind } = await storedHyperConverged(reader)
  if (kind.apiVersion === owner.kind.apiVersion) return
  throw blocked(
    'hyperconverged-moved',
    `HyperConverged is stored as ${kind.apiVersion} now and no longer as ${owner.kind.apiVersion}: nothing was changed`,
    { remedy: 'run the same command again' },
  )
}

/** Helm and GitOps set back what is written to their objects at the next sync (night U8). */
export function ownerFinding(owner: SettingsOwner, holding: KubeObject): readonly HopFinding[] {
  const manager = managerOf(holding)
  if (manager?.kind !== 'helm' && manager?.kind !== 'gitops') return []
  const whose = [manager.owner ?? manager.kind, manager.name].filter(Boolean).join(' ')
  const what = passesOn(owner) ? owner.kind.kind : 'KubeVirt'
  return blocker({
    id: `managed-by-${manager.kind}`,
    summary: `${what} belongs to ${whose}: its next sync reverts what kvup writes`,
    objects: [`${owner.kind.kind.toLowerCase()}/${owner.ref.name}`],
    remedy: [`change ${owner.strategy.join('.')} where ${whose} has it from`],
  })
}

/**
 * One write of settings to whoever owns them. A HyperConverged is asked by a server-side dry run first (night E3). Its webhook tries KubeVirt's and others'
 * webhooks, and refuses while one of them is replaced (hco 7): that is thrown as a failure that passes, and tried again.
 */
export async function writeSettings(
  { writer, reviewer }: Pick<StepContext, 'writer' | 'reviewer'>,
  { kind, ref, ...owner }: SettingsOwner,
  patch: DeepPartial<KubeObject> | readonly JsonOperation[],
): Promise<void> {
  const isPassedOn = passesOn({ kind, ref, ...owner })
  const by = (one: Writer) =>
    isOperations(patch) ? one.jsonPatch(kind, ref, patch) : one.mergePatch(kind, ref, patch)
  try {
    if (isPassedOn) await by(reviewer.dryRun)
    await by(writer)
  } catch (error) {
    throw isPassedOn ? asPassing(error, ref.namespace) : error
  }
}

const isOperations = (
  patch: DeepPartial<KubeObject> | readonly JsonOperation[],
): patch is readonly JsonOperation[] => Array.isArray(patch)

/** What a component that is being replaced says through the webhook of HyperConverged. */
const whileReplaced =
  /failed calling webhook|failed to call webhook|no endpoints available|connection refused|context deadline exceeded|i\/o timeout|EOF|dry.?run|not ready/iu

function asPassing(error: unknown, namespace: string): unknown {
  if (!(error instanceof ApiError) || error.status === 409) return error
  const refusal = readRefusal(error.message, namespace)
  const passes =
    refusal?.is === 'webhook-down' || (refusal?.is === 'webhook-refuses' && whileReplaced.test(error.message))
  if (!passes) return error
  const { message, object, remedy } = error
  return new ApiError(503, 'ServiceUnavailable', message, { object, remedy, cause: error })
}

/**
 * Why the HyperConverged is not to be written now (night E3). OLM is at work on it, hco-webhook does not answer, nobody converts its versions, or its CSV
 * is not Succeeded; the last alone can be accepted (`csv-not-succeeded`). What of this may not be read is waited for as well. Undefined where it may be written,
 * and for a plain KubeVirt.
 */
export async function untilWritable(reader: Reader, owner: SettingsOwner): Promise<Waiting | undefined> {
  if (!passesOn(owner)) return undefined
  const { namespace } = owner.ref
  const { subscriptions, installPlans, csvs } = await takeLifecycle(reader, {
    namespace,
    parts: ['installPlans', 'csvs'],
  })
  const webhook = await reader.get(Deployments, { name: 'hco-webhook', namespace })
  const isKept = !subscriptions.known || subscriptions.items.length > 0
  // Where neither is there nobody would ever convert: it is written in the version that is stored.
  const away =
    (webhook.is === 'object' ? notReady(webhook.object) : undefined) ??
    (webhook.is === 'object' || isKept ? await unconverted(reader) : undefined)
  const waiting = away ?? byOlm({ subscriptions, installPlans, csvs }, owner)
  return waiting && whileStuck(waiting, { subscriptions, csvs }, namespace)
}

/** Whatever else is missing follows from a hold, or from a CSV that somebody deleted: the operator that would bring it is not started (ocp 2.5). */
function whileStuck(
  waiting: Waiting,
  snapshot: Pick<Snapshot, 'subscriptions' | 'csvs'>,
  namespace: string,
): Waiting {
  const { metadata, status } = subscribedIn(snapshot, namespace) ?? {}
  const installed = itemsOf(snapshot.csvs).filter((csv) => csv.metadata.name === status?.installedCSV)
  if (metadata && status?.installedCSV && snapshot.csvs.known && installed.length === 0)
    return {
      ...waiting,
      trouble: goneCsv(metadata.name, status.installedCSV),
      remedy: [showsWithoutCsv(namespace)],
    }
  const held = heldByCondition(installed)
  if (held === undefined) return waiting
  const { csv, message, replaces = 'NAME' } = held
  const why = `kubectl -n ${namespace} get operatorconditions.operators.coreos.com ${replaces} -o yaml     says why`
  return {
    ...waiting,
    trouble: `OLM blocks ${csv}, because ${replaces} forbids to replace it: ${message}`,
    remedy: [why, ...(waiting.remedy ?? [])],
  }
}

type Snapshot = Pick<LifecycleSnapshot, 'subscriptions' | 'installPlans' | 'csvs'>

const subscribedIn = ({ subscriptions }: Pick<Snapshot, 'subscriptions'>, namespace: string) =>
  itemsOf(subscriptions).find(({ metadata }) => metadata.namespace === namespace)

function byOlm({ subscriptions, installPlans, csvs }: Snapshot, owner: SettingsOwner): Waiting | undefined {
  const unseen = [subscriptions, installPlans, csvs].flatMap((part) => (part.known ? [] : [part.why]))
  if (unseen.length > 0) return cannotTell(unseen)
  const { namespace } = owner.ref
  const subscription = subscribedIn({ subscriptions }, namespace)
  if (subscription === undefined) return undefined
  const { installPlanRef, installedCSV = '' } = subscription.status ?? {}
  const plan = itemsOf(installPlans).find(({ metadata }) => metadata.name === installPlanRef?.name)
  const csv = itemsOf(csvs).find(({ metadata }) => metadata.name === installedCSV)
  return installing(plan, namespace) ?? notSucceeded({ name: installedCSV, csv }, owner)
}

const cannotTell = (why: readonly string[]): Waiting => ({
  is: 'waiting',
  on: 'kvup to see that OLM is idle, before it changes HyperConverged',
  trouble: why.join('; '),
  remedy: [roleRemedy('kvup-olm')],
})

function installing(plan: InstallPlan | undefined, namespace: string): Waiting | undefined {
  if (plan?.status?.phase !== 'Installing') return undefined
  const { name } = plan.metadata
  return {
    is: 'waiting',
    on: `installplans/${name} to complete, before kvup changes HyperConverged`,
    remedy: [`kubectl -n ${namespace} get installplan ${name} -o yaml`],
  }
}

/** Its admission and its conversion are both there (hco 7, 8). */
function notReady({ metadata, status }: Deployment): Waiting | undefined {
  if ((status?.availableReplicas ?? 0) > 0) return undefined
  return {
    is: 'waiting',
    on: 'hco-webhook to be ready, before kvup changes HyperConverged',
    remedy: [`kubectl -n ${metadata.namespace} get deployment,pods -l name=hyperconverged-cluster-webhook`],
  }
}

/** OLM takes the conversion out of the CRD with every upgrade, and hco-webhook puts it back (ocp 1.9). */
async function unconverted(reader: Reader): Promise<Waiting | undefined> {
  const name = resourceOf(HyperConvergeds)
  const found = await reader.get(CustomResourceDefinitions, { name })
  if (found.is !== 'object') return undefined
  const { versions = [], conversion } = found.object.spec ?? {}
  const served = versions.filter((one) => one.served === true)
  if (served.length < 2 || conversion?.strategy === 'Webhook') return undefined
  return {
    is: 'waiting',
    on: 'hco-webhook to restore its conversion, before kvup changes HyperConverged',
    remedy: [`kubectl get crd ${name} -o jsonpath='{.spec.conversion.strategy} {.status.storedVersions}'`],
  }
}

function notSucceeded(
  { name, csv }: { name: string; csv: ClusterServiceVersion | undefined },
  { ref, accepted = [] }: SettingsOwner,
): Waiting | undefined {
  const { phase = csv === undefined ? 'not found' : 'new', reason, message } = csv?.status ?? {}
  if (phase === 'Succeeded' || accepted.includes('csv-not-succeeded')) return undefined
  const why = [reason, message].filter(Boolean).join(': ')
  return {
    is: 'waiting',
    on: `clusterserviceversions/${name} to be Succeeded (${phase}), before kvup changes HyperConverged`,
    ...(why !== '' && { trouble: why }),
    remedy: [
      csv === undefined
        ? `kubectl -n ${ref.namespace} get csv,subscriptions.operators.coreos.com`
        : `kubectl -n ${ref.namespace} describe csv ${name}`,
      '--accept csv-not-succeeded, on the same command, writes it anyway: the other safety checks still apply',
    ],
  }
}

/** The CR that takes effect is watched where somebody has to pass things on to it. */
export function watchesOf(owner: SettingsOwner): Watched[] {
  const { kind, ref } = owner.kubevirt
  return passesOn(owner) ? [{ kind, where: ref }] : []
}

/** Undefined once the KubeVirt CR has these methods: HyperConverged copies them, `[]` as absence (hco 5). */
export async function untilPassedOn(
  { reader }: Pick<ReadContext, 'reader'>,
  owner: SettingsOwner,
  methods: readonly string[],
): Promise<Extract<StepState, { is: 'waiting' }> | undefined> {
  if (!passesOn(owner)) return undefined
  const now = methodsOf(await readOwner(reader, owner.kubevirt))
  if (sameMethods(now, methods)) return undefined
  return waitingForOwner(owner, `workloadUpdateMethods ${methodsText(methods)}`)
}

/** HyperConverged has it, KubeVirt not yet. */
export function waitingForOwner(owner: SettingsOwner, what: string): Extract<StepState, { is: 'waiting' }> {
  return {
    is: 'waiting',
    on: `${owner.kind.kind} to pass ${what} on to ${nameOf(owner.kubevirt)}`,
    remedy: [showsWriters(owner), `kubectl -n ${owner.ref.namespace} get deployment hco-operator`],
  }
}
