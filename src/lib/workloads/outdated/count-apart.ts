import type { Reader } from '../../cluster/cluster.ts'
import { VirtualMachineInstances } from '../../cluster/kinds/virtual-machines.ts'
import { readAhead } from '../../cluster/read-ahead.ts'
import { outdatedLabel } from '../../facts/workload-count.ts'
import { dueFor } from './due.ts'

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

export interface Counted {
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
