import { formatDuration } from '../../system/duration.ts'
import type { EusPlanDocument } from './eus-plan-document.ts'

type Hop = EusPlanDocument['hops'][number]

/** One line of the way: a release of the platform or of the operator. */
export interface WayLine {
  what: string
  done: boolean
  why: string
  /** What decides before it, and what else is to be known. */
  under: readonly (readonly [label: string, text: string])[]
}

const platformNames = { ocp: 'OpenShift', okd: 'OKD' } as const

/** `OpenShift 4.18.21 → 4.20`. */
export function headText({ flavour, from, to }: EusPlanDocument, arrow = '→'): string {
  return `${platformNames[flavour]} ${from} ${arrow} ${to}`
}

export function wayText({ way, topology }: EusPlanDocument): string {
  if (way === 'control-plane-only') return 'control plane only: the pools stay behind until the end'
  return `hop by hop: the pools follow in each${topology === 'usual' ? '' : ` (${topology})`}`
}

/** Platform and operator in the order in which they are updated. */
export function wayLines(plan: EusPlanDocument): readonly WayLine[] {
  return plan.hops.flatMap((hop) => [
    platformLine(hop),
    ...hop.operators.map((stop) => operatorLine(hop, stop)),
  ])
}

function platformLine(hop: Hop): WayLine {
  const { minor, platform, gate, adminGates, removedApis } = hop
  return {
    what: `platform ${platform.version ?? minor}`,
    done: platform.done,
    why: platform.chosenBecause,
    under: platform.done
      ? []
      : [
          ...(platform.channel === undefined ? [] : [['channel', platform.channel] as const]),
          ['gate', gate.platform.join('; ')] as const,
          ...adminGates.map(({ name }) => ['acknowledge', name] as const),
          ...removedApis.map(
            ({ name, requests }) => ['goes away', `${name}, asked for ${requests} times in 24 h`] as const,
          ),
          ['takes', rangeText(hop)] as const,
        ],
  }
}

function operatorLine({ minor, gate }: Hop, stop: Hop['operators'][number]): WayLine {
  return {
    what: `virtualization ${stop.version ?? minor}`,
    done: stop.done,
    why: stop.chosenBecause,
    under: stop.done
      ? []
      : [
          ...(stop.channel === undefined ? [] : [['channel', stop.channel] as const]),
          ['gate', gate.operator.join('; ')] as const,
        ],
  }
}

/** With its operator, most of which are through in 15 minutes. */
function rangeText({ time: { lowSeconds, highSeconds } }: Hop): string {
  const [low, high] = [lowSeconds, highSeconds].map((seconds) => formatDuration(seconds * 1000))
  return `${low} to ${high}, the operator's part with it`
}

/** What is borrowed for the window, and when it is given back. */
export function keptLines(plan: EusPlanDocument): readonly (readonly [label: string, text: string])[] {
  const { pools, healthChecks, channel, way, hops, unpauseBefore } = plan
  const pausing = pools.map(
    ({ name, machines, paused, borrowed }) =>
      `${name} (${machines} ${machines === 1 ? 'machine' : 'machines'}${borrowed ? ', paused by kvup' : paused ? ', paused already' : ''})`,
  )
  const checks = healthChecks.map(
    ({ kind, namespace, name }) => `${kind} ${namespace ? `${namespace}/` : ''}${name}`,
  )
  const isOpen = way === 'control-plane-only' || hops.length > 0
  return [
    ...(isOpen ? [['workload updates', heldText(plan)] as const] : []),
    ...(pausing.length > 0
      ? [['pools', `${pausing.join(', ')} paused until the end; master never`] as const]
      : []),
    ...(checks.length > 0 ? [['health checks', `${checks.join(', ')} paused until the end`] as const] : []),
    ...(channel === undefined
      ? []
      : [['channel', `${channel.from ?? 'none'} to ${channel.to}, before the first hop`] as const]),
    ...(unpauseBefore === undefined ? [] : [['unpause before', unpauseBefore.slice(0, 10)] as const]),
  ]
}

function heldText({ methods, methodsUnknown, way }: EusPlanDocument): string {
  if (methodsUnknown) return 'held; what is given back at the end could not be read'
  if (methods.length === 0) return 'none are set: nothing is held, and nothing given back'
  const names = methods.join(', ')
  return way === 'plain'
    ? `${names} held in each hop and given back behind it`
    : `${names} held, and given back at the end`
}

const words = {
  'comes-back': 'comes back by itself',
  'stays-down': 'stays down: its runStrategy does not start it again',
  'is-lost': 'is lost: no VM is behind it',
} as const

/** Each VM of a single node (night E10). */
export function outageLines({ outages = [] }: Pick<EusPlanDocument, 'outages'>): readonly string[] {
  return outages.map(({ vm, afterwards, loses = [] }) => {
    const gone = loses.length === 0 ? '' : `; loses data on ${loses.join(', ')}`
    return `down while the node reboots: ${vm}, ${words[afterwards]}${gone}`
  })
}

/** Why there is nothing to type: it is done, or it would be refused. Undefined where it may begin. */
export function whyNotYet({ pending, to, findings, accepted }: EusPlanDocument): string | undefined {
  if (!pending) return `platform and operator are at ${to}, and no pool is left behind: nothing to do`
  const taken = new Set(accepted.map(({ id }) => id))
  const stops = findings.filter(({ id, level }) => isStop(level) && !taken.has(id))
  return stops.length === 0
    ? undefined
    : `refused as it stands: ${[...new Set(stops.map(({ id }) => id))].join(', ')}`
}

type Level = EusPlanDocument['findings'][number]['level']

export const isStop = (level: Level): boolean => level === 'blocker' || level === 'not-checked'
