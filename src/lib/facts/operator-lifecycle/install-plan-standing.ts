import type { InstallPlan, Subscription } from '../../cluster/kinds/operator-lifecycle.ts'

/** Where an InstallPlan stands (ocp 2.2). */
export interface InstallPlanStanding {
  name: string
  namespace: string
  phase: string
  /** `preparing`: an approval now would make a second plan (ocp 9.13). `done`: what it holds was written, and no more. */
  state: 'preparing' | 'needs-approval' | 'approved' | 'installing' | 'done' | 'failed'
  approved: boolean
  /** All that it installs, each once: of every Subscription in the namespace (ocp 9.12). */
  csvs: readonly string[]
  /** The Subscription that was given refers to it. */
  referenced: boolean
  message: string
  /** RFC 3339. */
  startedAt?: string
}

const states: Readonly<Record<string, InstallPlanStanding['state']>> = {
  Installing: 'installing',
  Complete: 'done',
  Failed: 'failed',
}

/** Pure. */
export function installPlanStanding(plan: InstallPlan, subscription?: Subscription): InstallPlanStanding {
  const { metadata, spec = {}, status = {} } = plan
  const { phase = '', message = '', startTime } = status
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    phase,
    state: stateOf(plan),
    approved: spec.approved === true,
    csvs: [...new Set(spec.clusterServiceVersionNames)],
    referenced: subscription !== undefined && refersTo(subscription, plan),
    message,
    ...(startTime && { startedAt: startTime }),
  }
}

function stateOf({ spec, status }: InstallPlan): InstallPlanStanding['state'] {
  const { phase = '' } = status ?? {}
  if (phase === 'RequiresApproval') return spec?.approved === true ? 'approved' : 'needs-approval'
  return states[phase] ?? 'preparing'
}

function refersTo({ status, metadata }: Subscription, plan: InstallPlan): boolean {
  const { name, namespace = metadata.namespace, uid } = status?.installPlanRef ?? {}
  const isSame = name === plan.metadata.name && namespace === plan.metadata.namespace
  return isSame && (uid === undefined || plan.metadata.uid === undefined || uid === plan.metadata.uid)
}
