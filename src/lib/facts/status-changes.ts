import type { Reader, Where } from '../cluster/cluster.ts'
import type { Kind } from '../cluster/kind.ts'
import { DaemonSets, Deployments } from '../cluster/kinds/apps.ts'
import { KubeVirts } from '../cluster/kinds/kubevirt.ts'
import { Pods } from '../cluster/kinds/pods.ts'
import type { Clock } from '../system/clock.ts'
import { Bell } from './bell.ts'
import { LastLines } from './last-lines.ts'
import { layerKinds } from './layers/layer-kinds.ts'
import { statusReport, type StatusReport } from './status-report.ts'

interface Watching {
  reader: Reader
  clock: Clock
  signal: AbortSignal
  /** See `statusReport`. */
  loansAreOpen?: (namespace: string) => Promise<boolean>
}

/** Changes come in bursts: one report for all that happens within this time, ms. */
const burst = 300
/** A look without any change: verdicts also change by time alone. */
const lookEvery = 15_000

/** A report now and one whenever it would read differently; ends by throwing the signal's reason. */
export async function* statusChanges(watching: Watching): AsyncGenerator<StatusReport> {
  const { reader, clock, signal, loansAreOpen } = watching
  const done = new AbortController()
  const bell = new Bell()
  const logs = new LastLines()
  let before = ''
  try {
    for (;;) {
      const report = await statusReport(reader, clock, { logs, ...(loansAreOpen && { loansAreOpen }) })
      const { takenAt: _, ...rest } = report
      const text = JSON.stringify(rest)
      if (text !== before) yield report
      if (before === '')
        ringOnChange(reader, report, { bell, signal: AbortSignal.any([signal, done.signal]) })
      before = text
      await bell.wait(clock, lookEvery, signal)
      await clock.sleep(burst, signal)
    }
  } finally {
    done.abort()
  }
}

function ringOnChange(
  reader: Reader,
  report: StatusReport,
  { bell, signal }: { bell: Bell; signal: AbortSignal },
) {
  const namespace = report.installation?.namespace ?? report.idleOperator?.namespace
  const pods = { namespace, labels: 'kubevirt.io,kubevirt.io!=virt-launcher' }
  const followed: readonly (readonly [Kind, Where])[] = [
    [KubeVirts, {}],
    [Deployments, { namespace }],
    [DaemonSets, { namespace, labels: 'kubevirt.io' }],
    [Pods, pods],
    ...(report.layers ? layerKinds(report.layers, namespace) : []),
  ]
  for (const [kind, where] of followed) void ring(reader, kind, where, { bell, signal })
}

/** A watch that ends or is refused leaves the regular look. */
async function ring(
  reader: Reader,
  kind: Kind,
  where: Where,
  { bell, signal }: { bell: Bell; signal: AbortSignal },
) {
  try {
    for await (const change of reader.follow(kind, where, signal)) if (change.type !== 'lost') bell.ring()
  } catch {
    bell.ring()
  }
}
