import type { ReadContext, Step, StepState } from '../../engine/step.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import { isAccepted, ourRequest, platformFollows, readPlatform, type Stop } from './cluster-version-status.ts'
import type { Reader } from '../../kube/cluster.ts'
import { itemsOf, type Known } from '../../kube/known.ts'
import {
  type AdminGate,
  type Gate,
  kubeletSkew,
  openGates,
  operatorConditionGate,
  type PlatformStatus,
  takePlatform,
} from '../../openshift/platform-status.ts'
import { minorOfPlatform } from '../../releases/release-versions.ts'
import { type HyperConverged, OperatorConditions } from '../../kube/kinds/operator-kinds.ts'
import { condition } from '../../kube/object.ts'
import { assessHyperConverged, getHyperConverged } from '../../openshift/hyperconverged.ts'
import { csvOf, type OperatorRollSnapshot, readOperator } from '../../upgrade/methods/operator-manifest.ts'
import { roleRemedy } from '../../output/kvup-words.ts'

/**
 * What has to be so before the platform goes to another minor (night E1): ClusterVersion and kubelet skew not False, HyperConverged good in every condition,
 * OperatorCondition not False. A patch release asks for the operator's part alone. Passed once the hop was accepted, and once it was asked for: then the platform
 * judges, and what it refuses is taken back behind the request.
 */
export function platformGate({ id, name, ...of }: GateOf & { id: string; name: string }): Step {
  return {
    id,
    title: `check whether the platform can go to ${of.stop.version ?? of.stop.minor}`,
    patience: { every: 15 * seconds, atMost: 30 * minutes },
    estimate: 30 * seconds,
    watches: platformFollows,
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ reader, journal }: ReadContext): Promise<StepState> {
      const observed = await readPlatform(reader)
      if (isAccepted(observed.platformStatus, of.stop)) return { is: 'done' }
      if (await ourRequest(journal, name, observed)) return { is: 'done', note: 'requested already' }
      return (await platformShut(reader, of)) ?? { is: 'done' }
    },
  }
}

/** What is behind a gate: where the hop ends, and the operator that is asked. */
export interface GateOf {
  stop: Stop
  /** Of the operator; none where OLM does not keep it. */
  subscription: SubscriptionRef | undefined
}

/**
 * Why the platform may not be asked for that release now (night E1); undefined where it may. For another minor: ClusterVersion, admin gates and kubelet skew; for every
 * release: the operator. Asked for at the gate, and once more right before the request.
 */
export async function platformShut(reader: Reader, of: GateOf): Promise<Shut | undefined> {
  const { platformStatus } = await readPlatform(reader)
  if (!platformStatus.current) return { is: 'waiting', on: 'the platform to process its current spec' }
  const isMinor = minorOfPlatform(platformStatus.target) !== of.stop.minor
  return (
    (isMinor ? await nextMinorShut(reader, platformStatus) : undefined) ??
    (await operatorShut(reader, of.subscription))
  )
}

/** It says "no" as well while what was updated just now settles: so that is waited for, but an open admin gate is not. */
async function nextMinorShut(reader: Reader, platformStatus: PlatformStatus): Promise<Shut | undefined> {
  const { clusterOperators, adminGates, adminAcks } = await takePlatform(reader, {
    parts: ['clusterOperators', 'adminGates', 'adminAcks'],
  })
  const unseen =
    unread(adminGates, 'an acknowledgement is needed') ??
    unread(clusterOperators, 'kube-apiserver supports its kubelets')
  if (unseen) return unseen
  const [gate] = openGates(
    itemsOf(adminGates)[0],
    itemsOf(adminAcks)[0],
    minorOfPlatform(platformStatus.target),
  )
  if (gate) return unread(adminAcks, `the gate ${gate.name} was acknowledged`) ?? toAcknowledge(gate)
  return (
    saidNo(platformStatus.upgradeable, 'the ClusterVersion to be Upgradeable', 'oc adm upgrade') ??
    saidNo(
      kubeletSkew(clusterOperators),
      'kube-apiserver to support its kubelets',
      'oc get clusteroperator kube-apiserver -o yaml',
    )
  )
}

const toAcknowledge = ({ name, text }: AdminGate): Shut => ({
  is: 'blocked',
  reason: 'admin-gate',
  by: `the gate ${name} is open: ${text}`,
  remedy: [
    `oc -n openshift-config patch configmap admin-acks --type=merge -p '{"data":{"${name}":"true"}}'     once you have done what it says; kvup never acknowledges`,
  ],
})

interface SubscriptionRef {
  namespace: string
  name: string
  uid: string
}

/**
 * Why the operator holds the platform up; undefined where it does not. Every condition of HyperConverged is asked, for Upgradeable=True alone is said of one that is not
 * Available too (ocp 9.5). Where OLM keeps it there has to be one: none that is served is not the same as none.
 */
