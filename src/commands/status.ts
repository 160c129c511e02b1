import { Command } from 'commander'
import type { Context } from '../context.ts'
import type { Reader } from '../lib/cluster/cluster.ts'
import { statusChanges } from '../lib/facts/status-changes.ts'
import { statusReport, type StatusReport } from '../lib/facts/status-report.ts'
import { type StatusDocument, statusView } from '../lib/output/views/status.ts'
import { type ExitCode, exitCode } from '../lib/system/exit-codes.ts'
import type { Wire } from '../wire.ts'

export interface StatusOptions {
  watch?: boolean
  exitCode?: boolean
}

export function statusCommand(wire: Wire): Command {
  return new Command('status')
    .option('-w, --watch', 'go on, and print again at every change')
    .option('--exit-code', 'exit 0 when Settled, 10 Updating, 4 Stalled, 3 Degraded')
    .action(wire(status))
}

const codes: Record<NonNullable<StatusReport['verdict']>, ExitCode> = {
  Settled: exitCode.done,
  Updating: exitCode.asked,
  Stalled: exitCode.timedOut,
  Degraded: exitCode.blocked,
}

/** Exit 0 whatever it finds, unless asked for the verdict; no KubeVirt at all or several is `blocked`. */
export async function status(cx: Context, options: StatusOptions): Promise<ExitCode> {
  const { reader } = await cx.cluster()
  if (options.watch) return follow(cx, reader)
  const report = await statusReport(reader, cx.clock)
  cx.printer.result(documentOf(report), statusView)
  return options.exitCode ? codes[report.verdict ?? 'Degraded'] : exitCode.done
}

/** Until Ctrl-C. */
async function follow({ printer, clock, signal }: Context, reader: Reader): Promise<ExitCode> {
  for await (const report of statusChanges({ reader, clock, signal }))
    printer.result(documentOf(report), statusView)
  return exitCode.done
}

function documentOf(report: StatusReport): StatusDocument {
  return { apiVersion: 'kvup.io/v1alpha1', kind: 'Status', ...report }
}
