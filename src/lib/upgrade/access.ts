import type { Access } from '../cluster/cluster.ts'
import type { UpgradePlan } from './plan.ts'
import { requiredAccess } from './required-access.ts'

/** What this plan needs: cancelling migrations only where that was asked for, and nothing on what somebody else owns. */
export function accessFor({ method, owner, request }: UpgradePlan): {
  required: Access[]
  optional: Access[]
} {
  const all = requiredAccess(request.follow ? 'image-tag' : method, owner.ref.namespace)
  const needed = all.filter(({ access }) => !request.follow || !isOwned(access))
  const cancels = ({ access }: { access: Access }) =>
    request.migrations === 'cancel' &&
    access.resource === 'virtualmachineinstancemigrations' &&
    access.verb === 'delete'
  const required = needed.filter((need) => !need.optional || cancels(need))
  const optional = needed.filter(
    (need) =>
      need.optional &&
      !cancels(need) &&
      need.access.verb !== 'delete' &&
      (request.waitWorkloads || !isLaunchers(need.access)),
  )
  return { required: required.map(({ access }) => access), optional: optional.map(({ access }) => access) }
}

/** Where VMs are not waited for, nobody looks whether one runs twice (night W5). */
const isLaunchers = ({ resource, verb, namespace }: Access) =>
  resource === 'pods' && verb === 'list' && namespace === undefined

const isOwned = ({ resource, verb }: Access) => resource === 'kubevirts' && verb === 'patch'
