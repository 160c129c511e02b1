import type { Cluster } from '../kube/cluster.ts'
import { usageError } from '../kube/errors.ts'
import type { CommandContext } from '../kube/world.ts'
import { Measurement, type MeasureRequest } from './measurement.ts'

/** As commander hands them over. */
export interface MeasureOptions {
  measure?: boolean
  measureNamespace?: string
  measureSelector?: string
}

/** Undefined where nothing is to be measured. Throws `usage` for what says something of a measurement that nobody asked for. */
export function measureRequest({
  measure = false,
  measureNamespace: namespace,
  measureSelector: selector,
}: MeasureOptions): MeasureRequest | undefined {
  if (measure) return { namespace, selector }
  const given = [
    ...(namespace === undefined ? [] : ['--measure-namespace']),
    ...(selector === undefined ? [] : ['--measure-selector']),
  ]
  if (given.length === 0) return undefined
  throw usageError('contradiction', `${given.join(', ')} needs --measure: nothing is measured without it`, {
    remedy: 'add --measure',
  })
}

/** A measurement that has not begun; undefined where none was asked for. Throws what `measureRequest` throws. */
export function measurementOf(
  { clock, printer }: Pick<CommandContext, 'clock' | 'printer'>,
  options: MeasureOptions,
  where: { cluster: Cluster; namespace: string },
): Measurement | undefined {
  const request = measureRequest(options)
  if (request === undefined) return undefined
  const warn = (line: string) => printer.warn(line)
  return new Measurement({ ...where, clock, request, warn })
}
