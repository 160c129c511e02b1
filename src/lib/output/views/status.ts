import type { Cause } from '../../facts/cause.ts'
import type { ComponentStanding } from '../../facts/component-standing.ts'
import type { StatusReport } from '../../facts/status-report.ts'
import type { Loan } from '../../procedure/journal.ts'
import { ageAt } from '../age.ts'
import type { Column, Document, Paint, Size, Tone, View } from '../printer.ts'
import { table } from '../table.ts'
import { wrap } from '../wrap.ts'
import { loanRemedy } from './loan-remedy.ts'
import { managedBy } from './managed-by.ts'
import { workloadLines } from './workload-lines.ts'

export interface StatusDocument extends Document, StatusReport {
  kind: 'Status'
  /** Open loans; absent where the journal could not be read. */
  borrowed?: readonly Loan[]
}

export const statusView: View<StatusDocument> = {
  text: (status, paint, size) =>
    (status.installation ? installed(status, paint, size) : idle(status, paint)).flatMap((line) =>
      wrap(line, size.columns),
    ),
  names: ({ installation: found, idleOperator }) =>
    found ? [`kubevirt/${found.name}`] : [`deployment/${idleOperator?.name ?? 'virt-operator'}`],
}

function installed(status: StatusDocument, paint: Paint, size: Size): string[] {
  return [
    headline(status, paint),
    ...(status.waitingFor ? [entry('waiting for', status.waitingFor)] : []),
    ...(status.why ?? []).flatMap((cause) => causeLines(cause, status, paint)),
    entry('managed by', managedBy(status)),
    entry('operator', operatorText(status)),
    ...(status.running ? [entry('kvup', `${status.running.holder} is at work`)] : []),
    ...(status.borrowed ?? []).flatMap((loan) => borrowedLines(loan, status, paint)),
    ...(status.remarks ?? []).map((remark) => entry('not judged', paint.warn(remark))),
    '',
    ...table(columns(status), status.components ?? [], { ...size, paint }),
    '',
    ...workloadLines(status, paint).map((line, index) => entry(index === 0 ? 'workloads' : '', line)),
  ]
}

function borrowedLines(loan: Loan, { takenAt }: StatusDocument, paint: Paint): string[] {
  const value = loan.was.present ? JSON.stringify(loan.was.value) : 'absent'
  const name = loan.path.slice(loan.path.lastIndexOf('/') + 1)
  const harmless = loan.harmless ? `; harmless ${loan.harmless}` : ''
  return [
    entry(
      'borrowed',
      paint.warn(`${name}, was ${value}, by ${loan.by}, ${ageAt(loan.at, takenAt)} ago${harmless}`),
    ),
    entry('', paint.dim(`${paint.mark.next} kvup history shows it, ${loanRemedy(loan)} gives it back`)),
  ]
}

function idle({ idleOperator: operator, next = [] }: StatusDocument, paint: Paint): string[] {
  const parts = [
    `virt-operator ${operator?.version ?? ''}`.trim(),
    `namespace ${operator?.namespace ?? ''}`,
    paint.warn('no KubeVirt resource'),
  ]
  return [
    parts.join(` ${paint.mark.dot} `),
    'It does nothing until that resource exists.',
    ...next.map((command) => `${paint.mark.next} ${command}`),
  ]
}

const tones: Record<NonNullable<StatusReport['verdict']>, Tone> = {
  Settled: 'good',
  Updating: 'strong',
  Stalled: 'bad',
  Degraded: 'bad',
}

function headline(status: StatusDocument, paint: Paint): string {
  const verdict = status.verdict ?? 'Updating'
  const age = status.since ? `, for at least ${ageAt(status.since, status.takenAt)}` : ''
  const parts = [
    paint.strong(`KubeVirt ${versions(status, paint)}`),
    `namespace ${status.installation?.namespace ?? ''}`,
    `${paint[tones[verdict]](verdict.toLowerCase())}${age}`,
  ]
  return parts.join(` ${paint.mark.dot} `)
}

function versions({ observed, target }: StatusDocument, paint: Paint): string {
  const to = target?.version ?? 'of no version yet'
  return observed?.version === undefined || observed.version === to
    ? to
    : `${observed.version} ${paint.mark.next} ${to}`
}

function causeLines(cause: Cause, { takenAt }: StatusDocument, paint: Paint): string[] {
  const age = cause.since ? `, for ${ageAt(cause.since, takenAt)}` : ''
  return [
    entry('why', paint.bad(`${cause.sentence}${age}`)),
    ...cause.look.map((line) => entry('', paint.dim(`${paint.mark.next} ${line}`))),
  ]
}

function operatorText({ operator }: StatusDocument): string {
  if (!operator) return 'not found'
  const leads = operator.leads === false ? ', a pod of the new template does not lead yet' : ''
  return `${operator.version ?? operator.image}, ${operator.ready} of ${operator.desired} ready${leads}`
}

function columns({ verdict }: StatusDocument): Column<ComponentStanding>[] {
  return [
    { name: 'COMPONENT', cell: ({ name }) => name },
    { name: 'UPDATED', cell: ({ updated, desired }) => `${updated}/${desired}` },
    { name: 'READY', cell: ({ ready, desired }) => `${ready}/${desired}` },
    { name: 'VERSION', cell: ({ version }) => version },
    ...(verdict === 'Settled' ? [] : [stateColumn]),
    { name: 'IMAGE', cell: ({ image }) => image, wide: true },
  ]
}

const stateTones: Partial<Record<ComponentStanding['state'], Tone>> = {
  current: 'good',
  stalled: 'bad',
  absent: 'warn',
}

const stateColumn: Column<ComponentStanding> = {
  name: 'STATE',
  cell: ({ state, rolled, detail }) => {
    const word = rolled && state === 'rolling' ? 'not ready' : state
    return detail ? `${word}: ${detail}` : word
  },
  tone: ({ state }) => stateTones[state],
}

function entry(label: string, text: string): string {
  return `${label.padEnd(15)} ${text}`
}
