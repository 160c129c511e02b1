import { Command, Option } from 'commander'
import type { Context, Wire } from '../../context.ts'
import { type Installation, theInstallation } from '../../lib/kubevirt/installation.ts'
import { takeSnapshot } from '../../lib/kubevirt/snapshot.ts'
import { type RestartRequiredDocument, restartRequiredView } from '../../lib/output/views/vms/vm-rollout.ts'
import { configMapJournal } from '../../lib/engine/journal-config-map.ts'
import type { Entry } from '../../lib/engine/journal.ts'
import { versionOf } from '../../lib/releases/release-versions.ts'
import { type ExitCode, exitCode, KvupError } from '../../lib/kube/errors.ts'
import { narrowedLine } from '../../lib/kube/shell-line.ts'
import {
  listRestartRequired,
  type RestartRequiredItem,
  type Unread,
} from '../../lib/vms/rollout/restart-required.ts'
import { revertingClears, vmRolloutOf } from '../../lib/vms/rollout/rollout-strategy.ts'
import { asksCluster, manual, fromOption } from '../command-options.ts'
import { type ReadCluster, partlyUnread, readerFor } from '../../lib/kube/saved/read-cluster.ts'
import { noSuchPlace, selectionOf } from '../../lib/vms/vm-selection.ts'

export interface RestartRequiredOptions {
  allNamespaces?: boolean
  selector?: string
  exitCode?: boolean
  from?: string
}

export function restartRequiredCommand(wire: Wire): Command {
  return new Command('restart-required')
    .addOption(new Option('-A, --all-namespaces', 'all namespaces; that is the default without -n'))
    .addOption(new Option('-l, --selector <labels>', 'only VMs with these labels, such as app=db,tier!=test'))
    .addOption(new Option('--exit-code', `exit ${exitCode.asked} when there are any`))
    .addOption(fromOption())
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup rollout restart-required', 'which VMs wait, and for which changes'],
          ['kvup rollout restart-required -n demo -o wide', 'of one namespace, with who made them'],
          ['kvup rollout restart-required --exit-code -o name', 'for a script'],
        ],
        more: 'What may not be read is said and is exit 7, with all that may be on stdout.',
        codes: [...asksCluster, 'asked'],
      }),
    )
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
  const told = new Told(narrowedLine('kvup rollout restart', selection))
  for await (const page of listRestartRequired(reader, selection, { strategy, entries })) {
    told.add(page.items, page.unread)
    rows.add(page.items)
  }
  const { totals, unread } = told
  const nowhere = totals.total + unread.length === 0 ? await noSuchPlace(observed, selection) : []
  const document = documentOf(installation, {
    asOf: takenAt,
    selection,
    totals,
    unread,
    remarks: [...told.remarks, ...nowhere, ...remarks],
    ...(told.next !== undefined && { next: told.next }),
  })
  const refusal = partlyUnread(unread)
  rows.end(document, refusal ? 'partial' : 'complete')
  if (refusal) throw refusal
  return options.exitCode && totals.total > 0 ? exitCode.asked : exitCode.done
}

/** What is kept of the rows once they are printed. */
class Told {
  readonly totals = { total: 0, duringUpgrade: 0, withFrozenHotplug: 0, reverted: 0 }
  readonly unread: Unread[] = []
  next: string | undefined
  readonly #restart: string
  #firmware = false

  /** `restart`: the command that restarts them. */
  constructor(restart: string) {
    this.#restart = restart
  }

  add(items: readonly RestartRequiredItem[], unread: readonly Unread[]): void {
    this.unread.push(...unread)
    for (const item of items) {
      this.totals.total += 1
      if (item.upgrade) this.totals.duringUpgrade += 1
      if (item.frozen.length > 0) this.totals.withFrozenHotplug += 1
      if (item.reverted) this.totals.reverted += 1
      if (item.lastStart !== 'not-running') this.next = this.#restart
      this.#firmware ||= item.changes.some(({ path }) => path === 'template.spec.domain.firmware.uuid')
    }
  }

  /** KubeVirt v1.5 and v1.6 wrote it into VMs (issues 16606 and 16719). */
  get remarks(): readonly string[] {
    if (!this.#firmware) return []
    return [
      'domain.firmware.uuid is what KubeVirt itself writes into VMs after an upgrade to v1.5 or v1.6: the guest keeps the UUID that it has',
    ]
  }
}

function documentOf(
  { kubevirt, name, namespace }: Installation,
  told: Pick<RestartRequiredDocument, 'asOf' | 'selection' | 'totals' | 'unread' | 'remarks' | 'next'>,
): RestartRequiredDocument {
  const version = kubevirt.status?.observedKubeVirtVersion
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'RestartRequired',
    kubevirt: { name, namespace, ...(version !== undefined && { version }) },
    strategy: vmRolloutOf(kubevirt).inEffect,
    revertingClears: revertingClears(versionOf(version)),
    ...told,
  }
}

async function journalEntries(
  { cluster, clock }: ReadCluster,
  { namespace }: Installation,
): Promise<{ entries: readonly Entry[]; remarks: readonly string[] }> {
  try {
    return { entries: await configMapJournal(cluster, { namespace, who: '', clock }).entries(), remarks: [] }
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    return { entries: [], remarks: [`since which upgrade is not known: ${error.message}`] }
  }
}
