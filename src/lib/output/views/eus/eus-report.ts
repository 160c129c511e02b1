import { formatDuration } from '../../../kube/duration.ts'
import type { Paint, View } from '../../printer.ts'
import { wrap } from '../../text.ts'
import { alertLines, changeLines, upToTwenty } from '../report-lines.ts'
import { dryRunLines } from '../dry-run.ts'
import type { EusReportDocument } from '../../../eus/run/window-report.ts'

export const eusReportView: View<EusReportDocument> = {
  text(report, paint, size) {
    const { outcome, rehearsed = [], dryRun, notes, next } = report
    if (outcome === 'rehearsed')
      return dryRunLines({ steps: rehearsed, mode: dryRun ?? 'client' }, paint, size)
    const lines = [
      headline(report, paint),
      ...stopLines(report, paint),
      ...nodeLines(report, paint),
      ...volumeLines(report, paint),
      ...changeLines(report, paint),
      ...alertLines(report, paint),
      ...rewrittenLines(report, paint),
      ...overriddenLines(report, paint),
      ...notes,
      ...next.map((line) => `  ${paint.mark.next} ${line}`),
    ]
    return lines.flatMap((line) => wrap(line, size.columns))
  },
  names: ({ steps, rehearsed = [] }) => [...steps, ...rehearsed].map(({ id }) => `step/${id}`),
}

const words: Readonly<Record<EusReportDocument['outcome'], string>> = {
  done: 'the window is closed',
  'nothing-to-do': 'there is nothing to do',
  'stopped-before': 'stopped on the way',
  aborted: 'the window was aborted',
  'given-back': 'settings were given back',
  rehearsed: 'rehearsed',
}

function headline({ from, to, outcome, seconds }: EusReportDocument, paint: Paint): string {
  const took = seconds === undefined ? '' : ` after ${formatDuration(seconds * 1000)}`
  const mark = outcome === 'stopped-before' ? paint.mark.running : paint.mark.done
  return `${mark} ${from} → ${to}: ${words[outcome]}${took}`
}

function stopLines({ stoppedBefore }: EusReportDocument, paint: Paint): string[] {
  if (stoppedBefore === undefined) return []
  const { step, because, safeToLeave } = stoppedBefore
  const safe = safeToLeave === undefined ? '' : `; safe to leave ${safeToLeave}`
  return [`${paint.mark.next} before ${step}, by --${because}${safe}`]
}

function nodeLines({ nodes }: EusReportDocument, paint: Paint): string[] {
  if (nodes === undefined) return []
  const { changed, gone } = nodes
  if (changed.length + gone.length === 0) return ['labels and taints of the nodes are as they were']
  return [
    ...(changed.length > 0
      ? [`${paint.mark.warning} other labels or taints than before: ${changed.join(', ')}`]
      : []),
    ...(gone.length > 0 ? [`${paint.mark.warning} nodes that are gone: ${gone.join(', ')}`] : []),
  ]
}

function volumeLines({ volumes }: EusReportDocument, paint: Paint): string[] {
  if (volumes === undefined) return []
  const { changed, gone } = volumes
  if (changed.length + gone.length === 0) return ['volumes are as they were']
  return [
    ...(changed.length > 0
      ? [`${paint.mark.warning} other volumes than before: ${upToTwenty(changed)}`]
      : []),
    ...(gone.length > 0 ? [`${paint.mark.warning} volumes that are gone: ${upToTwenty(gone)}`] : []),
  ]
}

function rewrittenLines({ rewritten = [] }: EusReportDocument, paint: Paint): string[] {
  return rewritten.map(
    (line) => `${paint.mark.dot} HyperConverged reads otherwise than before, not reverted: ${line}`,
  )
}

function overriddenLines({ borrowed }: EusReportDocument, paint: Paint): string[] {
  if (borrowed.length === 0) return []
  const named = borrowed.map(({ id }) => id).join(', ')
  return [`borrowed: ${named}`, `  ${paint.mark.next} kvup eus abort     # gives it back`]
}
