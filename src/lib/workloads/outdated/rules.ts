import type { Loan } from '../../procedure/journal.ts'
import type { Launcher } from './launchers.ts'
import type { Selection } from './selection.ts'

/** What decides over an outdated VMI. */
export interface UpdateRules {
  methods: readonly string[]
  /** `configuration.evictionStrategy`; a VMI's own was frozen at its creation (facts 1.3). */
  clusterEviction: string | undefined
}

/** The cluster as far as it decides over a VMI. What is left out is not known, and nothing is claimed of it. */
export interface OutlookRules extends UpdateRules {
  /** Target and observed differ: nothing is moved before the update is over (facts 3.2). */
  updating?: boolean
  /** How many nodes take VMs; on one alone nothing can migrate (facts 3.3). */
  nodes?: number
  /** For what the methods are borrowed, where they are: its end gives them back. */
  held?: Pick<Loan, 'procedure'> | undefined
  /** The VMs that were asked for: what helps one of them is to move no others. */
  asked?: Selection
  /** VMIs with an unfinished migration, `namespace/name`, whoever made it. */
  migrating?: ReadonlySet<string>
  /** VMs may not be read: whether one comes back is not known. */
  machinesUnread?: boolean
  /** What is known of a launcher image (night W9). */
  launcher?: (image: string) => Launcher
}

/** On one node every migration fails (facts 3.3); where their number is not known there are enough. */
export const isAlone = ({ nodes }: OutlookRules): boolean => nodes !== undefined && nodes < 2
