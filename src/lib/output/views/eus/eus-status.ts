import type { Part } from '../../../eus/window-status.ts'
import { formatDuration } from '../../../kube/duration.ts'
import { brief, wrap } from '../../text.ts'
import { holderText } from '../report-lines.ts'
import { remedyLines } from '../../error-text.ts'
import type { Paint, View } from '../../printer.ts'
import type { EusStatusDocument } from '../../../eus/run/window-status-report.ts'

export const eusStatusView: View<EusStatusDocument> = {
  text(status, paint, size) {
    return [
      headline(status, paint),
      ...armedLines(status, paint),
      ...status.parts.map((part) => partLine(part, paint)),
      ...lastLines(status, paint),
    ].flatMap((line) => wrap(line, size.columns))
  },
  names: ({ steps }) => steps.map(({ id }) => `step/${id}`),
}

function headline(
  { open, from, to, at, leaves, ageSeconds, unpauseBefore }: EusStatusDocument,
  paint: Paint,
): string {
  if (!open) {
    const next = at.startsWith(`${to}.`) ? '' : `; the next would lead to ${to}`
    return `${paint.mark.dot} no window is open (platform ${at}${next})`
  }
  const day = ageSeconds === undefined ? '' : ` · day ${Math.floor(ageSeconds / 86_400) + 1}`
  const before = unpauseBefore === undefined ? '' : ` · unpause before ${unpauseBefore.slice(0, 10)}`
  const where = leaves === undefined ? `at ${at}` : `on its way from ${leaves} to ${at}`
  return `${from} → ${to} (control plane ${where})${day}${before}`
}

/** In red, whoever set it: what was refused, or nobody knows of. */
function armedLines({ armed }: EusStatusDocument, paint: Paint): string[] {
  if (armed === undefined) return []
  const { version, image, by, why } = armed
  // Between the request and the answer that is how it goes.
  if (by === 'kvup' && why === undefined)
    return [
      ` ${paint.mark.running} platform ${version ?? image} is asked for: the platform has not answered yet`,
    ]
  const said = why === undefined ? '' : ` (${brief(why)})`
  return [
    paint.bad(
      `${paint.mark.failed} an update to ${version ?? image ?? 'another release'} is requested by ${by} and not running${said}: it starts by itself once nothing is in the way`,
    ),
    `  ${paint.mark.next} ${by === 'kvup' ? 'kvup eus abort' : 'oc adm upgrade --clear'}     # takes it back`,
  ]
}

function partLine({ name, state, note }: Part, paint: Paint): string {
  const { mark } = paint
  const sign = { done: paint.good(mark.done), now: mark.running, ahead: ' ' }[state]
  const text = ` ${sign} ${note === undefined || state === 'ahead' ? name : `${name.padEnd(28)} ${brief(note)}`}`
  return state === 'ahead' ? paint.dim(text) : text
}

/** A run whose process is gone is nobody's. */
const isAtWork = ({ running }: EusStatusDocument): boolean =>
  running !== undefined && running.gone === undefined

function lastLines(status: EusStatusDocument, paint: Paint): string[] {
  const { borrowedText, open, left, safeToLeave, unknown, next } = status
  return [
    ...(borrowedText === ''
      ? []
      : [
          `borrowed: ${borrowedText}${isAtWork(status) ? '' : ` ${paint.mark.next} kvup eus abort gives them back`}`,
        ]),
    ...(status.running ? [`kvup: ${holderText(status.running, status.running.asOf)}`] : []),
    ...(left === undefined || !open
      ? []
      : [
          `left: ${formatDuration(left.lowSeconds * 1000)} to ${formatDuration(left.highSeconds * 1000)}, without pauses`,
        ]),
    ...(safeToLeave === undefined ? [] : [`safe to leave here: ${safeToLeave}`]),
    ...(status.alerts === undefined ? [] : [`alerts: ${status.alerts}`]),
    ...unknown.map((line) => `${paint.mark.dot} not known: ${brief(line)}`),
    ...remedyLines(next, paint),
  ]
}
