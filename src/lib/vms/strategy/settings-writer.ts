import type { ReadContext, StepContext, StepState, Watched } from '../../engine/step.ts'
import type { DeepPartial, Reader } from '../../kube/cluster.ts'
import { type KubeObject, resourceOf } from '../../kube/object.ts'
import { readRefusal } from '../../kube/access-rights.ts'
import { ApiError } from '../../kube/errors.ts'
import { nameOf, passesOn, readOwner, type SettingsOwner, showsWriters } from './settings-owner.ts'
import { type Deployment, Deployments } from '../../kube/kinds/workload-kinds.ts'
import { CustomResourceDefinitions } from '../../kube/kinds/extension-kinds.ts'
import {
  type ClusterServiceVersion,
  HyperConvergeds,
  type InstallPlan,
} from '../../kube/kinds/operator-kinds.ts'
import { itemsOf } from '../../kube/known.ts'
import {
  goneCsv,
  heldByCondition,
  type LifecycleSnapshot,
  showsWithoutCsv,
  takeLifecycle,
} from '../../openshift/olm-status.ts'
import { methodsOf, methodsText, sameMethods } from '../update-methods.ts'
import { roleRemedy } from '../../output/kvup-words.ts'

/**
 * One write of settings to whoever owns them. A HyperConverged is asked by a server-side dry run first (night E3). Its webhook tries KubeVirt's and others'
 * webhooks, and refuses while one of them is replaced (hco 7): that is thrown as a failure that passes, and tried again.
 */
export async function writeSettings(
  { writer, reviewer }: Pick<StepContext, 'writer' | 'reviewer'>,
  { kind, ref, ...owner }: SettingsOwner,
  patch: DeepPartial<KubeObject>,
): Promise<void> {
  const isPassedOn = passesOn({ kind, ref, ...owner })
  try {
    if (isPassedOn) await reviewer.dryRun.mergePatch(kind, ref, patch)
    await writer.mergePatch(kind, ref, patch)
  } catch (error) {
    throw isPassedOn ? asPassing(error, ref.namespace) : error
  }
}

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

type Waiting = Extract<StepState, { is: 'waiting' }>

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
    trouble: `OLM holds ${csv}, for ${replaces} says that it may not be replaced: ${message}`,
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
  on: 'whether OLM stands still to be known, before HyperConverged is written',
  trouble: why.join('; '),
  remedy: [roleRemedy('kvup-olm')],
})

function installing(plan: InstallPlan | undefined, namespace: string): Waiting | undefined {
  if (plan?.status?.phase !== 'Installing') return undefined
  const { name } = plan.metadata
  return {
    is: 'waiting',
    on: `installplans/${name} to be carried out, before HyperConverged is written`,
    remedy: [`kubectl -n ${namespace} get installplan ${name} -o yaml`],
  }
}

/** Its admission and its conversion are both there (hco 7, 8). */
function notReady({ metadata, status }: Deployment): Waiting | undefined {
  if ((status?.availableReplicas ?? 0) > 0) return undefined
  return {
    is: 'waiting',
    on: 'hco-webhook to be ready, before HyperConverged is written',
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
    on: 'hco-webhook to put its conversion back, before HyperConverged is written',
    remedy: [`kubectl get crd ${name} -o jsonpath='{.spec.conversion.strategy} {.status.storedVersions}'`],
  }
}

function notSucceeded(
  { name, csv }: { name: string; csv: ClusterServiceVersion | undefined },
  { ref, accepted = [] }: SettingsOwner,
): Waiting | undefined {
  const { phase = csv === undefined ? 'not there' : 'new', reason, message } = csv?.status ?? {}
  if (phase === 'Succeeded' || accepted.includes('csv-not-succeeded')) return undefined
  const why = [reason, message].filter(Boolean).join(': ')
  return {
    is: 'waiting',
    on: `clusterserviceversions/${name} to be Succeeded (${phase}), before HyperConverged is written`,
    ...(why !== '' && { trouble: why }),
    remedy: [
      csv === undefined
        ? `kubectl -n ${ref.namespace} get csv,subscriptions.operators.coreos.com`
        : `kubectl -n ${ref.namespace} describe csv ${name}`,
      '--accept csv-not-succeeded, on the same command, writes it all the same: the rest that makes it safe holds',
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
