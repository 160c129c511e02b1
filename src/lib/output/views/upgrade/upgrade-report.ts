import { formatDuration } from '../../../kube/duration.ts'
import type { UpgradeReport } from '../../../upgrade/upgrade-report.ts'
import { brief, count, wrap } from '../../text.ts'
import type { Paint, View } from '../../printer.ts'
import { alertLines, changeLines, signedTroubles, takenLines } from '../report-lines.ts'
import { hopText } from './upgrade-plan-words.ts'

export const reportView: View<UpgradeReport> = {
  text: (report, paint, { columns }) =>
    (report.outcome === 'nothing-to-do' ? unchanged(report, paint) : whole(report, paint)).flatMap((line) =>
      wrap(line, columns),
    ),
  names: ({ kubevirt }) => [`kubevirt.kubevirt.io/${kubevirt.name}`],
}

function unchanged(report: UpgradeReport, paint: Paint): readonly string[] {
  const { to, operator, next, degraded, vms } = report
  if (degraded)
    return [
      ...signedTroubles(vms, paint.warn(paint.mark.warning)),
      `${paint.bad(paint.mark.failed)} ${operator ? `HyperConverged is at ${operator.to}` : `KubeVirt is at ${to}`}, and Degraded: ${degraded.map(brief).join('; ')}`,
      ...nextLines(next, paint),
    ]
  const paused = next.length > 0 ? '; workload updates are still held' : ''
  return [
    ...changeLines(report, paint),
    `${paint.good(paint.mark.done)} ${operator ? `HyperConverged is at ${operator.to}` : `KubeVirt is at ${to}`} and settled: nothing to do${paused}`,
    ...nextLines(next, paint),
  ]
}

const nextLines = (next: readonly string[], { mark }: Paint) => next.map((line) => `  ${mark.next} ${line}`)

/** Differences come first (night U6), the important line last. */
function whole(report: UpgradeReport, paint: Paint): readonly string[] {
  return [
    ...changeLines(report, paint),
    ...alertLines(report, paint),
    ...report.findings.flatMap(({ summary, remedy }) => [
      `${paint.warn(paint.mark.warning)} ${brief(summary)}`,
      ...remedy.map((line) => `  ${paint.mark.next} ${line}`),
    ]),
    ...creationLines(report, paint),
    ...slowest(report),
    ...workloadLines(report),
    ...signedTroubles(report.vms, paint.warn(paint.mark.warning)),
    ...migrationLines(report),
    ...rollbackLines(report),
    ...takenLines(report.accepted),
    ...(report.virtctl ? [`virtctl         ${report.virtctl}`] : []),
    lastLine(report, paint),
    ...nextLines(report.next, paint),
  ]
}

function creationLines({ vmCreation }: UpgradeReport, paint: Paint): readonly string[] {
  if (vmCreation?.is === 'refused')
    return [`${paint.bad(paint.mark.failed)} a dry-run create of a VM was refused: ${vmCreation.why}`]
  return vmCreation?.is === 'accepted' ? ['a dry-run create of a VM is accepted'] : []
}

function slowest({ steps, path = [] }: UpgradeReport): readonly string[] {
  if (path.length > 1)
    return [
      `took            ${path.map(({ to, seconds }) => `${to} ${formatDuration(seconds * 1000)}`).join(', ')}`,
    ]
  const timed = steps.filter(({ seconds }) => seconds > 0)
  return timed.length === 0
    ? []
    : [
        `took            ${timed.map(({ title, seconds }) => `${title} ${formatDuration(seconds * 1000)}`).join(', ')}`,
      ]
}

function workloadLines({ workloads }: UpgradeReport): readonly string[] {
  if (!workloads) return []
  const { instances, outdated, restart = 0, forecast, paused } = workloads
  const outcome =
    outdated === 0 ? '' : paused ? '; workload updates are still held' : `; KubeVirt ${forecast}`
  const old = outdated - restart
  const newer = `${restart} on a newer virt-launcher, ${restart === 1 ? 'which needs' : 'each of which needs'} a restart`
  const late = `${old <= 0 ? 'none' : old} on an old virt-launcher`
  const which = restart === 0 ? late : old <= 0 ? newer : `${late}, ${newer}`
  return [`workloads       ${count(instances, 'VM')}, ${which}${outcome}`]
}

function migrationLines({ migrations }: UpgradeReport): readonly string[] {
  if (!migrations || migrations.began === 0) return []
  const { began, failed } = migrations
  return [`migrations      ${began} began meanwhile, ${failed === 0 ? 'none' : failed} failed`]
}

function rollbackLines({ backup, noWayBack }: UpgradeReport): readonly string[] {
  if (backup === undefined) return []
  const kept = `the replaced operator objects are in ${backup}`
  return [`way back        ${noWayBack === undefined ? kept : `none: ${noWayBack}; ${kept}`}`]
}

function lastLine(
  { outcome, from, to, operator, tookSeconds = 0, stoppedBefore, degraded, changes = [] }: UpgradeReport,
  paint: Paint,
): string {
  const took = formatDuration(tookSeconds * 1000)
  if (degraded)
    return `${paint.bad(paint.mark.failed)} ${hopText({ from, to, operator }, paint.mark.next)} in ${took}, and Degraded: ${degraded.map(brief).join('; ')}`
  if (outcome === 'done')
    return `${changes.some(({ lost }) => lost) ? paint.bad(paint.mark.failed) : paint.good(paint.mark.done)} ${hopText({ from, to, operator }, paint.mark.next)} in ${took}, settled`
  const leave = stoppedBefore?.safeToLeave ? `; safe to leave here: ${stoppedBefore.safeToLeave}` : ''
  return `${paint.warn(paint.mark.warning)} stopped before ${stoppedBefore?.step ?? 'the next step'} (${stoppedBefore?.because ?? ''})${leave}`
}
