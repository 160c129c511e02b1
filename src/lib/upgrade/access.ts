import type { Access } from '../cluster/cluster.ts'
import type { UpgradePlan } from './plan.ts'
import { requiredAccess } from './required-access.ts'

/** What this plan needs; cancelling migrations is needed only where it was asked for. */
export function accessFor({ method, owner, request }: UpgradePlan): {
  required: Access[]
  optional: Access[]
} {
  const needed = requiredAccess(request.follow ? 'image-tag' : method, owner.ref.namespace)
  const cancels = ({ access }: { access: Access }) =>
    request.migrations === 'cancel' &&
    access.resource === 'virtualmachineinstancemigrations' &&
    access.verb === 'delete'
  const required = needed.filter((need) => !need.optional || cancels(need))
  const optional = needed.filter((need) => need.optional && !cancels(need) && need.access.verb !== 'delete')
  return { required: required.map(({ access }) => access), optional: optional.map(({ access }) => access) }
}
