import { minorOf, type Version } from './version.ts'

/**
 * What the end of a way back takes away besides: at the end of every roll, forward or back, virt-operator deletes what its install strategy does not hold, CRDs
 * among it (kubevirt facts 2.5, step 15; pkg/virt-operator/resource/apply/reconcile.go, deleteObjectsNotInInstallStrategy). Undefined between patches of one
 * minor, which have the same CRDs.
 */
export function crdsThatGo(from: Version, to: Version): string | undefined {
  if (minorOf(from) === minorOf(to)) return undefined
  return `at the end virt-operator deletes the CRDs that ${to.text} does not have, and with them all their objects`
}
