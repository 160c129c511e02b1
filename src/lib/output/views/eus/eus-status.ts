import type { ArmedUpdate } from '../../../openshift/platform-status.ts'
import type { Part, StepStatus } from '../../../eus/window-status.ts'
import type { Override } from '../../../engine/journal.ts'
import { formatDuration } from '../../../kube/duration.ts'
import { brief, wrap } from '../../text.ts'
import { holderText, type ShownHolder } from '../report-lines.ts'
import { remedyLines } from '../../error-text.ts'
import type { Document, Paint, View } from '../../printer.ts'

/** `kvup eus status`: where a window stands. */
export interface EusStatusDocument extends Document {
  kind: 'EusStatus'
  /** Something is borrowed for a window, or paused pools wait behind their control plane, whoever paused them. */
  open: boolean
  /** Minors of the platform. */
  from: string
  to: string
  /** The release of the control plane, or the one that it is going to. */
  at: string
  /** The release that it has reached, while it is on its way to `at`. */
  leaves?: string
  /** RFC 3339: when the first loan was opened; and how long ago, in seconds. */
  since?: string
  ageSeconds?: number
  /** RFC 3339: pools have to be unpaused before. */
  unpauseBefore?: string
  parts: readonly Part[]
  steps: readonly StepStatus[]
  borrowed: readonly Override[]
  /** What is borrowed, in words. */
  borrowedText: string
  /** An update that is asked for and neither running nor done: it starts by itself (night E6). */
  armed?: ArmedUpdate & { by: 'kvup' | 'somebody else'; why?: string }
  /** Who has kvup's lock now, and when that was read (RFC 3339). */
  running?: ShownHolder & { asOf: string }
  /** What is left of it, in seconds. */
  left?: { lowSeconds: number; highSeconds: number }
  safeToLeave?: string
  /** Which alerts fire, in one line; absent where they could not be asked for. */
  alerts?: string
  /** What could not be read. */
  unknown: readonly string[]
  next: readonly string[]
}

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
