import { shellWord } from '../../../kube/shell-line.ts'
import { leftOutText, narrowedLine } from '../../kvup-words.ts'
import type { ShownWave } from '../../../vms/waves/waves.ts'
import type { Column, Paint, Size, Tone, View } from '../../printer.ts'
import { table } from '../../table.ts'
import { count, wrap, helpLine } from '../../text.ts'
import { dryRunLines } from '../dry-run.ts'
import type { UpdatedVm } from '../../../vms/waves/update-run.ts'
import type { RestartedVm } from '../../../vms/waves/restart-procedure.ts'
import type {
  StoppedBefore,
  VmRestartsDocument,
  WaveRunDocument,
  WorkloadsUpdateDocument,
} from '../../../vms/waves/wave-run.ts'

/** What it says of its VMs. */
interface Told<Row> {
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  /** With its mark. */
  summary: string
}

/** The sum, a row for each VM, and where it stopped; of a dry run its steps and waves, and the sum last. */
function waveRunLines<Row>(
  document: WaveRunDocument,
  { columns, rows, summary }: Told<Row>,
  paint: Paint,
  size: Size,
): string[] {
  const { outcome, steps = [], dryRun = 'client', waves = [], unread = [], next = [] } = document
  const isDry = outcome === 'dry-run'
  const verdict = wrap(summary, size.columns)
  return [
    ...(isDry ? [...dryRunLines({ steps, mode: dryRun }, paint, size), ''] : verdict),
    ...scheduleLines(document.schedule, size),
    ...waveLines(waves, paint, size),
    ...(rows.length > 0 ? table(columns, rows, { ...size, paint }) : []),
    ...(isDry && rows.length > 0 ? [''] : []),
    ...(isDry ? verdict : []),
    ...unreadLines(unread, paint, size),
    ...stoppedLines(document.stoppedBefore, next, { paint, size }),
  ]
}

/** `left` is a word of the documents; a person reads what it means. */
const outcomeText = (outcome: string, goal: readonly string[]): string =>
  outcome === 'left' ? `not ${goal.includes('migrated') ? 'moved' : 'restarted'}` : outcome

/** What an update is to bring about, and a restart. */
const goals = { update: ['migrated', 'restarted'], restart: ['restarted'] } as const

/** `7 of 11 VMs migrated, 3 not moved, 1 failed`: what went well first; what nothing became is left out. */
function outcomesText(
  { total, ...counts }: Readonly<Record<string, number>> & { total: number },
  goal: readonly string[],
): string {
  const some = Object.entries(counts).filter(([, many]) => many > 0)
  const [first, ...more] = [
    ...some.filter(([outcome]) => goal.includes(outcome)),
    ...some.filter(([outcome]) => !goal.includes(outcome) && outcome !== 'failed'),
    ...some.filter(([outcome]) => outcome === 'failed'),
  ].map(([outcome, many]) => ({ many, word: outcomeText(outcome, goal) }))
  if (first === undefined) return count(total, 'VM')
  const vms = first.many === total ? count(total, 'VM') : `${first.many} of ${count(total, 'VM')}`
  return [`${vms} ${first.word}`, ...more.map(({ many, word }) => `${many} ${word}`)].join(', ')
}

interface WaveRow {
  wave: string
  namespace: string
  name: string
  by: string
  onlyOnce?: boolean
}

const columns: readonly Column<WaveRow>[] = [
  { name: 'WAVE', cell: ({ wave }) => wave },
  { name: 'NAMESPACE', cell: ({ namespace }) => namespace },
  { name: 'VM', cell: ({ name }) => name },
  { name: 'BY', cell: ({ by }) => by },
]
/** Only where there is something to say. */
const noted: Column<WaveRow> = {
  name: 'NOTE',
  holds: 'text',
  cell: ({ onlyOnce }) => (onlyOnce ? 'does not restart by itself: only this command starts it' : undefined),
}

/** Of a VM that is restarted: what a person has to know before the answer (facts 3.4). */
export const onlyOnceText = 'its runStrategy does not restart it; only this command starts it again'

