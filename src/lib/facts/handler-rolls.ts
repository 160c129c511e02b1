import type { DaemonSet } from '../cluster/kinds/apps.ts'
import type { KubeVirt } from '../cluster/kinds/kubevirt.ts'

const newArgument = 'migration-cn-types'
const oldVolume = 'kubevirt-virt-handler-certs'
const supports = 'kubevirt.io/supports-migration-cn-types'

/**
 * The further rolls that virt-operator v1.7 to v1.9 may still make of virt-handler (facts 2.8). Mostly it does not: where it
 * widened maxUnavailable it never comes to the code that adds the argument, and then may in a later release (lab 9). So this is
 * a doubt and no condition of being done. Undefined where nothing is left.
 */
export function rollToCome(daemonset: DaemonSet): string | undefined {
  return daemonset.metadata.labels?.[supports] === 'true' ? certificateRoll(daemonset) : undefined
}

/** That maxUnavailable of virt-handler is not back at 1 (facts 2.8), in words; undefined where it is, or its owner customized it. */
export function limitLeft(daemonset: DaemonSet, kubevirt: KubeVirt): string | undefined {
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
