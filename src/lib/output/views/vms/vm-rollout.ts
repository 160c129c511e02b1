import type { Column, Paint, RowsView, View } from '../../printer.ts'
import { wrap } from '../../text.ts'
import { dryRunLines } from '../dry-run.ts'
import type { RestartRequiredItem } from '../../../vms/rollout/restart-required.ts'
import type { StagedChange } from '../../../vms/rollout/staged-changes.ts'
import { ageAt } from '../../age.ts'
import type { RestartRequiredDocument, VmRolloutDocument } from '../../../vms/rollout/rollout-strategy.ts'
import { selectionText, unreadLines } from '../report-lines.ts'

export const vmRolloutView: View<VmRolloutDocument> = {
  text(document, paint, size) {
    const { outcome, steps = [], said = [], dryRun = 'client', strategy, meaning, path } = document
    if (outcome === 'dry-run')
      return [
        ...dryRunLines({ steps, mode: dryRun }, paint, size),
        ...said.flatMap((line) => wrap(noteText(line, paint), size.columns)),
      ]
    const ended =
      outcome && { set: 'set, and in effect', 'already-so': 'already so, nothing was changed' }[outcome]
    const lines = [
      ...(ended === undefined ? [] : [`${paint.mark.done} ${ended}`]),
      `${paint.strong(strategy)} (${originText(document)}): ${meaning}`,
      ...(size.wide ? [`field: ${path}; default of this version: ${document.byDefault}`] : []),
      ...document.notes.map((note) => noteText(note, paint)),
    ]
    return lines.flatMap((line) => wrap(line, size.columns))
  },
  names: ({ kubevirt: { name } }) => [`kubevirt.kubevirt.io/${name}`],
}

/** A command that helps stands behind an arrow, as everywhere. */
export function noteText(note: string, { mark }: Paint): string {
  return note.startsWith('kvup ') ? `  ${mark.next} ${note}` : note
}

function originText({
  origin,
  kubevirt: { name, version },
  configured,
  strategy,
}: VmRolloutDocument): string {
  if (origin === 'annotation') return 'from an annotation of the HyperConverged'
  if (origin === 'HyperConverged') return 'from HyperConverged'
  if (origin === 'default' || configured !== strategy)
    return `what KubeVirt ${version ?? ''} does by itself`.replace('  ', ' ')
  return `from KubeVirt ${name}`
}

/** `asOf` in RFC 3339: ages count to here. */
export function restartRequiredView(asOf: string): RowsView<RestartRequiredItem, RestartRequiredDocument> {
  return {
    columns: columnsAt(asOf),
    name: ({ name }) => `virtualmachine.kubevirt.io/${name}`,
    below: (document, paint, { columns }) =>
      [...noteLines(document), ...unreadLines(document.unread, paint), summary(document, paint)].flatMap(
        (line) => wrap(line, columns),
      ),
  }
}

function columnsAt(asOf: string): readonly Column<RestartRequiredItem>[] {
  return [
    { name: 'NAMESPACE', cell: ({ namespace }) => namespace },
    { name: 'NAME', cell: ({ name }) => name },
    { name: 'SINCE', cell: ({ since }) => ageAt(since, asOf) },
    { name: 'UPGRADE', cell: ({ upgrade }) => upgrade?.procedure },
    { name: 'FROZEN', cell: ({ frozen }) => frozen.join(', ') || undefined, tone: () => 'warn' },
    { name: 'CHANGED', holds: 'text', cell: changedText },
    { name: 'BY', cell: writersText, wide: true },
    { name: 'MESSAGE', holds: 'text', cell: ({ message }) => message, wide: true },
  ]
}

const unknown = {
  'not-running': 'it is not running: no restart is needed',
  gone: 'unknown: the record of its last start is gone',
  unread: 'unknown: kvup may not read the record of its last start',
} as const

function changedText({ lastStart, changes, reverted }: RestartRequiredItem): string {
  if (lastStart !== 'known') return unknown[lastStart]
  const told = changes.map(changeText).join('; ')
  if (!reverted) return told
  return told === '' ? 'nothing' : `nothing that needs it; ${told}`
}

/** `domain.cpu.sockets 1 → 2`; what every path begins with is left out. */
function changeText({ path, from, to, waits }: StagedChange): string {
  const short = path.replace(/^template\.(?:spec\.)?/u, '')
  const change =
    to === undefined
      ? `${short} (${text(from)}) taken out`
      : from === undefined
        ? `${short} ${text(to)} added`
        : `${short} ${text(from)} → ${text(to)}`
  return waits === 'frozen' ? `${change} (frozen)` : change
}

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function writersText({ changes }: RestartRequiredItem): string | undefined {
  const writers = changes.flatMap(({ by }) => by?.split(' at ')[0] ?? [])
  return [...new Set(writers)].join(', ') || undefined
}

function noteLines({ totals, revertingClears, remarks }: RestartRequiredDocument): readonly string[] {
  if (totals.total === 0) return remarks
  return [
    'until their restart, they get no other change of CPU, memory, placement or volumes. VMs get changed cluster defaults only at a restart',
    revertingClears
      ? 'since v1.8, setting the fields back clears it too'
      : 'before v1.8, only a restart clears it',
    ...remarks,
  ]
}

function summary({ totals, selection, next }: RestartRequiredDocument, paint: Paint): string {
  const { total, duringUpgrade, withFrozenHotplug } = totals
  const where = selectionText(selection)
  if (total === 0) return `no VM waits for a restart${where}`
  const counts = [
    ...(duringUpgrade === 0 ? [] : [`${duringUpgrade} since an upgrade`]),
    ...(withFrozenHotplug === 0 ? [] : [`${withFrozenHotplug} with hotplug waiting for it`]),
  ].join(', ')
  const them = total === 1 ? 'it is' : 'they are'
  const then = next === undefined ? '' : ` ${paint.mark.next} ${next}     # ${them} down meanwhile`
  const wait = total === 1 ? 'VM waits' : 'VMs wait'
  return `${paint.strong(`${total} ${wait} for a restart`)}${where}${counts && `: ${counts}`}${then}`
}
