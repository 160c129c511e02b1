import type { Cluster } from '../kube/cluster.ts'
import { usageError } from '../kube/errors.ts'
import type { CommandContext } from '../kube/world.ts'
import { Measurement, type MeasureRequest } from './measurement.ts'
import { parseTcpTarget } from './probes.ts'
import { parseStopRule } from './stop-rules.ts'

/** As commander hands them over. */
export interface MeasureOptions {
  measure?: boolean
  measureNamespace?: string
  measureSelector?: string
  tcp?: readonly string[]
  stopIf?: readonly string[]
}

/** Undefined where nothing is to be measured. Throws `usage` for what is no rule or address, and for what says something of a measurement that nobody asked for. */
export function measureRequest({
  measure = false,
  measureNamespace: namespace,
  measureSelector: selector,
  tcp = [],
  stopIf = [],
}: MeasureOptions): MeasureRequest | undefined {
  const request = { namespace, selector, tcp: tcp.map(parseTcpTarget), stopIf: stopIf.map(parseStopRule) }
  if (measure) {
    ensureConnects(request)
    return request
  }
  const given = [
    ...(namespace === undefined ? [] : ['--measure-namespace']),
    ...(selector === undefined ? [] : ['--measure-selector']),
    ...(tcp.length === 0 ? [] : ['--tcp']),
    ...(stopIf.length === 0 ? [] : ['--stop-if']),
  ]
  if (given.length === 0) return undefined
  throw usageError('contradiction', `${given.join(', ')} needs --measure: nothing is measured without it`, {
    remedy: 'add --measure',
  })
}

/** A rule about connections of which none is asked for would never stop anything. */
function ensureConnects({ tcp, stopIf }: MeasureRequest): void {
  const rule = stopIf.find((one) => one.is === 'unavailable' && one.probe === 'tcp')
  if (rule === undefined || tcp.length > 0) return
  throw usageError(
    'contradiction',
    `--stop-if ${rule.text} needs --tcp: no connection is measured without it`,
    {
      remedy: 'add --tcp NAME:PORT',
    },
  )
}

/** A measurement that has not begun; undefined where none was asked for. Throws what `measureRequest` throws. */
export function measurementOf(
  { clock, world, printer }: Pick<CommandContext, 'clock' | 'world' | 'printer'>,
  options: MeasureOptions,
  where: { cluster: Cluster; namespace: string },
): Measurement | undefined {
  const request = measureRequest(options)
  if (request === undefined) return undefined
  const warn = (line: string) => printer.warn(line)
  return new Measurement({ ...where, clock, request, connect: world.connect?.bind(world), warn })
}
