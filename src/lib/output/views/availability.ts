import type { Availability, MeasuredProbe } from '../../availability/availability.ts'
import type { LostAgent, MeasuredMigration } from '../../availability/measured-vms.ts'
import type { Outage } from '../../availability/outage-log.ts'
import { secondsText } from '../../kube/duration.ts'
import { timeOfDay } from '../age.ts'
import type { Paint, Size } from '../printer.ts'
import { brief, wrap } from '../text.ts'

/** So many outages and VMs are told; `-o wide` tells of all that the document has by name, and of every migration and guest agent. */
const toldAtMost = 3

/** What was measured beside a run, below what else is told of it: a line where all was well, else what was not. */
export function availabilityLines(measured: Availability, paint: Paint, size: Size): readonly string[] {
  const { summary, promise, vms } = measured
  const isUp = measured.probes.every(({ count }) => count === 0)
  const areVmsWell = vms.interrupted.count === 0 && vms.notWatched === undefined && vms.gaps === undefined
  const isWell = isUp && promise.is === 'kept' && areVmsWell
  const sign = isWell ? paint.good(paint.mark.done) : paint.warn(paint.mark.warning)
  const most = size.wide ? Infinity : toldAtMost
  return [
    `${sign} ${summary}`,
    ...measured.probes
      .filter(({ probe }) => probe !== 'api')
      .flatMap((probe) => probeLines(probe, most, size)),
    ...vmLines(measured, { most, wide: size.wide }),
    ...(isWell && !size.wide ? [] : [`  ${promise.text}`]),
  ].flatMap((line) => wrap(line, size.columns))
}

function probeLines(measured: MeasuredProbe, most: number, { wide }: Size): readonly string[] {
  const { probe, what, calls, count, unavailableSeconds, ended } = measured
  const name = probe.padEnd(11)
  const outages = measured.outages.slice(0, most).map(outageText)
  const more = count > outages.length ? [`and ${count - outages.length} more`] : []
  return [
    ...(count > 0
      ? [`  ${name} ${secondsText(unavailableSeconds)}: ${[...outages, ...more].join('; ')}`]
      : []),
    ...(ended === undefined
      ? []
      : [
          `  ${name} ${calls > 1 ? `not measured since ${timeOfDay(ended.at)}` : 'not measured'}: ${brief(ended.why)}`,
        ]),
    ...(wide && count === 0 && ended === undefined ? [`  ${name} 0 s in ${calls} calls (${what})`] : []),
  ]
}

/** `14:02:11 to 14:02:21 while virt-api rolled` */
function outageText({ begin, end, rolling = [], steps = [], why }: Outage): string {
  const until = end === undefined ? 'and still then' : `to ${timeOfDay(end)}`
  const during = steps.length === 0 ? 'nothing rolled' : `during ${steps.join(', ')}`
  const meanwhile = rolling.length === 0 ? `${during}: ${brief(why)}` : `while ${rolling.join(', ')} rolled`
  return `${timeOfDay(begin)} ${until}, ${meanwhile}`
}

/** How many are told, and whether each by its name. */
interface Detail {
  most: number
  wide: boolean
}

function vmLines({ vms }: Availability, detail: Detail): readonly string[] {
  const { interrupted, notWatched } = vms
  const shown = interrupted.items
    .slice(0, detail.most)
    .map(
      ({ vm, at, how, runsAgain }) =>
        `${vm} ${how} ${timeOfDay(at)}${runsAgain === undefined ? '' : `, runs again ${timeOfDay(runsAgain)}`}`,
    )
  return [
    ...(interrupted.count > 0
      ? [`  interrupted ${[...shown, ...moreOf(interrupted.count, shown)].join('; ')}`]
      : []),
    ...migrationLines(vms, detail),
    ...agentLines(vms, detail),
    ...(notWatched === undefined ? [] : [`  VMs         not watched: ${brief(notWatched)}`]),
    ...gapLines(vms, detail),
  ]
}

const moreOf = (count: number, shown: readonly string[]): readonly string[] =>
  count > shown.length ? [`and ${count - shown.length} more`] : []

/** Below the line that counts them. */
const named = (count: number, lines: readonly string[]): readonly string[] =>
  [...lines, ...moreOf(count, lines)].map((line) => `    ${line}`)

function migrationLines({ migrations }: Availability['vms'], { wide }: Detail): readonly string[] {
  const { count, failed, longestSeconds, items } = migrations
  if (count === 0) return []
  const longest = longestSeconds === undefined ? '' : `, the longest ${longestSeconds} s`
  return [
    `  migrations  ${count} ended${longest}${failed > 0 ? `, ${failed} failed` : ''}`,
    ...(wide ? named(count, items.map(migrationText)) : []),
  ]
}

/** `shop/web 14:02:11 to 14:02:41 (30 s), node-1 to node-2, active there 14:02:39, PreCopy`, as far as KubeVirt tells it. */
function migrationText(migration: MeasuredMigration): string {
  const { vm, begin, end, seconds, activeOnTarget, sourceNode, targetNode, mode, failed } = migration
  const took = seconds === undefined ? '' : ` (${seconds} s)`
  const times =
    begin === undefined || end === undefined ? took : ` ${timeOfDay(begin)} to ${timeOfDay(end)}${took}`
  return [
    `${vm}${times}`,
    ...(sourceNode === undefined || targetNode === undefined ? [] : [`${sourceNode} to ${targetNode}`]),
    ...(activeOnTarget === undefined ? [] : [`active there ${timeOfDay(activeOnTarget)}`]),
    ...(mode === undefined ? [] : [mode]),
    ...(failed === undefined ? [] : [`failed: ${brief(failed)}`]),
  ].join(', ')
}

function agentLines({ agents: { lost } }: Availability['vms'], { wide }: Detail): readonly string[] {
  if (lost.count === 0) return []
  const times = lost.count === 1 ? 'once' : `${lost.count} times`
  return [
    `  agents      ${times} a guest agent was no longer connected`,
    ...(wide ? named(lost.count, lost.items.map(lostAgentText)) : []),
  ]
}

const lostAgentText = ({ vm, at, connectedAgain }: LostAgent): string =>
  `${vm} ${connectedAgain === undefined ? `since ${timeOfDay(at)}` : `${timeOfDay(at)} to ${timeOfDay(connectedAgain)}`}`

function gapLines({ gaps }: Availability['vms'], { most }: Detail): readonly string[] {
  if (gaps === undefined) return []
  const shown = gaps.items.slice(0, most).map(({ begin, end, why }) => {
    const when = end === undefined ? `since ${timeOfDay(begin)}` : `${timeOfDay(begin)} to ${timeOfDay(end)}`
    return `${when} (${brief(why)})`
  })
  return [`  VMs         not watched ${[...shown, ...moreOf(gaps.count, shown)].join('; ')}`]
}
