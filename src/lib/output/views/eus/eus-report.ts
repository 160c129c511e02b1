import type { NewAlerts } from '../../../openshift/firing-alerts.ts'
import type { Override } from '../../../engine/journal.ts'
import type { DryRunStep } from '../../../engine/procedure-dry-run.ts'
import { formatDuration } from '../../../kube/duration.ts'
import type { Change, Differences } from '../../../vms/census/vm-census.ts'
import type { Compared, ComparedWith } from '../../../vms/census/run-census.ts'
import type { Document, Paint, View } from '../../printer.ts'
import { wrap } from '../../text.ts'
import { alertLines, changeLines, upToTwenty } from '../report-lines.ts'
import { dryRunLines } from '../dry-run.ts'

/** One step of the run, as it ended. */
export interface EusStepReport {
  id: string
  title: string
  changed: boolean
  seconds: number
  note?: string
}

/** The end of `kvup eus run`, `abort` and `restore`. */
export interface EusReportDocument extends Document {
  kind: 'EusReport'
  /** Minors of the platform. */
  from: string
  to: string
  outcome: 'done' | 'nothing-to-do' | 'stopped-before' | 'aborted' | 'given-back' | 'rehearsed'
  /** What is said of it beforehand or afterwards: what cannot be undone, what was not compared. */
  notes: readonly string[]
  seconds?: number
  steps: readonly EusStepReport[]
  dryRun?: 'client' | 'server'
  /** Only of a dry run. */
  rehearsed?: readonly DryRunStep[]
  /** Still open. */
  borrowed: readonly Override[]
  stoppedBefore?: { step: string; because: string; safeToLeave?: string }
  /** With what VMs and volumes were compared. Reboots inside a guest are not seen. */
  comparedWith?: ComparedWith
  /** What became of VMs and volumes, and whether an owner is seen to have done it: one that is `lost` is exit code 9. */
  changes?: readonly Change[]
  /** Where too many VMs ran to keep their names: the namespaces in which fewer run now. */
  counts?: NonNullable<Compared['counts']>
  /** What could not be read at the end, kinds or in words: nothing is said of it. */
  unread?: readonly string[]
  /** VMs and volumes before the first write of this run and after it (night E11). */
  differences?: Differences
  /** Nodes whose labels or taints are other ones than when the window was opened. */
  nodes?: { changed: readonly string[]; gone: readonly string[] }
  /** DataVolumes and claims that are other ones, or in another phase, than when the window was opened. */
  volumes?: { changed: readonly string[]; gone: readonly string[] }
  /** Alerts that did not fire when the window was opened, in words; or why that cannot be told. */
  alerts?: NewAlerts
  /** Fields of the HyperConverged's spec that read otherwise than when the window was opened, in words; not reverted (night E13). */
  rewritten?: readonly string[]
  next: readonly string[]
}

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
