import type { EusPlan } from '../../lib/eus/eus-plan.ts'
import { blocked } from '../../lib/system/errors.ts'
import type { SeenWindow } from './see-window.ts'

/**
 * A journal that was deleted half-way took the kept values with it: nothing is guessed. Throws `blocked` with what the cluster itself still shows, and
 * with the commands that a person decides about.
 */
export function ensureDeducible({ loans, planned: { plan } }: SeenWindow): void {
  const paused = plan.pools.filter((pool) => pool.paused)
  if (loans.length > 0 || paused.length === 0) return
  const names = paused.map(({ name }) => name).join(', ')
  throw blocked(
    'window-not-in-journal',
    `pools ${names} are paused, and the journal knows of no window: it was deleted, or somebody else paused them`,
    {
      notes: deductions(plan),
      remedy: [
        ...paused.map(
          ({ name }) =>
            `oc patch machineconfigpool ${name} --type=merge -p '{"spec":{"paused":false}}'     its nodes follow the platform then`,
        ),
        'kvup workloads strategy set --methods LiveMigrate     where the methods are empty and should not be',
        'kvup eus run --accept pool-paused-already     goes on; the pools stay paused at the end',
      ],
    },
  )
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