async function operatorShut(
  reader: Reader,
  subscription: SubscriptionRef | undefined,
): Promise<Shut | undefined> {
  const found = await getHyperConverged(reader)
  const unseen = unread(found, 'HyperConverged lets the platform continue')
  if (unseen) return unseen
  const hcos = itemsOf(found)
  if (subscription !== undefined && hcos.length === 0) return missing(subscription)
  const unfit = hcos.map(notGood).find((shut) => shut !== undefined)
  return unfit ?? (subscription && heldByOperator(reader, subscription))
}

function notGood(hco: HyperConverged): Shut | undefined {
  const { good, why, name, namespace, current } = assessHyperConverged(hco)
  if (good) return undefined
  const on = `HyperConverged ${name} to be healthy in every condition`
  const remedy = [`oc -n ${namespace} get hyperconvergeds.hco.kubevirt.io ${name} -o yaml`]
  if (!current || isAtWork(hco)) return { is: 'waiting', on, trouble: why.join('; '), remedy }
  return { is: 'stalled', on, why: why.join('; '), remedy }
}

/** It reconciles, what kvup has just borrowed as well: that passes by itself, and is nobody's trouble yet. */
const isAtWork = (hco: HyperConverged): boolean =>
  condition(hco, 'Progressing')?.status === 'True' && condition(hco, 'Degraded')?.status !== 'True'

const missing = ({ namespace, name }: SubscriptionRef): Shut => ({
  is: 'blocked',
  reason: 'hyperconverged-missing',
  by: `subscriptions/${name} in namespace ${namespace} manages the operator, but HyperConverged has no API version that kvup can read`,
  remedy: ['oc get hyperconvergeds.hco.kubevirt.io -A', 'oc api-resources --api-group=hco.kubevirt.io'],
})

/** The OperatorCondition bears the name of the CSV that is installed (ocp 1.8), which has to be Succeeded still. */
async function heldByOperator(reader: Reader, subscription: SubscriptionRef): Promise<Shut | undefined> {
  const { namespace } = subscription
  const snapshot = await readOperator(reader, { subscription })
  const unsettled = installedUnsettled(snapshot)
  if (unsettled) return unsettled
  const name = snapshot.subscription.status?.installedCSV ?? ''
  const found = await reader.get(OperatorConditions, { name, namespace })
  // None lets everything through (ocp 2.5).
  if (found.is !== 'object') return undefined
  const show = `oc -n ${namespace} get operatorconditions.operators.coreos.com ${name} -o yaml`
  return saidNo(operatorConditionGate(found.object), 'the operator to be Upgradeable for OLM', show)
}

/**
 * What is not so of the CSV that the Subscription says is installed; undefined where it is Succeeded at this look. A CSV falls back whenever its Deployments
 * do (ocp 2.4), so that an earlier Succeeded says nothing.
 */
export function installedUnsettled(snapshot: OperatorRollSnapshot): Shut | undefined {
  const { metadata, status = {} } = snapshot.subscription
  const { namespace = '', name } = metadata
  const { installedCSV } = status
  if (installedCSV === undefined)
    return {
      is: 'waiting',
      on: `subscriptions/${name} to say which ClusterServiceVersion is installed`,
      remedy: [`oc -n ${namespace} get subscriptions.operators.coreos.com ${name} -o yaml`],
    }
  const { phase = 'none', reason, message } = csvOf(snapshot, { csv: installedCSV })?.status ?? {}
  if (phase === 'Succeeded') return undefined
  const why = [reason, message].filter(Boolean).join(': ')
  return {
    is: 'waiting',
    on: `clusterserviceversions/${installedCSV} to be Succeeded, it is ${phase}`,
    ...(why !== '' && { trouble: why }),
    remedy: [
      `oc -n ${namespace} describe clusterserviceversion ${installedCSV}`,
      `oc -n ${namespace} get pods`,
    ],
  }
}

/** What a step says while a gate is shut. */
type Shut = Extract<StepState, { is: 'blocked' | 'stalled' | 'waiting' }>

/** Somebody says no. What is read and says neither is no "no" (night E1). */
function saidNo(gate: Gate, on: string, show: string): Shut | undefined {
  if (gate.is !== 'no') return undefined
  return { is: 'stalled', on, why: gate.message || gate.reason, remedy: [show] }
}

/** What could not be read lets nothing through. */
function unread(part: Known<unknown>, what: string): Shut | undefined {
  if (part.known) return undefined
  return {
    is: 'blocked',
    reason: 'gate-not-readable',
    by: `kvup cannot see whether ${what}: ${part.why}`,
    remedy: [roleRemedy('kvup-view')],
  }
}
