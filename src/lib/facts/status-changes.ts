import type { Reader, Where } from '../cluster/cluster.ts'
import type { Kind } from '../cluster/kind.ts'
import { DaemonSets, Deployments } from '../cluster/kinds/apps.ts'
import { KubeVirts } from '../cluster/kinds/kubevirt.ts'
import { Pods } from '../cluster/kinds/pods.ts'
import type { Clock } from '../system/clock.ts'
import { Bell } from './bell.ts'
import { leaseWatchOf } from './health/lease-watch.ts'
import { VmLook } from './health/vm-troubles.ts'
import { LastLines } from './last-lines.ts'
import { layerKinds } from './layers/layer-kinds.ts'
import { ringOnChange } from './ring-on-change.ts'
import { podsBesideVms } from './stamps.ts'
import { statusReport, type StatusReport } from './status-report.ts'

interface Watching {
  reader: Reader
  clock: Clock
  signal: AbortSignal
  /** Told before a wait that is not for a change. */
  told?: (line: string) => void
  /** See `statusReport`. */
  loansAreOpen?: (namespace: string) => Promise<boolean>
}

/** Changes come in bursts: one report for all that happens within this time, ms. */
const burst = 300
/** A look without any change: verdicts also change by time alone. */
const lookEvery = 15_000

/** A report now and one whenever it would read differently; ends by throwing the signal's reason. */
export async function* statusChanges(watching: Watching): AsyncGenerator<StatusReport> {
  const { reader, clock, signal, told, loansAreOpen } = watching
  const done = new AbortController()
  const bell = new Bell()
  const kept = { logs: new LastLines(), leases: leaseWatchOf(clock), vms: new VmLook() }
  const asks = { ...kept, signal, ...(told && { told }), ...(loansAreOpen && { loansAreOpen }) }
  let before = ''
  try {
    for (;;) {
      const report = await statusReport(reader, clock, asks)
      const { takenAt: _, ...rest } = report
      const text = JSON.stringify(rest)
      if (text !== before) yield report
      if (before === '')
        ringOnChange(reader, followedFor(report), {
          bell,
          signal: AbortSignal.any([signal, done.signal]),
        })
      before = text
      await bell.wait(clock, lookEvery, signal)
      await clock.sleep(burst, signal)
    }
  } finally {
    done.abort()
  }
}

function followedFor(report: StatusReport): readonly (readonly [Kind, Where])[] {
  const namespace = report.installation?.namespace ?? report.idleOperator?.namespace
  const pods = { namespace, labels: podsBesideVms }
  return [
    [KubeVirts, {}],
    [Deployments, { namespace }],
    [DaemonSets, { namespace }],
    [Pods, pods],
    ...(report.layers ? layerKinds(report.layers, namespace) : []),
  ]
}
