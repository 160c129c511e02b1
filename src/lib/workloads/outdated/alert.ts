import { hours } from '../../system/units.ts'

/** facts 4: `kubevirt_vmi_number_of_outdated != 0` for 24 h. */
export interface OutdatedAlert {
  name: 'OutdatedVirtualMachineInstanceWorkloads'
  /** RFC 3339: it fires at that time at the earliest. Absent: since when they are outdated is not known. */
  firesFrom?: string
  /** Workload updates are held on purpose: it says nothing new. */
  expected: boolean
}

const after = 24 * hours

/** Nothing where KubeVirt counts none. `launcherSince`: when new pods began to get another launcher. */
export function outdatedAlert(
  count: number,
  launcherSince: string | undefined,
  held: boolean,
): OutdatedAlert | undefined {
  if (count === 0) return undefined
  const since = Date.parse(launcherSince ?? '')
  const firesFrom = Number.isNaN(since) ? undefined : new Date(since + after).toISOString()
  return {
    name: 'OutdatedVirtualMachineInstanceWorkloads',
    ...(firesFrom !== undefined && { firesFrom }),
    expected: held,
  }
}
