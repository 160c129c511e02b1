import type { Override } from '../lib/engine/journal.ts'
import { overrideId, restoreUpdatesLine } from '../lib/vms/update-methods.ts'
import { Command } from 'commander'
import type { Context, Wire } from '../context.ts'
import type { Reader } from '../lib/kube/cluster.ts'
import { itemsOf, known } from '../lib/kube/known.ts'
import { listKubeVirts, readerFor } from '../lib/kubevirt/snapshot.ts'
import { notOne } from '../lib/kubevirt/installation.ts'
import { overrideRemedy } from '../lib/output/views/report-lines.ts'
import { configMapJournal } from '../lib/engine/journal-config-map.ts'
import { missingText } from '../lib/engine/change.ts'
import { overriddenVms } from '../lib/vms/unblock/vm-overrides.ts'
import { asksCluster, fromOption, manual } from './command-options.ts'
import { getLockHolder } from '../lib/vms/lock-holder.ts'
import { type HistoryDocument, historyView } from '../lib/output/views/history.ts'

export interface HistoryOptions {
  from?: string
}

export function historyCommand(wire: Wire): Command {
  return new Command('history')
    .addOption(fromOption())
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup history', 'who changed what, and what is still borrowed'],
          ["kvup history -o jsonpath='{.overrides[*].id}'", 'only the names of what is borrowed'],
        ],
        codes: asksCluster,
      }),
    )
    .action(wire<HistoryOptions, []>(history))
}

/** Prints the journal; reads only. */
export async function history(cx: Context, { from }: HistoryOptions = {}): Promise<void> {
  const snapshot = await readerFor(cx, from)
  const { clock, cluster } = snapshot
  const { reader, writer } = cluster
  const namespace = await kubevirtNamespace(reader)
  const warn = (line: string) => cx.printer.warn(line)
  const journal = configMapJournal({ reader, writer }, { namespace, who: cx.world.who, clock, warn })
  const overrides = await journal.overrides()
  for (const missing of await journal.missing()) cx.printer.warn(missingText(missing))
  const running = await getLockHolder(cx, snapshot, namespace)
  const overridden = await known(overriddenVms(reader).then((vms) => [vms]))
  if (!overridden.known && !snapshot.saved)
    cx.printer.warn(`what VMs were lent is not known: ${overridden.why}`)
  const [{ vms, unreadable } = { vms: [], unreadable: [] }] = itemsOf(overridden)
  for (const { namespace: of, name } of unreadable.slice(0, toldAtMost))
    cx.printer.warn(`VM ${of}/${name} was lent something, and its note was changed: what it had is not known`)
  const document: HistoryDocument = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'History',
    namespace,
    asOf: clock.now().toISOString(),
    overrides,
    ...(overrides[0]
      ? { restore: overrideRemedy(overrides[0]) }
      : vms.length > 0 && { restore: restoresVms(overrides) }),
    ...(vms.length > 0 && { vms }),
    ...(running && { running }),
    items: await journal.entries(),
  }
  cx.printer.result(document, historyView(restoresVms(overrides)))
}

async function kubevirtNamespace(reader: Reader): Promise<string> {
  const found = await listKubeVirts(reader)
  if (!found.known) throw notOne({ is: 'unknown', why: found.why })
  const [first, second] = found.items.map(({ metadata: { namespace = '', name } }) => ({ namespace, name }))
  if (first === undefined) throw notOne({ is: 'none' })
  if (second !== undefined) throw notOne({ is: 'several', found: [first, second] })
  return first.namespace
}

const restoresVms = (overrides: readonly Override[]): string =>
  restoreUpdatesLine(overrides.find(({ id }) => id === overrideId))

/** So many VMs are told; the document has all. */
const toldAtMost = 10
