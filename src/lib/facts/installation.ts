import type { Deployment } from '../cluster/kinds/apps.ts'
import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'
import { blocked, forbidden, type KvupError } from '../system/errors.ts'
import { roleRemedy } from '../system/role-remedy.ts'
import { itemsOf } from './known.ts'
import { type Manager, managerOf } from './ownership.ts'
import { type Operator, operatorOf } from './operator.ts'
import type { Snapshot } from './snapshot.ts'

/** One KubeVirt and the operator that looks after it. */
export interface Installation {
  is: 'one'
  name: string
  namespace: string
  uid: string
  /** As it was read: `kubevirt.io/v1`, or `kubevirt.io/v1alpha3` where v1 is not served. */
  apiVersion: string
  manager: Manager
  /** Undefined when it is gone, in another namespace, or may not be read. */
  operator?: Operator
  imageTag?: string
  imageRegistry?: string
  /** As written; empty where it is absent, which means no automated workload update. */
  workloadUpdateMethods: readonly string[]
  /** The KubeVirt and the Deployment as they were seen. */
  kubevirt: KubeVirt
  deployment?: Deployment
}

export type Found =
  | Installation
  /** Night U7: with an operator, it "does nothing until that resource exists". */
  | { is: 'none'; operator?: Operator }
  | { is: 'several'; found: readonly { namespace: string; name: string }[] }
  | { is: 'unknown'; why: string }

/** Which KubeVirt there is, who manages it, and by what it is followed. */
export function installation(snapshot: Snapshot): Found {
  if (!snapshot.kubevirts.known) return { is: 'unknown', why: snapshot.kubevirts.why }
  const [kubevirt, second] = snapshot.kubevirts.items
  const deployments = itemsOf(snapshot.operators)
  if (!kubevirt) return { is: 'none', ...operatorPart(deployments[0]) }
  if (second) return { is: 'several', found: snapshot.kubevirts.items.map(nameOf) }
  const deployment = deployments.find((d) => d.metadata.namespace === kubevirt.metadata.namespace)
  return one(kubevirt, deployment)
}

/** The installation, or the error that ends every command but `status`: exit 3, and 7 where it may not be read. */
export function theInstallation(snapshot: Snapshot): Installation {
  const found = installation(snapshot)
  if (found.is !== 'one') throw notOne(found)
  return found
}

/** Why there is nothing to work on, as an error. */
export function notOne(found: Exclude<Found, Installation>): KvupError {
  if (found.is === 'unknown')
    return forbidden('kubevirts-not-readable', `cannot tell which KubeVirt there is: ${found.why}`, {
      remedy: roleRemedy('kvup-view'),
    })
  if (found.is === 'several') return severalKubeVirts(found.found)
  return found.operator
    ? operatorAlone(found.operator)
    : blocked('no-kubevirt', 'there is no KubeVirt here', {
        remedy: findCommand,
        sought: findCommand,
      })
}

const findCommand = 'kubectl get kubevirts.kubevirt.io -A'

/** What makes an operator without a KubeVirt begin. */
export function createCommand({ version = 'VERSION' }: Pick<Operator, 'version'>): string {
  return `kubectl apply -f https://github.com/kubevirt/kubevirt/releases/download/${version}/kubevirt-cr.yaml`
}

function operatorAlone({ namespace, version }: Operator): KvupError {
  return blocked(
    'no-kubevirt-cr',
    `virt-operator ${version ?? 'of unknown version'} runs in namespace ${namespace}, but there is no KubeVirt resource: it does nothing until that resource exists`,
    { remedy: createCommand(version === undefined ? {} : { version }), sought: findCommand },
  )
}

function severalKubeVirts(found: readonly { namespace: string; name: string }[]): KvupError {
  const names = found.map(({ namespace, name }) => `${namespace}/${name}`).join(', ')
  return blocked('several-kubevirts', `there are ${found.length} KubeVirts (${names}); a cluster has one`, {
    remedy: 'kubectl get kubevirts.kubevirt.io -A, then delete the one that virt-operator does not follow',
  })
}

function one(kubevirt: KubeVirt, deployment: Deployment | undefined): Installation {
  const { workloadUpdateStrategy } = kubevirt.spec ?? {}
  return {
    is: 'one',
    ...nameOf(kubevirt),
    uid: kubevirt.metadata.uid ?? '',
    apiVersion: kubevirt.apiVersion,
    manager: managerOf(kubevirt) ?? (deployment ? managerOf(deployment) : undefined) ?? { kind: 'plain' },
    ...operatorPart(deployment),
    ...imageSource(kubevirt),
    workloadUpdateMethods: workloadUpdateStrategy?.workloadUpdateMethods ?? [],
    kubevirt,
    ...(deployment ? { deployment } : {}),
  }
}

/** An empty text is as good as none to virt-operator (facts 2.1). */
function imageSource({ spec = {} }: KubeVirt): { imageTag?: string; imageRegistry?: string } {
  const { imageTag, imageRegistry } = spec
  return { ...(imageTag && { imageTag }), ...(imageRegistry && { imageRegistry }) }
}

function operatorPart(deployment: Deployment | undefined): { operator?: Operator } {
  return deployment ? { operator: operatorOf(deployment) } : {}
}

function nameOf({ metadata }: KubeVirt): { namespace: string; name: string } {
  return { namespace: metadata.namespace ?? '', name: metadata.name }
}
