import type { EusPlan } from '../../lib/eus/eus-plan.ts'
import { windowIn } from '../../lib/eus/plan/window-in.ts'
import { blocked } from '../../lib/system/errors.ts'
import type { SeenWindow } from './see-window.ts'

/**
 * A journal that was deleted half-way took the kept values with it: nothing is guessed. Throws `blocked` with what the cluster itself still shows, and
 * with the commands that a person decides about.
 */
export function ensureDeducible({ loans, planned: { plan } }: SeenWindow): void {
  const arePaused = plan.pools.some(({ paused }) => paused)
  if (loans.length > 0 || !(arePaused || isEmptied(plan))) return
  const what = arePaused ? pausedText(plan) : 'workload update methods were emptied by kvup'
  const otherwise = arePaused ? 'somebody else paused them' : 'somebody had kvup set them so'
  throw blocked(
    'window-not-in-journal',
    `${what}, and the journal knows of no window: it was deleted, or ${otherwise}`,
    { notes: deductions(plan), remedy: waysOut(plan) },
  )
}

/** The hold is the first that a window borrows: without its loan nothing else tells of it. */
const isEmptied = ({ findings }: EusPlan): boolean =>
  findings.some(({ id, level }) => id === 'methods-empty-without-loan' && level === 'blocker')

const waysOut = (plan: EusPlan): readonly string[] => [
  ...plan.pools
    .filter(({ paused }) => paused)
    .map(
      ({ name }) =>
        `oc patch machineconfigpool ${name} --type=merge -p '{"spec":{"paused":false}}'     its nodes follow the platform then`,
    ),
  'kvup workloads strategy set --methods LiveMigrate     where the methods are empty and should not be',
  `kvup eus run ${acceptingAll(plan)}     goes on; what is so now stays so at the end`,
]

function acceptingAll(plan: EusPlan): string {
  const ids = [
    ...(plan.pools.some(({ paused }) => paused) ? ['pool-paused-already'] : []),
    ...(isEmptied(plan) ? ['methods-empty-without-loan'] : []),
  ]
  return ids.map((id) => `--accept ${id}`).join(' ')
}

/** The same for who goes on: where the window was brought to its end pools are paused by others. */
export async function ensureNotForgotten(seen: SeenWindow): Promise<void> {
  const entries = await seen.hands.journal.entries()
  const isOver = entries.some(({ what, procedure }) => what === 'finished' && procedure === seen.window.name)
  if (!isOver && isForgotten(seen)) ensureDeducible(seen)
}

/** Pools that are paused while the control plane stands where they are may be anybody's; behind it they are a window. */
const isForgotten = ({ planned: { evidence } }: SeenWindow): boolean => windowIn(evidence)?.by === 'pools'

/** For who only looks: a window is open by what the cluster shows, and the journal knows of none. */
export function forgotten(
  seen: SeenWindow,
): { unknown: readonly string[]; next: readonly string[] } | undefined {
  if (!isForgotten(seen)) return undefined
  const { plan } = seen.planned
  const unknown = [
    `what is borrowed: ${pausedText(plan)}, and the journal knows of no window`,
    ...deductions(plan),
  ]
  return { unknown, next: waysOut(plan) }
}

function pausedText({ pools }: EusPlan): string {
  const names = pools.filter(({ paused }) => paused).map(({ name }) => name)
  return `${names.length === 1 ? 'pool' : 'pools'} ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} paused`
}

function methodsText({ methods, methodsUnknown }: EusPlan): string {
  if (methodsUnknown) return 'workload update methods could not be read'
  return methods.length === 0
    ? 'workload update methods are empty: what they were is not known'
    : `workload update methods are ${methods.join(', ')}`
}

function deductions(plan: EusPlan): readonly string[] {
  const { began, from, healthChecks } = plan
  const checks = healthChecks.filter(({ paused }) => paused)
  return [
    `by the kubelets of the paused pools it began at ${began}; the platform is at ${from}`,
    methodsText(plan),
    ...checks.map(({ kind, name }) => `${kind} ${name} is paused`),
  ]
}
