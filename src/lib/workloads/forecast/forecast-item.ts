import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import type { Fate } from '../fate.ts'
import type { Reason } from '../outdated/reasons.ts'
import type { Span } from './migration-time.ts'

/** What becomes of a VM; `is down`: it does not run, and gets the new virt-launcher when it is started. */
export type Outcome = Fate | 'is down'

export const outcomes: readonly Outcome[] = [
  'migrates',
  'restarts',
  'shuts down',
  'is lost',
  'stays',
  'is down',
]

/** What the server says to the eviction of its pod, asked as a dry run. */
export interface Probe {
  answer: 'allowed' | 'evacuates' | 'denied' | 'not asked'
  /** The server's words. */
  message?: string
}

/** One VM, as a row and as an item of the document. */
export interface ForecastItem {
  namespace: string
  name: string
  /** Of the VMI: `--score` tells by it whether it is another one. Absent: none runs. */
  uid?: string
  node?: string
  /** The image that it runs. */
  launcher?: string
  /** Absent: the methods may not be read. */
  will?: Outcome
  /** The first one decides. */
  why: readonly Reason[]
  /** Volumes whose content goes with its pod. */
  loses: readonly string[]
  remedy: readonly string[]
  /** How long its migration takes, in seconds. */
  seconds?: Span
  probe?: Probe
}

/** What is said of a VMI whatever becomes of it. */
export function plainItem({ metadata, status }: VirtualMachineInstance): ForecastItem {
  const image = status?.launcherContainerImageVersion
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    ...(metadata.uid && { uid: metadata.uid }),
    ...(status?.nodeName && { node: status.nodeName }),
    ...(image && { launcher: image }),
    why: [],
    loses: [],
    remedy: [],
  }
}
