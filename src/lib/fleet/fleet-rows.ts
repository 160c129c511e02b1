import { exitCode, type ExitCode, type KvupError } from '../kube/errors.ts'
import { filled } from '../kube/known.ts'
import type { ClusterState, StateName } from '../status/cluster-state.ts'
import type { StatusReport } from '../status/status-report.ts'

/** What is true of a cluster of the fleet, in one word: of one that was read what `kvup status` says. */
export type FleetState = StateName | 'Unreachable' | 'Forbidden' | 'Failed'

/** The worst first. */
const worstFirst: readonly FleetState[] = [
  'Unreachable',
  'Failed',
  'Forbidden',
  'Degraded',
  'Stalled',
  'OutOfStep',
  'CanaryFailed',
  'MigrationsFailing',
  'NotInstalled',
  'NoCluster',
  'Interrupted',
  'Waiting',
  'Updating',
  'Running',
  'NotChecked',
  'Healthy',
]

/** A cluster in one line. */
export interface FleetRow {
  name: string
  context: string
  /** Where the fleet file names one for this cluster. */
  kubeconfig?: string
  server?: string
  /** Of the namespace kube-system, by which a cluster is known. Absent where it could not be read. */
  uid?: string
  /** Other contexts of the same cluster, which are not looked at again. */
  also?: readonly string[]
  state: FleetState
  /** The worst over KubeVirt and all layers, as `kvup status -o json` has it. */
  verdict?: string
  /** Of KubeVirt alone: without VMs, operators and platform around it. */
  kubevirt?: string
  version?: string
  /** Where it is on the way to, if it is. */
  target?: string
  vms?: number
  outdated?: number
  /** In one sentence, where it is not simply healthy. */
  why?: string
  next?: string
  /** Of one that could not be read: as `kvup status` would have ended. */
  error?: { code: number; reason: string; message: string }
}

/** Which cluster a row is of. */
export type FleetPlace = Pick<FleetRow, 'name' | 'context' | 'kubeconfig' | 'server' | 'uid' | 'also'>

/** A cluster that was read. Pure. */
export function rowOf(place: FleetPlace, report: StatusReport, state: ClusterState): FleetRow {
  const { observed, target, workloads, overall, verdict } = report
  const { instances, outdated } = workloads
  const [from, to] = [observed?.version, target?.version]
  return {
    ...place,
    state: state.is,
    ...filled({
      verdict: overall?.verdict ?? verdict,
      kubevirt: verdict,
      version: from,
      target: to === from ? undefined : to,
      vms: instances,
      outdated: outdated.labelled ?? outdated.reported,
    }),
    ...(state.is === 'Healthy'
      ? filled({ why: pausedIn(state) })
      : filled({ why: whyOf(state, report), next: state.next })),
  }
}

const pausedIn = ({ why }: ClusterState): string | undefined => why.find((line) => line.startsWith('paused '))

function whyOf({ headline, why }: ClusterState, { why: causes = [], overall }: StatusReport): string {
  const cause = causes[0]?.sentence ?? overall?.because
  if (cause !== undefined) return cause
  const [, said = headline] = /^.*?: (?<said>.+)$/u.exec(headline) ?? []
  return said.startsWith('healthy') ? (why[0] ?? said) : said
}

/** A cluster that could not be read: shown, never left out. */
export function failedRow(place: FleetPlace, error: KvupError): FleetRow {
  const { exitCode: code, reason, message } = error
  const state =
    code === exitCode.unreachable
      ? 'Unreachable'
      : code === exitCode.forbidden
        ? 'Forbidden'
        : reason === 'no-kubevirt'
          ? 'NotInstalled'
          : 'Failed'
  return { ...place, state, why: message, error: { code, reason, message } }
}

/** The worst first; what is alike keeps the order of the fleet. */
export const inOrder = (rows: readonly FleetRow[]): readonly FleetRow[] =>
  rows.toSorted((one, other) => worstFirst.indexOf(one.state) - worstFirst.indexOf(other.state))

/** What `--exit-code` makes of a verdict. */
export const verdictCodes: Readonly<Record<string, ExitCode>> = {
  Healthy: exitCode.done,
  Updating: exitCode.asked,
  Waiting: exitCode.asked,
  Stalled: exitCode.timedOut,
  Degraded: exitCode.blocked,
}

const codeOf = ({ error, verdict }: FleetRow): ExitCode =>
  error === undefined ? (verdictCodes[verdict ?? 'Degraded'] ?? exitCode.blocked) : (error.code as ExitCode)

/** Of the worst cluster; of those that were read only where `verdicts` count. */
export function fleetCode(rows: readonly FleetRow[], verdicts: boolean): ExitCode {
  const counting = inOrder(rows).filter((row) => row.error !== undefined || verdicts)
  return counting.map(codeOf).find((code) => code !== exitCode.done) ?? exitCode.done
}
