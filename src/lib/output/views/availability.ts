import type { Availability, MeasuredProbe } from '../../availability/availability.ts'
import type { Outage } from '../../availability/outage-log.ts'
import { secondsText } from '../../kube/duration.ts'
import { timeOfDay } from '../age.ts'
import type { Paint, Size } from '../printer.ts'
import { brief, wrap } from '../text.ts'

/** So many outages, VMs and migrations are told; a document has more of them, and `-o wide` all that it has. */
const toldAtMost = 3

/** What was measured beside a run, below what else is told of it: a line where all was well, else what was not. */
export function availabilityLines(measured: Availability, paint: Paint, size: Size): readonly string[] {
  const { summary, promise, vms, overLimit } = measured
  const isUp = measured.probes.every(({ count }) => count === 0)
  const isWell = isUp && promise.is === 'kept' && vms.interrupted.count === 0 && overLimit === undefined
  const sign = isWell ? paint.good(paint.mark.done) : paint.warn(paint.mark.warning)
  const most = size.wide ? Infinity : toldAtMost
  return [
    `${sign} ${summary}`,
    ...(overLimit === undefined ? [] : [`  ${overLimit}`]),
    ...measured.probes
      .filter(({ probe }) => probe !== 'api')
      .flatMap((probe) => probeLines(probe, most, size)),
    ...vmLines(measured, most),
    ...(isWell && !size.wide ? [] : [`  ${promise.text}`]),
    ...(measured.notMeasuredSeconds > 0
      ? [`  not measured for ${measured.notMeasuredSeconds} s: this computer gave kvup no turn`]
      : []),
  ].flatMap((line) => wrap(line, size.columns))
}

function probeLines(measured: MeasuredProbe, most: number, { wide }: Size): readonly string[] {
  const { probe, what, calls, count, unavailableSeconds, ended } = measured
  const name = (probe === 'tcp' ? `tcp ${what}` : probe).padEnd(11)
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

function vmLines({ vms }: Availability, most: number): readonly string[] {
  const { interrupted, migrations, agents, notWatched } = vms
  const shown = interrupted.items
    .slice(0, most)
    .map(
      ({ vm, at, how, runsAgain }) =>
        `${vm} ${how} ${timeOfDay(at)}${runsAgain === undefined ? '' : `, runs again ${timeOfDay(runsAgain)}`}`,
    )
  const more = interrupted.count > shown.length ? [`and ${interrupted.count - shown.length} more`] : []
  const longest =
    migrations.longestSeconds === undefined ? '' : `, the longest ${migrations.longestSeconds} s`
  return [
    ...(interrupted.count > 0 ? [`  interrupted ${[...shown, ...more].join('; ')}`] : []),
    ...(migrations.count > 0
      ? [
          `  migrations  ${migrations.count} ended${longest}${migrations.failed > 0 ? `, ${migrations.failed} failed` : ''}`,
        ]
      : []),
    ...(agents.lost.count > 0
      ? [`  agents      ${agents.lost.count} times a guest agent was no longer connected`]
      : []),
    ...(notWatched === undefined ? [] : [`  VMs         not watched: ${brief(notWatched)}`]),
  ]
}
