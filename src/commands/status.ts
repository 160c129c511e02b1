import type { Context, Wire } from '../context.ts'
import { alertsOption, asksCluster, fromOption, KvupCommand } from './command-options.ts'
import type { StatusOptions } from './status/status.ts'

/** Loaded when it runs: help does without. */
const lazyStatus = async (cx: Context, options: StatusOptions) =>
  (await import('./status/status.ts')).status(cx, options)

const lazyHead = async (cx: Context) => (await import('./status/status.ts')).head(cx)

export function statusCommand(wire: Wire): KvupCommand {
  return new KvupCommand('status')
    .option('-w, --watch', 'keep watching; print every change')
    .addOption(fromOption().conflicts('watch'))
    .addOption(alertsOption('without it, alerts are not checked'))
    .option('--exit-code', 'exit 0 when Healthy, 10 Updating or Waiting, 4 Stalled, 3 Degraded')
    .manual({
      examples: [
        ['kvup status', 'show the state once'],
        ['kvup status -w', 'show it again at every change'],
        ['kvup status --exit-code', 'give the verdict as the exit code'],
        ['kvup status --from cluster.ndjson.gz', 'read a saved cluster'],
        ['kvup status --from dumps/', 'read files of oc get clusterversion,co,mcp,nodes -o yaml'],
        ["kvup status -o jsonpath='{.verdict}'", 'print the verdict alone'],
      ],
      codes: [...asksCluster, 'timedOut', 'asked'],
    })
    .action(wire<StatusOptions, []>(lazyStatus))
}

/** A bare `kvup`: the head of `kvup status`. No help and no completion names it. */
export function headCommand(wire: Wire): KvupCommand {
  return new KvupCommand('__head').action(wire<object, []>(lazyHead))
}