function scheduleLines(lines: readonly string[] = [], { columns: width }: Size): string[] {
  return lines.length === 0 ? [] : [...lines.flatMap((line) => wrap(line, width)), '']
}

/** Every VM in its wave, in the order in which their turns come. */
function waveLines(waves: readonly ShownWave[], paint: Paint, size: Size): string[] {
  const rows = waves.flatMap(({ id, vms }) => vms.map((vm) => ({ wave: id, ...vm })))
  if (rows.length === 0) return []
  const shown = rows.some(({ onlyOnce }) => onlyOnce) ? [...columns, noted] : columns
  return [...table(shown, rows, { ...size, paint }), '']
}

interface UnreadEnd {
  namespace: string
  what: string
  why: string
}

const fewNamespaces = 5

/** A sentence for each kind of which not all may be read; the reason is that of the first namespace. */
export function unreadText(unread: readonly UnreadEnd[]): readonly string[] {
  return [...Map.groupBy(unread, ({ what }) => what)].map(([what, all]) => {
    const names = all.slice(0, fewNamespaces).map(({ namespace }) => namespace)
    const more = all.length > names.length ? ` and ${all.length - names.length} more` : ''
    return `${what} may not be read in ${names.join(', ')}${more}: kvup does nothing there: ${all[0]?.why ?? ''}`
  })
}

/** That a number is not of all VMs has to be seen beside it. */
function unreadLines(unread: readonly UnreadEnd[], { mark }: Paint, { columns: width }: Size): string[] {
  return unreadText(unread).flatMap((line) => wrap(`${mark.warning} ${line}`, width))
}

function stoppedLines(
  stopped: StoppedBefore | undefined,
  next: readonly string[],
  { paint, size }: { paint: Paint; size: Size },
): string[] {
  if (stopped === undefined) return []
  const { mark } = paint
  return [
    ...wrap(`${mark.warning} stopped before ${stopped.step} (${stopped.because})`, size.columns),
    ...next.flatMap((line) => wrap(`  ${mark.next} ${line}`, size.columns)),
  ]
}

export const workloadsUpdateView: View<WorkloadsUpdateDocument> = {
  text(document, paint, size) {
    const { items, waves = [] } = document
    const inWaves = waves.length > 0
    const rows = items.filter(
      ({ outcome }) => size.wide || (outcome !== 'migrated' && !(inWaves && outcome === 'waiting')),
    )
    const lines = waveRunLines(
      document,
      { columns: updateColumns, rows, summary: updateSummary(document, paint) },
      paint,
      size,
    )
    return [...lines, ...nextLines(document, paint, size)]
  },
  names: ({ items }) => items.map(({ name }) => `virtualmachineinstance.kubevirt.io/${name}`),
}

const tones: Partial<Record<UpdatedVm['outcome'], Tone>> = {
  migrated: 'good',
  restarted: 'good',
  failed: 'bad',
  gone: 'bad',
  moving: 'strong',
}

const updateColumns: readonly Column<UpdatedVm>[] = [
  { name: 'NAMESPACE', cell: ({ namespace }) => namespace },
  { name: 'VM', cell: ({ name }) => name },
  { name: 'WAVE', cell: ({ wave }) => wave, wide: true },
  {
    name: 'OUTCOME',
    cell: ({ outcome }) => outcomeText(outcome, goals.update),
    tone: ({ outcome }) => tones[outcome],
  },
  { name: 'FAILURES', cell: ({ failures }) => failures, wide: true },
  { name: 'WHY', holds: 'text', cell: ({ why }) => why },
]

function updateSummary(
  { outcome, totals, unread, stoppedBefore, selection }: WorkloadsUpdateDocument,
  { mark }: Paint,
): string {
  if (totals.total === 0) {
    if (unread) return 'no VM is outdated among those that kvup may read'
    const whole = Object.keys(selection).length === 0
    return `${mark.done} no VM is outdated${whole ? '' : ' among the selected ones'}`
  }
  const sign =
    outcome === 'stopped' && !stoppedBefore ? mark.failed : totals.failed > 0 ? mark.warning : mark.done
  return `${sign} ${outcomesText({ ...totals }, goals.update)}`
}

/** The table has the reasons; a command for each kind of reason is enough. */
const remediesAtMost = 5

