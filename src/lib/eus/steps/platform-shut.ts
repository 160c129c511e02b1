import type { Reader } from '../../cluster/cluster.ts'
import { itemsOf } from '../../facts/known.ts'
import { type AdminGate, openGates } from '../../facts/openshift/admin-gates.ts'
import { kubeletSkew } from '../../facts/openshift/kubelet-skew.ts'
import type { PlatformStanding } from '../../facts/openshift/platform-standing.ts'
import { takePlatform } from '../../facts/openshift/take-platform.ts'
import { operatorShut, type SubscriptionRef } from './operator-shut.ts'
import { readPlatform } from './read-platform.ts'
import type { Stop } from './at-stop.ts'
import { saidNo, type Shut, unread } from './shut.ts'
import { minorOfPlatform } from '../../releases/platform-version.ts'

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
  const { standing } = await readPlatform(reader)
  if (!standing.current) return { is: 'waiting', on: 'the platform to see its present spec' }
  const isMinor = minorOfPlatform(standing.target) !== of.stop.minor
  return (
    (isMinor ? await nextMinorShut(reader, standing) : undefined) ??
    (await operatorShut(reader, of.subscription))
  )
}

/** It says "no" as well while what was updated just now settles: so that is waited for, but an open admin gate is not. */
async function nextMinorShut(reader: Reader, standing: PlatformStanding): Promise<Shut | undefined> {
  const { clusterOperators, adminGates, adminAcks } = await takePlatform(reader, {
    parts: ['clusterOperators', 'adminGates', 'adminAcks'],
  })
  const unseen =
    unread(adminGates, 'an administrator has to acknowledge something') ??
    unread(clusterOperators, 'kube-apiserver tolerates its kubelets')
  if (unseen) return unseen
  const [gate] = openGates(itemsOf(adminGates)[0], itemsOf(adminAcks)[0], minorOfPlatform(standing.target))
  if (gate) return unread(adminAcks, `the gate ${gate.name} was acknowledged`) ?? toAcknowledge(gate)
  return (
    saidNo(standing.upgradeable, 'the ClusterVersion to be Upgradeable', 'oc adm upgrade') ??
    saidNo(
      kubeletSkew(clusterOperators),
      'kube-apiserver to tolerate its kubelets',
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
