import { spanText } from '../../../kube/duration.ts'
import type { BrokenUpgrade, RehearsalComparison, UpgradeReport } from '../../../upgrade/upgrade-report.ts'
import { brief, count, wrap, helpLine } from '../../text.ts'
import type { Paint, View } from '../../printer.ts'
import { alertLines, changeRows, goesOnText, signedTroubles, takenLines } from '../report-lines.ts'

export const reportView: View<UpgradeReport> = {
  text: (report, paint, { columns, wide }) =>
    [
      ...(report.outcome === 'nothing-to-do' ? unchanged(report, paint) : whole(report, paint)),
      ...(wide ? details(report) : []),
      ...report.next.map((line) => `  ${paint.mark.next} ${line}`),
    ].flatMap((line) => wrap(line, columns)),
  names: ({ kubevirt }) => [`kubevirt.kubevirt.io/${kubevirt.name}`],
}

/** How it ended, and what is left, its error says. */
export const brokenView: View<BrokenUpgrade> = {
  text: ({ rehearsal, accepted }, paint, { columns, wide }) =>
    [...rehearsalLines({ rehearsal }, paint), ...(wide ? takenLines(accepted) : [])].flatMap((line) =>
      wrap(line, columns),
    ),
  names: () => [],
}

function unchanged(report: UpgradeReport, paint: Paint): readonly string[] {
  const { next, degraded, vms } = report
  if (degraded)
    return [
      `${paint.bad(paint.mark.failed)} ${whatRuns(report)} is Degraded: ${degraded.map(brief).join('; ')}`,
      ...signedTroubles(vms, paint.warn(paint.mark.warning)),
    ]
  const paused = next.length > 0 ? '; automatic VM updates stay paused' : ''
  return [
    `${paint.good(paint.mark.done)} ${whatRuns(report)} is healthy: nothing to do${paused}`,
    ...changeRows(report, paint),
  ]
}

/** The verdict, what is not as it should be, and where to read more. What is always so is left to `-o wide`. */
function whole(report: UpgradeReport, paint: Paint): readonly string[] {
  return [
    verdictLine(report, paint),
    ...problems(report, paint),
    ...rehearsalLines(report, paint),
    ...afterwards(report),
  ]
}

/** `KubeVirt v1.8.4 on prod-eu`, or `HyperConverged 1.18.1 (KubeVirt v1.8.4) on prod-eu`. */
function whatRuns({ to, operator, cluster }: UpgradeReport): string {
  // Where no table says which KubeVirt a release of HyperConverged brings, its own version stands in the place.
  const brings = to.startsWith('v') ? ` (KubeVirt ${to})` : ''
  const what = operator === undefined ? `KubeVirt ${to}` : `HyperConverged ${operator.to}${brings}`
  return cluster?.context === undefined ? what : `${what} on ${cluster.context}`
}

function verdictLine(report: UpgradeReport, paint: Paint): string {
  const { outcome, tookSeconds = 0, stoppedBefore, degraded, changes = [] } = report
  const took = spanText(tookSeconds * 1000)
  const there = `${whatRuns(report)}, ${took}`
  if (degraded)
    return `${paint.bad(paint.mark.failed)} ${there}, but Degraded: ${degraded.map(brief).join('; ')}`
  if (outcome === 'stopped-before') {
    const { step = 'the next step', because = '', safeToLeave, goesOn } = stoppedBefore ?? {}
    const on = goesOn ? `; ${goesOnText(goesOn)}` : ''
    const leave = safeToLeave === undefined ? '' : `. Safe to leave here: ${safeToLeave}`
    return `${paint.warn(paint.mark.warning)} Stopped before ${step} (--${because}) after ${took}${on}${leave}`
  }
  const lost = changes.filter((change) => change.lost).length
  if (lost > 0)
    return `${paint.bad(paint.mark.failed)} ${there}, but ${lost} of VMs and volumes ${lost === 1 ? 'was' : 'were'} lost`
  const said = [keptText(report), afterText(report)].filter(Boolean).join('; ')
  return `${paint.good(paint.mark.done)} ${there}${said === '' ? '' : `. ${said.charAt(0).toUpperCase()}${said.slice(1)}`}`
}

/** `12 VMs kept running, no new alert`: only what was compared, and found as it was. */
function keptText(report: UpgradeReport): string {
  const { comparedWith, workloads, alerts, unread = [] } = report
  const isSame = comparedWith !== undefined && !comparedWith.late && unread.length === 0 && isAsItWas(report)
  const vms =
    isSame && workloads && workloads.instances > 0 ? [`${count(workloads.instances, 'VM')} kept running`] : []
  const isQuiet = alerts !== undefined && 'new' in alerts && alerts.new.length === 0
  return [...vms, ...(isQuiet ? ['no new alert'] : [])].join(', ')
}

const isAsItWas = ({ changes = [], counts = [], differences }: UpgradeReport): boolean =>
  changes.length === 0 &&
  counts.length === 0 &&
  Object.values(differences ?? {}).every((names: readonly string[]) => names.length === 0)

/** What becomes of VMs on an old virt-launcher, from now on. */
function afterText({ workloads }: UpgradeReport): string {
  if (workloads === undefined) return ''
  const { outdated, restart = 0, forecast, paused } = workloads
  const old = outdated - restart
  const needs =
    restart === 0
      ? []
      : [`${count(restart, 'VM')} on a newer virt-launcher ${restart === 1 ? 'needs' : 'need'} a restart`]
  const late = `${count(old, 'VM')} on an old virt-launcher`
  const watched = forecast.includes('migrates') ? ' (kvup workloads migrations -w)' : ''
  const moves =
    old <= 0
      ? []
      : [paused ? `automatic VM updates stay paused, ${late}` : `${late}: KubeVirt ${forecast} now${watched}`]
  return [...moves, ...needs].join('; ')
}

