import { humanAge } from '../../age.ts'
import { brief, count, helpLine, wrap } from '../../text.ts'
import { spanText } from '../../../kube/duration.ts'
import type { Failing, MigrationItem, MigrationsReport } from '../../../vms/migrations/migration-report.ts'
import type { Why } from '../../../vms/migrations/migration.ts'
import type { Column, Document, Paint, Size, Tone, View } from '../../printer.ts'
import { table } from '../../table.ts'

export interface MigrationsDocument extends Document, MigrationsReport {
  kind: 'Migrations'
  /** With --history: how many older ones are not in `items`. */
  older?: number
}

export const migrationsView: View<MigrationsDocument> = {
  text: (document, paint, size) => [
    ...(document.items.length > 0
      ? [...table(columnsAt(document.takenAt), document.items, { ...size, paint }), '']
      : []),
    ...(document.older ? [`${count(document.older, 'older migration')} not shown (-n narrows)`] : []),
    ...document.items.flatMap((item) => remedyLines(item, paint, size)).slice(0, linesAtMost),
    ...document.items.flatMap((item) => endlessLines(item, paint, size)).slice(0, linesAtMost),
    ...document.remarks.flatMap((remark) =>
      wrap(paint.warn(`${paint.mark.warning} ${remark}`), size.columns),
    ),
    ...wrap(summary(document, paint), size.columns),
  ],
  names: ({ items }) =>
    items.map(({ migration }) => `virtualmachineinstancemigration.kubevirt.io/${migration}`),
}

/** The table names all of them. */
const linesAtMost = 12

const tones: Record<MigrationItem['state'], Tone> = {
  running: 'strong',
  pending: 'warn',
  failing: 'bad',
  failed: 'bad',
  succeeded: 'good',
}

function columnsAt(takenAt: string): readonly Column<MigrationItem>[] {
  return [
    { name: 'NAMESPACE', cell: ({ namespace }) => namespace },
    { name: 'VM', cell: ({ vm }) => vm },
    { name: 'STATE', cell: stateOf, tone: ({ state }) => tones[state] },
    { name: 'FROM', cell: ({ from }) => from },
    { name: 'TO', cell: ({ to }) => to },
    { name: 'FOR', cell: ({ since }) => since && humanAge(Date.parse(takenAt) - Date.parse(since)) },
    { name: 'WHY', holds: 'text', cell: (item) => whyText(item, takenAt) },
    { name: 'MIGRATION', cell: ({ migration }) => migration, wide: true },
    { name: 'BY', cell: ({ by }) => by, wide: true },
    { name: 'LOOK', holds: 'command', cell: commandOf, wide: true },
  ]
}

/** KubeVirt's own word where it has one; a row that stands for failures in a row has ours. */
function stateOf({ state, phase }: MigrationItem): string {
  if (state === 'failing' || state === 'failed') return state === 'failing' ? 'failing' : 'Failed'
  return phase === '' ? 'new' : phase
}

function whyText({ why = [], failures, reason, state }: MigrationItem, takenAt: string): string | undefined {
  const texts = [
    ...why.map((one) => pendingText(one, takenAt)),
    ...(failures ? [failureText(failures, why, state)] : []),
  ]
  return texts.length > 0 ? texts.join('; ') : reason
}

/** The command that shows more. */
function commandOf({ why = [], failures }: MigrationItem): string | undefined {
  return why.find(({ commands }) => commands !== undefined)?.commands ?? failures?.remedy[0]
}

function pendingText({ reason, sentence, until }: Why, takenAt: string): string {
  if (until === undefined) return sentence
  const left = spanText(Math.max(0, Date.parse(until) - Date.parse(takenAt)))
  return reason === 'back-off' ? `${sentence}, next try in ${left}` : `${sentence}; given up in ${left}`
}

/** How often is said by the back-off already; of an endless one the reason stands below the table. */
function failureText(failing: Failing, why: readonly Why[], state: MigrationItem['state']): string {
  const { sentence, reason = 'no reason given', endless, inARow } = failing
  if (endless) return sentence.replace(`: ${reason}`, '')
  if (why.some((one) => one.reason === 'back-off')) return reason
  if (state === 'failing' || state === 'failed') return sentence
  return `failed ${inARow === 1 ? 'once' : `${inARow} times`} before: ${reason}`
}

/** A migration for which waiting does not help: why, and what does. */
function remedyLines({ namespace, vm, why = [] }: MigrationItem, paint: Paint, { columns }: Size): string[] {
  return why.flatMap(({ sentence, remedy = [] }) =>
    remedy.length === 0
      ? []
      : [
          ...wrap(paint.bad(`${paint.mark.failed} ${namespace}/${vm}: ${brief(sentence)}`), columns),
          ...remedy.map((line) => `  ${helpLine(line, paint)}`),
        ],
  )
}

/** A VM whose migrations never end: what that means, below its row (night W8). */
function endlessLines({ namespace, vm, failures }: MigrationItem, paint: Paint, { columns }: Size): string[] {
  if (failures?.endless !== true) return []
  return [
    ...wrap(paint.bad(`${paint.mark.failed} ${namespace}/${vm}: ${failures.sentence}`), columns),
    ...failures.remedy.map((line) => `  ${helpLine(line, paint)}`),
  ]
}

function summary({ totals, limits, pace, left }: MigrationsDocument, { mark }: Paint): string {
  const { running, pending, failing, succeeded, failed } = totals
  const atATime = limits ? ` (${limits.perCluster} at a time, ${limits.perNode} from a node)` : ''
  const parts = [
    [
      `${running} running${atATime}`,
      `${pending} waiting`,
      ...(failing > 0 ? [`${failing} failing`] : []),
    ].join(', '),
    `in history: ${succeeded} succeeded, ${failed} failed`,
    ...(pace ? [`${pace.perMinute} a minute`] : []),
    ...(left?.seconds === undefined
      ? []
      : [`about ${spanText(left.seconds * 1000)} for ${left.migrations} left`]),
  ]
  return parts.join(` ${mark.dot} `)
}
