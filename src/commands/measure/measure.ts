import type { Context } from '../../context.ts'
import { measurementOf, type MeasureOptions } from '../../lib/availability/measure-request.ts'
import type { Availability } from '../../lib/availability/availability.ts'
import { type ExitCode, usageError } from '../../lib/kube/errors.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import { notOne } from '../../lib/kubevirt/installation.ts'
import { homeOf, listKubeVirts } from '../../lib/kubevirt/snapshot.ts'
import type { Document, View } from '../../lib/output/printer.ts'
import { sanitiseDeep } from '../../lib/output/terminal.ts'
import { availabilityLines } from '../../lib/output/views/availability.ts'
import { isPage, tellScreen } from '../run-change.ts'

interface MeasuredCommand extends Document {
  kind: 'MeasuredCommand'
  /** As it would be typed. */
  command: string
  /** Its exit code, with which kvup ends. */
  exitCode: number
  availability: Availability
}

const measuredView: View<MeasuredCommand> = {
  text: ({ availability }, paint, size) => availabilityLines(sanitiseDeep(availability), paint, size),
  names: ({ command }) => [command],
}

/** `kvup measure -- COMMAND`: the command beside a measurement; ends with its exit code. */
export async function measure(
  cx: Context,
  options: MeasureOptions,
  command: readonly string[],
): Promise<ExitCode> {
  const { world, printer } = cx
  const cluster = await cx.cluster()
  const namespace = homeOf(await listKubeVirts(cluster.reader))
  if (namespace === undefined) throw notOne({ is: 'none' })
  const measurement = measurementOf(cx, { ...options, measure: true }, { cluster, namespace })
  if (measurement === undefined || world.run === undefined)
    throw usageError('not-measurable', 'no command can be run here')
  const typed = command.map(shellWord).join(' ')
  try {
    await measurement.begin()
    const exitCode = await world.run(command, !isPage(cx)).catch((cause: unknown) => {
      throw usageError('command-not-started', `${typed} cannot be started: ${why(cause)}`, { cause })
    })
    measurement.end()
    const availability = measurement.report()
    // The output of the command is the answer; as `time` does, this goes beside it.
    if (isPage(cx))
      tellScreen(printer, (paint) =>
        availabilityLines(sanitiseDeep(availability), paint, {
          columns: Infinity,
          wide: cx.flags.output === 'wide',
        }),
      )
    else
      printer.result<MeasuredCommand>(
        { apiVersion: 'kvup.io/v1alpha1', kind: 'MeasuredCommand', command: typed, exitCode, availability },
        measuredView,
      )
    // Whatever the command ends with, kvup ends with.
    return exitCode as ExitCode
  } finally {
    measurement.end()
  }
}

function why(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'ENOENT') return 'there is no such command'
  if (code === 'EACCES') return 'the file may not be executed'
  return cause instanceof Error ? cause.message : String(cause)
}
