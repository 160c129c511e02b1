import type { DaemonSet } from '../cluster/kinds/apps.ts'
import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'

const newArgument = 'migration-cn-types'
const oldVolume = 'kubevirt-virt-handler-certs'
const supports = 'kubevirt.io/supports-migration-cn-types'

/**
 * What virt-operator still has to do to virt-handler after its pods are new: the second and third roll of v1.7 and
 * later, and maxUnavailable back at 1 (facts 2.8). Undefined when nothing is left.
 */
export function handlerRollLeft(daemonset: DaemonSet, kubevirt: KubeVirt): string | undefined {
  const roll = daemonset.metadata.labels?.[supports] === 'true' ? certificateRoll(daemonset) : undefined
  if (roll !== undefined) return roll
  const unavailable = maxUnavailable(daemonset)
  if (unavailable === '1' || customized(kubevirt)) return undefined
  return `virt-operator to put maxUnavailable back from ${unavailable} to 1`
}

function certificateRoll(daemonset: DaemonSet): string | undefined {
  const { containers = [], volumes = [] } = daemonset.spec?.template?.spec ?? {}
  if (!containers[0]?.args?.some((arg) => arg.includes(newArgument)))
    return `its second roll, for --${newArgument}`
  return volumes.some((volume) => volume.name === oldVolume)
    ? `its last roll, without volume ${oldVolume}`
    : undefined
}

/** As it is written; Kubernetes' default is 1. */
function maxUnavailable(daemonset: DaemonSet): string {
  return String(daemonset.spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1)
}

function customized(kubevirt: KubeVirt): boolean {
  return (kubevirt.spec?.customizeComponents?.patches ?? []).some(
    ({ resourceName, patch }) => resourceName === 'virt-handler' && patch.includes('maxUnavailable'),
  )
}
