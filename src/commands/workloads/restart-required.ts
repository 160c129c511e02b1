import { narrowedLine } from '../../lib/output/kvup-words.ts'
import { Option } from 'commander'
import type { Context, Wire } from '../../context.ts'
import { theInstallation } from '../../lib/kubevirt/installation.ts'
import { partlyUnread, readerFor, takeSnapshot } from '../../lib/kubevirt/snapshot.ts'
import {
  journalEntries,
  restartRequiredDocument,
  Told,
  vmRolloutOf,
} from '../../lib/vms/rollout/rollout-strategy.ts'
import { restartRequiredView } from '../../lib/output/views/vms/vm-rollout.ts'
import { type ExitCode, exitCode } from '../../lib/kube/errors.ts'
import { listRestartRequired } from '../../lib/vms/rollout/restart-required.ts'
import { asksCluster, fromOption, KvupCommand } from '../command-options.ts'
import { notThere, selectionOf } from '../../lib/vms/vm.ts'

export interface RestartRequiredOptions {
  allNamespaces?: boolean
  selector?: string
  exitCode?: boolean
  from?: string
}

export function restartRequiredCommand(wire: Wire): KvupCommand {
  return new KvupCommand('restart-required')
    .addOption(new Option('-A, --all-namespaces', 'all namespaces; the default without -n'))
    .addOption(new Option('-l, --selector <labels>', 'only VMs with these labels, such as app=db,tier!=test'))
    .addOption(new Option('--exit-code', `exit ${exitCode.asked} when there are any`))
    .addOption(fromOption())
    .manual({
      examples: [
        ['kvup workloads restart-required', 'which VMs wait, and for which changes'],
        ['kvup workloads restart-required -n demo -o wide', 'of one namespace, with who made them'],
        ['kvup workloads restart-required --exit-code -o name', 'for a script'],
      ],
      more: 'If kvup may not read everything, it says so with exit 7; stdout has the rest.',
      codes: [...asksCluster, 'asked'],
    })
    .action(wire<RestartRequiredOptions, []>(restartRequired))
}

/** Lists them as their pages arrive. Exit 7 where a part of them may not be read, after what may; reads only. */
export async function restartRequired(cx: Context, options: RestartRequiredOptions): Promise<ExitCode> {
  const selection = selectionOf(options, cx.flags.namespace)
  const observed = await readerFor(cx, options.from)
  const { reader } = observed.cluster
  const snapshot = await takeSnapshot(reader, [], observed.clock)
  const { takenAt } = snapshot
  const installation = theInstallation(snapshot)
  const { entries, remarks } = await journalEntries(observed, installation)
  const strategy = vmRolloutOf(installation.kubevirt).inEffect
  const rows = cx.printer.rows('RestartRequired', restartRequiredView(takenAt))
  const told = new Told(narrowedLine('kvup workloads restart', selection))
  for await (const page of listRestartRequired(reader, selection, { strategy, entries })) {
    told.add(page.items, page.unread)
    rows.add(page.items)
  }
  const { totals, unread } = told
  const isScript = options.exitCode === true
  const isEmpty = totals.total + unread.length === 0
  const { output } = cx.flags
  const absent = isEmpty
    ? await notThere(observed, selection, { isScript, running: false, output })
    : undefined
  const document = restartRequiredDocument(installation, {
    asOf: takenAt,
    selection,
    totals,
    unread,
    remarks: [...told.remarks, ...(absent?.remarks ?? []), ...remarks],
    ...(told.next !== undefined && { next: told.next }),
  })
  const refusal = partlyUnread(unread)
  rows.end(document, refusal ? 'partial' : 'complete')
  if (refusal) throw refusal
  if (absent?.failure) throw absent.failure
  return isScript && totals.total > 0 ? exitCode.asked : exitCode.done
}
