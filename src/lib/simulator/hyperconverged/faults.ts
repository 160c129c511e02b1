/** What goes wrong with HyperConverged: its operator, its webhook, and the components beside KubeVirt. Plain data. */
export interface HyperConvergedFaults {
  /** Its operator hangs: nothing is passed on to KubeVirt, nothing set back, nothing said. */
  hyperConvergedStopped?: boolean | undefined
  /** Each of its passes ends in this error, in its words (ocp 1.5). */
  reconcileError?: string | undefined
  /** What components other than KubeVirt say of themselves, for as long as it is on. */
  components?: readonly ComponentFault[] | undefined
  /** Its webhook refuses each change: nobody answers it, or the webhook of a component that it tries the change on (hco 7). */
  changesRefused?: 'nobody-answers' | 'dry-run-fails' | undefined
  /** The conversion is missing from the CRD, and hco-webhook does not put it back (hco 8). */
  conversionLost?: boolean | undefined
}

interface ComponentFault {
  readonly component: ComponentKind
  readonly is: 'progressing' | 'degraded' | 'unavailable' | 'not-upgradeable'
  /** In its words. */
  readonly message: string
}

export type ComponentKind = 'CDI' | 'NetworkAddonsConfig' | 'SSP'
