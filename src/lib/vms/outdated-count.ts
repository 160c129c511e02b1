import type { Reader } from '../kube/cluster.ts'
import { VirtualMachineInstances } from '../kube/kinds/kubevirt-kinds.ts'
import { readAhead } from '../kube/read-cache.ts'
import { outdatedLabel } from '../kubevirt/vm-tally.ts'
import { dueFor } from './workload-updater.ts'
import { launcherImage } from '../kubevirt/lease-holders.ts'
import type { Snapshot } from '../kubevirt/snapshot.ts'
import { isNotFound } from '../kube/errors.ts'
import { hours } from '../kube/clock.ts'

/** `status.outdatedVirtualMachineInstanceWorkloads` beside the labels, and what lies between them (facts 3.2). */
export interface CountApart {
  /** Absent: the status does not say. */
  reported?: number
  labelled: number
  /** Counted without the label: they wait for a hotplug or a volume migration, which the same updater carries out. */
  hotplug: number
  volumes: number
  /** On another launcher and not labelled yet. */
  unlabelled: number
  /** Labelled, and not counted: they do not run, or are being deleted. */
  notRunning: number
  /** Why the two need not agree now. */
  stale?: 'updating'
}

interface Counted {
  reported: number | undefined
  labelled: number
  /** Of those that are labelled. */
  notRunning: number
  updating: boolean
  /** Undefined: which launcher is the new one is not known. */
  launcher: string | undefined
}

/** Lists the VMIs without the label only where the two differ and that tells why. Throws ApiError. */
export async function countApart(reader: Reader, counted: Counted): Promise<CountApart> {
  const { reported, labelled, notRunning, updating, launcher } = counted
  const plain: CountApart = {
    ...(reported !== undefined && { reported }),
    labelled,
    notRunning,
    hotplug: 0,
    volumes: 0,
    unlabelled: 0,
    ...(updating && { stale: 'updating' }),
  }
  const agree = reported === undefined || reported === labelled - notRunning
  return updating || agree ? plain : { ...plain, ...(await dueWithoutLabel(reader, launcher)) }
}

async function dueWithoutLabel(reader: Reader, launcher: string | undefined) {
  const due = { launcher: 0, hotplug: 0, volumes: 0 }
  const others = reader.pages(VirtualMachineInstances, { labels: `!${outdatedLabel}` })
  for await (const { items } of readAhead(others))
    for (const vmi of items) {
      const why = dueFor(vmi, launcher)
      if (why !== undefined) due[why]++
    }
  const { launcher: unlabelled, hotplug, volumes } = due
  return { unlabelled, hotplug, volumes }
}

/** What the label and these reasons do not account for: the count is rewritten every few seconds (lab, Workloads 3). */
export function unexplained({ reported, labelled, ...rest }: CountApart): number {
  if (reported === undefined || rest.stale) return 0
  const { hotplug, volumes, unlabelled, notRunning } = rest
  return reported - (labelled + hotplug + volumes + unlabelled - notRunning)
}

/**
 * Running VMIs whose launcher is not the one of the current virt-controller and that are not labelled outdated yet: while
 * there are any, counts of outdated workloads are too low (facts 3.1; images are compared as strings, as KubeVirt does).
 */
export async function countUnlabelled(reader: Reader, snapshot: Snapshot): Promise<number> {
  const image = launcherImage(snapshot)
  if (image === undefined) return 0
  let count = 0
  try {
    for await (const page of reader.pages(VirtualMachineInstances, { labels: `!${outdatedLabel}` }))
      count += page.items.filter(({ status }) => {
        const runs = status?.launcherContainerImageVersion
        return status?.phase === 'Running' && runs !== undefined && runs !== '' && runs !== image
      }).length
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return count
}

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
