import type { Condition } from '../../cluster/object.ts'

/** What the operator says of the installation: the rows of facts 1.5. */
export interface Situation {
  is: 'deploying' | 'updating' | 'ready' | 'failed'
  message: string
}

const reasons = {
  deploying: 'DeploymentInProgress',
  updating: 'UpdateInProgress',
  ready: 'AllComponentsReady',
  failed: 'DeploymentFailed',
} as const

const words = {
  deploying: { Available: 'False', Progressing: 'True', Degraded: 'False' },
  updating: { Available: 'True', Progressing: 'True', Degraded: 'True' },
  ready: { Available: 'True', Progressing: 'False', Degraded: 'False' },
  failed: { Available: 'False', Progressing: 'False', Degraded: 'True' },
} as const

const created = {
  type: 'Created',
  status: 'True',
  reason: 'AllResourcesCreated',
  message: 'All resources were created.',
} as const

/** The conditions of the CR in a situation. `synced` adds Created. */
export function conditionsIn(
  situation: Situation,
  before: readonly Condition[],
  { now, synced }: { now: string; synced: boolean },
): Condition[] {
  const { is, message } = situation
  const common = { reason: reasons[is], message }
  const mainly = (type: 'Available' | 'Progressing' | 'Degraded'): Condition => ({
    type,
    status: words[is][type],
    ...common,
  })
  const three = [mainly('Available'), mainly('Progressing'), mainly('Degraded')]
  const synchronized: Condition[] =
    is === 'failed' ? [{ type: 'Synchronized', status: 'False', ...common }] : []
  const kept = is === 'updating' ? [] : before.filter((c) => c.type === 'Created')
  const wanted = [...three, ...(synced ? [created] : kept), ...synchronized]
  return wanted.map((next) => timed(next, before, now))
}

function timed(next: Condition, before: readonly Condition[], now: string): Condition {
  const last = before.find((c) => c.type === next.type)
  if (last?.status === next.status && last.reason === next.reason && last.message === next.message)
    return last
  return { ...next, lastProbeTime: now, lastTransitionTime: now }
}