function nextLines(
  { items, outcome, selection, paused, next = [] }: WorkloadsUpdateDocument,
  { mark }: Paint,
  { columns: width }: Size,
): string[] {
  // What a run that stopped ends with is how it goes on: no restart stands above that.
  if (outcome === 'dry-run' || outcome === 'stopped') return []
  const helps = remediesOf(items, selection)
  // What failed comes first: a line that loses data is not the last word of a run that failed.
  const isSafe = (line: string) => !(hasFailed && isLosing.test(line))
  const hasFailed = items.some((item) => item.outcome === 'failed')
  const remedies = [...new Set(helps)].filter(isSafe).slice(0, remediesAtMost)
  const resuming = paused === undefined ? [] : next
  const note =
    paused === undefined ? [] : wrap(`${mark.warning} automatic VM updates are still paused`, width)
  return [
    ...note,
    ...[...resuming, ...remedies].flatMap((line) => wrap(`  ${helpLine(line, { mark })}`, width)),
  ]
}

const isLosing = /--accept data-loss\b| (?:is|are) lost$/u

const isRestart = (line: string) => line.startsWith('virtctl restart ')

/** Several that only a restart helps are restarted one after the other, each one well again before the next. What loses data comes last, behind the line that shows whose. */
function remediesOf(
  items: readonly UpdatedVm[],
  selection: WorkloadsUpdateDocument['selection'],
): readonly string[] {
  const all = items.flatMap(({ remedy = [] }) => remedy)
  const restarts = all.filter(isRestart)
  const loses = restarts.some((line) => / (?:is|are) lost$/u.test(line))
  const shown = `${narrowedLine('kvup workloads outdated', selection)}     # shows why each is not moved`
  const first = [...all.filter((line) => !isRestart(line)), ...(loses ? [shown] : [])]
  if (items.some(({ by }) => by === 'restart') || restarts.length < 2) return [...first, ...restarts]
  const [accepts, losing] = loses ? [' --accept data-loss', '; the data in their pods is lost'] : ['', '']
  const excluded = items.filter(({ why }) => why === leftOutText)
  const update = [
    narrowedLine('kvup workloads update', selection),
    ...excluded.map(({ namespace, name }) => `--exclude ${shellWord(`${namespace}/${name}`)}`),
  ].join(' ')
  return [
    ...first,
    `${update} --restart-unmigratable${accepts}     # restarts the VMs that are left, one by one${losing}`,
  ]
}

export const vmRestartsView: View<VmRestartsDocument> = {
  text(document, paint, size) {
    const { items, waves = [] } = document
    const rows = items.filter((item) => waves.length === 0 || item.outcome !== 'waiting')
    return waveRunLines(
      document,
      { columns: restartColumns, rows, summary: restartSummary(document, paint) },
      paint,
      size,
    )
  },
  names: ({ items }) => items.map(({ name }) => `virtualmachine.kubevirt.io/${name}`),
}

function restartSummary(
  { outcome, totals, unread, stoppedBefore }: VmRestartsDocument,
  { mark }: Paint,
): string {
  if (totals.total === 0)
    return unread
      ? 'no VM waits for a restart among those that kvup may read'
      : `${mark.done} no VM waits for a restart`
  const bad = (outcome === 'stopped' && !stoppedBefore) || totals.failed > 0
  return `${bad ? mark.failed : mark.done} ${outcomesText({ ...totals }, goals.restart)}`
}

const restartTones: Partial<Record<RestartedVm['outcome'], Tone>> = {
  failed: 'bad',
  restarting: 'strong',
  restarted: 'good',
}

const restartColumns: readonly Column<RestartedVm>[] = [
  { name: 'NAMESPACE', cell: ({ namespace }) => namespace },
  { name: 'VM', cell: ({ name }) => name },
  { name: 'WAVE', cell: ({ wave }) => wave, wide: true },
  {
    name: 'OUTCOME',
    cell: ({ outcome }) => outcomeText(outcome, goals.restart),
    tone: ({ outcome }) => restartTones[outcome],
  },
  { name: 'WHY', holds: 'text', cell: ({ why }) => why },
]