function problems(report: UpgradeReport, paint: Paint): readonly string[] {
  const { findings, migrations, vms, vmCreation, alerts } = report
  const sign = paint.warn(paint.mark.warning)
  const isQuiet = alerts !== undefined && 'new' in alerts && alerts.new.length === 0
  return [
    ...changeRows(report, paint),
    ...(isQuiet ? [] : alertLines(report, paint)),
    ...findings.flatMap(({ summary, remedy }) =>
      [`${sign} ${brief(summary)}`].concat(remedy.map((line) => `  ${helpLine(line, paint)}`)),
    ),
    ...(vmCreation?.is === 'refused'
      ? [`${paint.bad(paint.mark.failed)} a dry-run create of a VM was refused: ${vmCreation.why}`]
      : []),
    ...signedTroubles(vms, sign),
    ...(migrations && migrations.failed > 0
      ? [`${sign} ${migrations.failed} of ${count(migrations.began, 'migration')} failed meanwhile`]
      : []),
  ]
}

/** `  report: kvup history 14        way back: none`. */
function afterwards({ backup, noWayBack, run }: UpgradeReport): readonly string[] {
  const saved = backup === undefined ? '' : `replaced operator objects in ${backup}`
  const back = noWayBack === undefined ? saved : saved === '' ? 'none' : `none (${saved})`
  return [
    `  report: kvup history${run === undefined ? '' : ` ${run}`}${back === '' ? '' : `        way back: ${back}`}`,
  ]
}

/** What came true of the rehearsal, and what did not. */
function rehearsalLines(
  { rehearsal, outcome }: { rehearsal?: RehearsalComparison | undefined; outcome?: string },
  paint: Paint,
): readonly string[] {
  if (rehearsal === undefined) return []
  const { head, others, isAsRehearsed } = rehearsalText(rehearsal, outcome === 'done')
  const sign = isAsRehearsed ? paint.good(paint.mark.done) : paint.warn(paint.mark.warning)
  return [`${sign} rehearsal: ${head}`, ...others.map((line) => `    ${line}`)]
}

/** In a line; `others` are the stages and VMs that went another way. */
export function rehearsalText(
  { outcome, stages, sameOrder, vms }: RehearsalComparison,
  isDone: boolean,
): { head: string; others: readonly string[]; isAsRehearsed: boolean } {
  const stalledOnly = outcome === 'stalls' && isDone
  const both = stages.filter(({ agrees }) => agrees !== undefined)
  const agreed = both.filter(({ agrees }) => agrees === true).length
  const late = both
    .filter(({ agrees }) => agrees === false)
    .map(({ name, took = 0, rehearsed = 0 }) => `${name} ${span(took)}, not ${span(rehearsed)}`)
  const others = vms?.items ?? []
  const head = [
    ...(stalledOnly ? ['it stalled, the upgrade did not'] : []),
    both.length === 0
      ? 'no stage that was rehearsed came to its end'
      : `${agreed} of ${count(both.length, 'stage')} took as long as rehearsed`,
    ...(sameOrder ? [] : ['the stages came in another order']),
    ...(vms === undefined ? [] : [vmScore(vms)]),
  ].join('; ')
  return {
    head,
    others: [...late, ...differingVms(others)],
    isAsRehearsed: !stalledOnly && late.length === 0 && sameOrder && others.length === 0,
  }
}

type ComparedVms = NonNullable<RehearsalComparison['vms']>

const vmScore = ({ agreed, total, open }: ComparedVms): string =>
  `${agreed} of ${count(total, 'VM')} went as rehearsed${open > 0 ? `, ${open} still to come` : ''}`

function differingVms(items: ComparedVms['items']): readonly string[] {
  const told = items.slice(0, toldAtMost)
  const more = items.length - told.length
  return [
    ...told.map(
      ({ namespace, name, tried, rehearsed }) =>
        `${namespace}/${name}: ${tries[tried]}, not ${tries[rehearsed]}`,
    ),
    ...(more > 0 ? [`${more} more with -o json`] : []),
  ]
}

const span = (seconds: number): string => spanText(seconds * 1000)

/** So many VMs are told. */
const toldAtMost = 3

const tries = {
  migrate: 'migrated',
  'migration-failed': 'its migration failed',
  evict: 'evicted',
  'evict-refused': 'its eviction was refused',
  restart: 'restarted',
  ended: 'stopped',
  nothing: 'left alone',
} as const

/** With `-o wide`: what is so every time, or was known before. */
function details(report: UpgradeReport): readonly string[] {
  const { migrations, noWayBack, accepted, virtctl, vmCreation } = report
  return [
    ...slowest(report),
    ...(migrations && migrations.began > 0 ? [`migrations      ${migrations.began} began meanwhile`] : []),
    ...(vmCreation?.is === 'accepted' ? ['new VMs         a dry-run create of a VM is accepted'] : []),
    ...(noWayBack === undefined ? [] : [`way back        none: ${noWayBack}`]),
    ...takenLines(accepted),
    ...(virtctl === undefined ? [] : [`virtctl         ${virtctl}`]),
  ]
}

function slowest({ steps, path = [] }: UpgradeReport): readonly string[] {
  const parts =
    path.length > 1
      ? path.map(({ to, seconds }) => ({ title: to, seconds }))
      : steps.filter(({ seconds }) => seconds > 0)
  if (parts.length === 0) return []
  return [
    `took            ${parts.map(({ title, seconds }) => `${title} ${spanText(seconds * 1000)}`).join(', ')}`,
  ]
}
