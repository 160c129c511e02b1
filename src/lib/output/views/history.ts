import { ageAt } from '../age.ts'
import type { Column, Document, Paint, Size, View } from '../printer.ts'
import { displayWidth, wrap } from '../text.ts'
import { harmlessText } from '../../kube/text.ts'
import { holderText, overrideRemedy } from './report-lines.ts'
import type { ShownHolder } from '../../kubevirt/lease-holders.ts'
import type { Entry, Override } from '../../engine/journal.ts'
import type { OverriddenVm } from '../../vms/unblock/vm-overrides.ts'
import { table } from '../table.ts'

export interface HistoryDocument extends Document {
  kind: 'History'
  /** KubeVirt's own, where the journal is. */
  namespace: string
  /** When it was read: ages count to here. */
  asOf: string
  /** Open ones only. */
  overrides: readonly Override[]
  /** The line that gives them back, where there are any. */
  restore?: string
  /** VMs that `kvup workloads unblock` changed and that have what they were lent, where there are any. */
  vms?: readonly OverriddenVm[]
  /** Who has the lock now, where somebody has. */
  running?: ShownHolder
  /** The oldest first. */
  items: readonly Entry[]
}

/** `restoresVms`: the line that gives VMs back what they were lent. */
export const historyView = (restoresVms: string): View<HistoryDocument> => ({
  text: ({ items, overrides, asOf, namespace, running, vms = [] }, paint, size) => [
    ...(items.length > 0
      ? historyEntries(items, paint, size)
      : wrap(`kvup has changed nothing here (no journal in namespace ${namespace}).`, size.columns)),
    ...(running ? ['', ...wrap(holderText(running, asOf), size.columns)] : []),
    ...overrides.flatMap((override) => [
      '',
      ...overrideLines(override, asOf, paint).flatMap((line) => wrap(line, size.columns)),
    ]),
    ...vmLines({ vms, asOf, restoresVms }, paint).flatMap((line) => wrap(line, size.columns)),
  ],
  names: ({ items, overrides }) => [
    ...items.map(({ at, what }) => `entry/${at}-${what}`),
    ...overrides.map(({ id }) => `override/${id}`),
  ],
})

function overrideLines(override: Override, asOf: string, paint: Paint): string[] {
  const { object, path, was, by, at, procedure, harmless } = override
  const value = was.present ? JSON.stringify(was.value) : 'absent'
  return [
    `${paint.warn(paint.mark.warning)} borrowed ${ageAt(at, asOf)} ago by ${by} for ${procedure}: ${path} of ${object.kind} ${object.name}, which was ${value}`,
    ...(harmless === undefined ? [] : [`  ${harmlessText(harmless)}`]),
    `  ${paint.mark.next} ${overrideRemedy(override)}     # gives it back`,
  ]
}

/** So many VMs are told; the document has all. */
const toldAtMost = 10

function vmLines(
  { vms, asOf, restoresVms }: { vms: readonly OverriddenVm[]; asOf: string; restoresVms: string },
  paint: Paint,
): string[] {
  if (vms.length === 0) return []
  const { mark } = paint
  return [
    '',
    ...vms
      .slice(0, toldAtMost)
      .map(
        ({ namespace, name, by, at, kept, copied }) =>
          `${paint.warn(mark.warning)} borrowed ${ageAt(at, asOf)} ago by ${by} of ${copied ? 'the VM that was copied to' : 'VM'} ${namespace}/${name}: ${kept.join(', ')}`,
      ),
    ...(vms.length > toldAtMost ? [`  and of ${vms.length - toldAtMost} more (-o json)`] : []),
    `  ${mark.next} ${restoresVms}     # gives it back`,
  ]
}

/** What tells one entry from another. */
const identifying: readonly Column<Entry>[] = [
  { name: 'AT', cell: timeOf },
  { name: 'BY', cell: ({ by }) => by },
  { name: 'PROCEDURE', cell: ({ procedure }) => procedure },
  { name: 'WHAT', cell: ({ what }) => what },
  { name: 'STEP', cell: ({ step }) => (step === '' ? '-' : step) },
]

const columns: readonly Column<Entry>[] = [...identifying, { name: 'TEXT', holds: 'text', cell: textOf }]

const gap = 3

/**
 * A table where what identifies an entry stands in it uncut; else the entries below the run that they belong to, with their texts broken between words. `-o wide`
 * is always the table.
 */
function historyEntries(items: readonly Entry[], paint: Paint, size: Size): string[] {
  return size.wide || hasRoom(items, size.columns)
    ? table(columns, items, { ...size, paint })
    : byRun(items, paint, size.columns)
}

/** The text is broken between words, but in no narrower column than the widest of the others. */
function hasRoom(items: readonly Entry[], room: number): boolean {
  const widths = identifying.map(({ name, cell }) =>
    Math.max(...[name, ...items.map((item) => String(cell(item)))].map(displayWidth)),
  )
  const taken = widths.reduce((sum, width) => sum + width + gap, 0)
  return taken + Math.max(...widths) <= room
}

function byRun(items: readonly Entry[], paint: Paint, room: number): string[] {
  return items.flatMap((item, index) => {
    const before = items[index - 1]
    const goesOn = before?.procedure === item.procedure && before.by === item.by
    const heading = [...(index === 0 ? [] : ['']), ...wrap(runOf(item, paint), room)]
    return [...(goesOn ? [] : heading), ...wrap(entryOf(item), room)]
  })
}

const runOf = ({ procedure, by }: Entry, paint: Paint): string => `${paint.strong(procedure)}, by ${by}`

const entryOf = (entry: Entry): string =>
  `${timeOf(entry)}  ${entry.what.padEnd('restored'.length)}  ${entry.step === '' ? '' : `${entry.step}: `}${textOf(entry)}`

/** A risk is told with who the API server took kvup for. */
function textOf({ what, text, user }: Entry): string {
  return what === 'accepted' ? `${text} (${user === undefined ? 'user unknown' : `API user ${user}`})` : text
}

function timeOf({ at }: Entry): string {
  return at.replace(/\.\d+Z$/, 'Z')
}
