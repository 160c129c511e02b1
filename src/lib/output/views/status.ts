import type { Cause } from '../../facts/cause.ts'
import type { Doubt } from '../../facts/doubts.ts'
import type { StatusReport } from '../../facts/status-report.ts'
import type { Loan } from '../../procedure/journal.ts'
import { ageAt } from '../age.ts'
import type { Document, Paint, Size, Tone, View } from '../printer.ts'
import { wrap } from '../wrap.ts'
import { borrowedLines } from './borrowed-lines.ts'
import { componentLines } from './component-lines.ts'
import { brief } from '../brief.ts'
import type { Entry } from './entry.ts'
import { layerLines } from './layer-lines.ts'
import { holderText, type ShownHolder } from './lock-holder.ts'
import { managedBy } from './managed-by.ts'
import { workloadLines } from './workload-lines.ts'

export interface StatusDocument extends Document, StatusReport {
  kind: 'Status'
  /** Open loans; absent where the journal could not be read. */
  borrowed?: readonly Loan[]
  /** VMs that have what `kvup workloads unblock` lent them, where there are any, and the line that gives it back. */
  lent?: { machines: number; giveBack: string }
  /** In words, where this machine's clock is not the cluster's. */
  clock?: string
  /** Who has kvup's lock now. */
  running?: ShownHolder
}

/** Below this many columns a label stands above its text. */
const roomForLabels = 60

export const statusView: View<StatusDocument> = {
  text: (status, paint, size) => {
    const layers = layerLines(status, paint, { entry: entryFor(size), wide: size.wide })
    const rest = kubeVirtLines(status, paint, size)
    const between = layers.length > 0 && rest.length > 0 ? [''] : []
    return [...layers, ...between, ...rest].flatMap((line) => wrap(line, size.columns))
  },
  names: ({ installation: found, idleOperator, layers = [] }) => {
    if (found) return [`kubevirt/${found.name}`]
    const [layer] = layers.flatMap(({ object }) => (object === undefined ? [] : [object]))
    return [idleOperator ? `deployment/${idleOperator.name}` : (layer ?? 'deployment/virt-operator')]
  },
}

const entryFor = ({ columns }: Size): Entry => (columns < roomForLabels ? above : beside)

/** Nothing where the layers above are all there is. */
function kubeVirtLines(status: StatusDocument, paint: Paint, size: Size): string[] {
  if (status.installation) return installed(status, paint, size)
  return status.idleOperator || !status.layers ? idle(status, paint) : []
}

function installed(status: StatusDocument, paint: Paint, size: Size): string[] {
  const entry = entryFor(size)
  return [
    headline(status, paint),
    ...(status.waitingFor ? entry('waiting for', brief(status.waitingFor)) : []),
    ...(status.why ?? []).flatMap((cause) => causeLines(cause, status, { paint, entry })),
    ...entry('managed by', managedBy(status)),
    ...entry('operator', operatorText(status)),
    ...(status.running ? entry('kvup', holderText(status.running, status.takenAt)) : []),
    ...borrowedLines(status.borrowed ?? [], { paint, entry, takenAt: status.takenAt }),
    ...lentLines(status, { paint, entry }),
    ...(status.clock ? entry('clock', paint.warn(status.clock)) : []),
    ...(status.doubts ?? []).flatMap((doubt) => doubtLines(doubt, { paint, entry })),
    ...(status.remarks ?? []).flatMap((remark) => entry('not judged', paint.warn(brief(remark)))),
    '',
    ...componentLines(status, paint, size),
    '',
    ...workloadLines(status, paint).flatMap((line, index) => entry(index === 0 ? 'workloads' : '', line)),
  ]
}

const beside: Entry = (label, text) => [`${label.padEnd(15)} ${text}`]
const above: Entry = (label, text) => [...(label === '' ? [] : [label]), `  ${text}`]

interface Look {
  paint: Paint
  entry: Entry
}

function lentLines({ lent }: StatusDocument, { paint, entry }: Look): string[] {
  if (lent === undefined) return []
  const whose = lent.machines === 1 ? '1 VM has settings' : `${lent.machines} VMs have settings`
  return [
    ...entry('borrowed', paint.warn(`${whose} that kvup workloads unblock lent`)),
    ...entry('', paint.dim(`${paint.mark.next} ${lent.giveBack}     # gives them back`)),
    ...entry('', paint.dim(`${paint.mark.next} kvup history     # names them`)),
  ]
}

/** What is expected beyond KubeVirt's own word, below it: the verdict does not depend on it. */
function doubtLines({ sentence, look: [first] }: Doubt, { paint, entry }: Look): string[] {
  const lines = entry('note', paint.warn(brief(sentence)))
  if (first !== undefined) lines.push(...entry('', paint.dim(`${paint.mark.next} ${first}`)))
  return lines
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

function causeLines(cause: Cause, { takenAt }: StatusDocument, { paint, entry }: Look): string[] {
  const age = cause.since ? `, for ${ageAt(cause.since, takenAt)}` : ''
  return [
    ...entry('why', paint.bad(`${brief(cause.sentence)}${age}`)),
    ...cause.look.flatMap((line) => entry('', paint.dim(`${paint.mark.next} ${line}`))),
  ]
}

function operatorText({ operator }: StatusDocument): string {
  if (!operator) return 'not found'
  const leads = operator.leads === false ? ', a pod of the new template does not lead yet' : ''
  return `${operator.version ?? operator.image}, ${operator.ready} of ${operator.desired} ready${leads}`
}
