import type { FleetCheckRow, FleetCheckState } from '../../fleet/fleet-checks.ts'
import type { FleetPlanDocument } from '../../fleet/fleet-plan.ts'
import type { FleetRow, FleetState } from '../../fleet/fleet-rows.ts'
import { counted } from '../../kube/text.ts'
import type { Paint, Tone } from '../printer.ts'
import type { FleetCheckDocument } from './fleet-check.ts'

/** What a state is called, and how bad it is; the worst first. */
export const stateWords: Readonly<Record<FleetState, readonly [word: string, tone: Tone]>> = {
  Unreachable: ['unreachable', 'bad'],
  Failed: ['failed', 'bad'],
  Forbidden: ['not readable', 'bad'],
  Degraded: ['degraded', 'bad'],
  Stalled: ['stalled', 'bad'],
  OutOfStep: ['out of step', 'bad'],
  CanaryFailed: ['canary failed', 'bad'],
  MigrationsFailing: ['migrations failing', 'bad'],
  NotInstalled: ['not installed', 'warn'],
  NoCluster: ['no cluster', 'warn'],
  Interrupted: ['interrupted', 'warn'],
  Waiting: ['waiting', 'warn'],
  Updating: ['updating', 'strong'],
  Running: ['running', 'strong'],
  NotChecked: ['partly checked', 'warn'],
  Healthy: ['healthy', 'good'],
}

/** How bad what is true of a cluster is. */
export const toneOf = (state: FleetState): Tone => stateWords[state]?.[1] ?? 'warn'

/** `23 clusters: 1 unreachable, 22 healthy`, the worst first. */
export const fleetText = (rows: readonly Pick<FleetRow, 'state'>[]): string =>
  statesText(rows, stateWords, '')

function statesText(
  rows: readonly { state: string }[],
  words: Readonly<Record<string, readonly [word: string, ...more: unknown[]]>>,
  asked: string,
): string {
  const counts = Object.entries(words).flatMap(([state, [word]]) => {
    const many = rows.filter((row) => row.state === state).length
    return many === 0 ? [] : [`${many} ${word}`]
  })
  return `${counted(rows.length, 'cluster')}${asked}: ${counts.join(', ')}`
}

/** The same of a check, with its mark. */
export const checkWords: Readonly<
  Record<FleetCheckState, readonly [word: string, tone: Tone, mark: keyof Paint['mark']]>
> = {
  Unreachable: ['unreachable', 'bad', 'failed'],
  Failed: ['failed', 'bad', 'failed'],
  Forbidden: ['not readable', 'bad', 'failed'],
  NotInstalled: ['not installed', 'warn', 'warning'],
  Blocked: ['blocked', 'bad', 'failed'],
  Passed: ['passed', 'good', 'done'],
}

/** Whether any is not passed, and how bad that is. */
export const worstTone = (items: readonly Pick<FleetCheckRow, 'state'>[]): Tone => {
  const tones = new Set(items.map(({ state }) => checkWords[state][1]))
  return tones.has('bad') ? 'bad' : tones.has('warn') ? 'warn' : 'good'
}

/** `23 clusters: 1 unreachable, 2 blocked, 20 passed`. */
export const fleetCheckText = ({ items, to }: Pick<FleetCheckDocument, 'items' | 'to'>): string =>
  statesText(items, checkWords, to === undefined ? '' : ` for an upgrade to ${to}`)

/** Every cluster can be upgraded so. */
export const isWhole = ({ clusters }: Pick<FleetPlanDocument, 'clusters'>): boolean =>
  clusters.every(({ plan, error }) => plan !== undefined && error === undefined)

/** `KubeVirt to v1.8.4 on 3 clusters in 2 groups` */
export const fleetPlanText = ({ to, clusters }: Pick<FleetPlanDocument, 'to' | 'clusters'>): string =>
  `KubeVirt to ${to} on ${counted(clusters.length, 'cluster')} in ${counted(new Set(clusters.map(({ group }) => group)).size, 'group')}`

/** `canary`, or the number of the group. */
export const groupName = (group: number | undefined): string =>
  group === undefined ? '-' : group === 0 ? 'canary' : String(group)
