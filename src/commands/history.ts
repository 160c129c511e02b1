import type { Override } from '../lib/engine/journal.ts'
import { overrideId, restoreAllLine } from '../lib/vms/update-methods.ts'
import { Argument, InvalidArgumentError, Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import type { Reader } from '../lib/kube/cluster.ts'
import { itemsOf, known } from '../lib/kube/known.ts'
import { listKubeVirts, type ReadCluster, readerFor } from '../lib/kubevirt/snapshot.ts'
import { notOne } from '../lib/kubevirt/installation.ts'
import { overrideRemedy } from '../lib/output/views/report-lines.ts'
import { entriesByRun, type JournalRun, journalRuns } from '../lib/engine/journal-runs.ts'
import { parseSpan } from '../lib/kube/duration.ts'
import { usageError } from '../lib/kube/errors.ts'
import { configMapJournal } from '../lib/engine/journal-config-map.ts'
import { missingText } from '../lib/engine/change.ts'
import { type OverriddenVm, overriddenVms } from '../lib/vms/unblock/vm-overrides.ts'
import { asksCluster, fromOption, KvupCommand } from './command-options.ts'
import { getLockHolder } from '../lib/vms/lock-holder.ts'
import { type HistoryDocument, historyView } from '../lib/output/views/history.ts'

export interface HistoryOptions {
  from?: string
  since?: string
  limit?: number
}

export function historyCommand(wire: Wire): KvupCommand {
  return new KvupCommand('history')
    .addArgument(
      new Argument('[run]', 'number of one run, to show what it did').argParser((text) =>
        String(positive(text)),
      ),
    )
    .addOption(
      new Option('--since <when>', 'only runs that started since: a duration such as 24h, or a time'),
    )
    .addOption(new Option('--limit <count>', 'only so many of the newest runs').argParser(positive))
    .addOption(fromOption())
    .manual({
      examples: [
        ['kvup history', 'list the last runs, and what to restore'],
        ['kvup history --since 7d -o json', 'list the runs of a week'],
        ['kvup history 14 -o html > run.html', 'a page of a run, to forward'],
        ["kvup history -o jsonpath='{.overrides[*].id}'", 'print the names of the temporary changes'],
      ],
      more: 'The number of a run shows its journal in words: kvup history 14. Other users can edit\nthe journal: do not treat it as proof.',
      codes: asksCluster,
    })
    .action(wire<HistoryOptions, [string]>(history))
}

function positive(text: string): number {
  if (/^[1-9]\d{0,6}$/u.test(text)) return Number(text)
  throw new InvalidArgumentError('It is a number from 1 on.')
}

/** So many runs are shown where nobody says --limit: the newest stay visible on a screen. */
const shownAtMost = 10

/** Prints what the journal tells of runs; a page or a ticket is of one, the last where none is named. Reads only. Throws `usage` for a run that is not in it. */
export async function history(cx: Context, options: HistoryOptions = {}, typed?: string): Promise<void> {
  const run = typed === undefined ? undefined : Number(typed)
  const isPage = ['html', 'markdown'].includes(cx.flags?.output ?? '')
  const document = await readHistory(
    cx,
    isPage && run === undefined ? { ...options, limit: 1 } : options,
    run,
  )
  if (isPage && document.runs.length === 0)
    throw usageError('no-such-run', 'no run is recorded: the journal is empty', {
      remedy: 'kvup history     lists the runs',
    })
  const whole = run !== undefined
  cx.printer.result(
    document,
    historyView({
      restoresVms: restoresVms(document.overrides),
      whole,
      most: options.limit ?? shownAtMost,
      isSince: options.since !== undefined,
    }),
  )
}

/** What the journal tells of these runs, or of one by its number. Throws `usage` for a run that is not in it. */
async function readHistory(
  cx: Context,
  options: HistoryOptions,
  run: number | undefined,
): Promise<HistoryDocument> {
  const snapshot = await readerFor(cx, options.from)
  const { clock, cluster } = snapshot
  const { reader, writer } = cluster
  const namespace = await kubevirtNamespace(reader)
  const warn = (line: string) => cx.printer.warn(line)
  const journal = configMapJournal({ reader, writer }, { namespace, who: cx.world.who, clock, warn })
  const overrides = await journal.overrides()
  for (const missing of await journal.missing()) cx.printer.warn(missingText(missing))
  const running = await getLockHolder(cx, snapshot, namespace)
  const vms = await overriddenIn(cx, snapshot)
  const asOf = clock.now().toISOString()
  const entries = await journal.entries()
  const runs = chosen(journalRuns(entries, { running, asOf }), { ...options, run, now: clock.now() })
  const numbers = new Set(runs.map((one) => one.run))
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'History',
    ...(cluster.address && { cluster: cluster.address }),
    namespace,
    asOf,
    overrides,
    ...(overrides[0] && !(vms.length > 0 && overrides[0].id === overrideId)
      ? { restore: overrideRemedy(overrides[0]) }
      : vms.length > 0 && { restore: restoresVms(overrides) }),
    ...(vms.length > 0 && { vms }),
    ...(running && { running }),
    runs,
    items: entriesByRun(entries)
      .filter((part) => numbers.has(part.run))
      .flatMap((part) => part.entries.map((entry) => ({ ...entry, run: part.run }))),
  }
}

async function overriddenIn(cx: Context, { cluster, saved }: ReadCluster): Promise<readonly OverriddenVm[]> {
  const overridden = await known(overriddenVms(cluster.reader).then((vms) => [vms]))
  if (!overridden.known && !saved)
    cx.printer.warn(`which VMs have temporary changes is not known: ${overridden.why}`)
  const [{ vms, unreadable } = { vms: [], unreadable: [] }] = itemsOf(overridden)
  for (const { namespace, name, why, byHand } of unreadable.slice(0, toldAtMost)) {
    const what = why ?? 'somebody edited its note: the old value is not known'
    cx.printer.warn(`VM ${namespace}/${name} has a temporary change: ${what}`)
    if (byHand !== undefined) cx.printer.note(`  ${byHand}`)
  }
  return vms
}

interface Wanted extends HistoryOptions {
  run: number | undefined
  now: Date
}

function chosen(
  runs: readonly JournalRun[],
  { run, since, limit = runs.length, now }: Wanted,
): readonly JournalRun[] {
  if (run !== undefined) {
    const found = runs.filter((one) => one.run === run)
    if (found.length > 0) return found
    const [first, last] = [runs[0], runs.at(-1)]
    throw usageError(
      'no-such-run',
      first && last
        ? `no run ${run} is recorded: the journal has runs ${first.run} to ${last.run}`
        : `no run ${run} is recorded: the journal is empty`,
      { remedy: 'kvup history     lists the runs' },
    )
  }
  const from = since === undefined ? undefined : sinceTime(since, now)
  return runs.filter(({ started }) => from === undefined || Date.parse(started) >= from).slice(-limit)
}

/** ms since the epoch of `24h` ago, or of a date or time. Throws `usage`. */
function sinceTime(text: string, now: Date): number {
  const isTime = /^\d{4}-\d{2}-\d{2}/u.test(text)
  const time = isTime ? Date.parse(text) : now.getTime() - parseSpan(text)
  if (!Number.isNaN(time)) return time
  throw usageError('not-a-time', `${JSON.stringify(text)} is not a time`, {
    remedy: '24h, 7d, 2026-11-22 or 2026-11-22T21:00:00Z',
  })
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
  restoreAllLine(overrides.find(({ id }) => id === overrideId))

/** So many VMs are told; the document has all. */
const toldAtMost = 10
