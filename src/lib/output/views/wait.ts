import type { StatusReport } from '../../status/status-report.ts'
import { vmTroubleLines } from './report-lines.ts'
import { formatDuration } from '../../kube/duration.ts'
import type { Cause } from '../../kubevirt/diagnosis/pod-trouble.ts'
import type { VmTroubles } from '../../kubevirt/diagnosis/vm-troubles.ts'
import type { Document, View } from '../printer.ts'
import { wrap } from '../text.ts'

export interface WaitDocument extends Document {
  kind: 'Wait'
  /** The condition. */
  for: string
  met: boolean
  verdict?: NonNullable<StatusReport['verdict']>
  /** Observed. */
  version?: string
  tookSeconds: number
  /** The first thing that is missing. */
  waitingFor?: string
  why?: readonly Cause[]
  /** VMs that should run and do not; absent where there is none. */
  vms?: VmTroubles
  /** What could not be seen and was therefore not judged. */
  remarks?: readonly string[]
}

export const waitView: View<WaitDocument> = {
  text: ({ for: condition, met, version, verdict, tookSeconds, vms }, paint, size) => [
    ...wrap(
      [
        met ? paint.good(`${condition} holds`) : paint.bad(`${condition} does not hold`),
        ...kubeVirtWords({ ...(verdict && { verdict }), ...(version !== undefined && { version }) }),
        `after ${formatDuration(tookSeconds * 1000)}`,
      ].join(` ${paint.mark.dot} `),
      size.columns,
    ),
    ...(vms ? vmTroubleLines(vms).flatMap((line) => wrap(line, size.columns)) : []),
  ],
  names: ({ for: condition }) => [`condition/${condition}`],
}

/** Nothing where KubeVirt was not asked about, as for the pools. */
function kubeVirtWords({ verdict, version }: Pick<WaitDocument, 'verdict' | 'version'>): string[] {
  return verdict === undefined ? [] : [`KubeVirt ${version ?? 'of no version yet'}`, verdict.toLowerCase()]
}
