import type { Access } from '../cluster/cluster.ts'
import { InstanceReplicaSets } from '../cluster/kinds/virtual-machines.ts'
import type { UpgradePath } from './path/upgrade-path.ts'
import { censusNames } from '../workloads/kept-census.ts'
import type { UpgradePlan } from './plan.ts'
import { requiredAccess } from './required-access.ts'

/** What this plan needs: cancelling migrations only where that was asked for, and nothing on what somebody else owns. */
export function accessFor(
  { method, owner, request }: UpgradePlan,
  path?: UpgradePath,
): {
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
      !isOfCensus(need.access) &&
      (request.waitWorkloads || isWaitedFor(path) || !isLaunchers(need.access)),
  )
  return { required: required.map(({ access }) => access), optional: optional.map(({ access }) => access) }
}

/** VMs are waited for between the steps of an upgrade path. */
const isWaitedFor = (path: UpgradePath | undefined): boolean =>
  path !== undefined && path.steps.length > 1 && path.between === 'wait'

/** Whoever takes the census asks, and says what comes of a no. */
const isOfCensus = ({ resource, name = '' }: Access) =>
  resource === 'configmaps' ? censusNames.includes(name) : resource === InstanceReplicaSets.plural

/** Where VMs are not waited for, nobody looks whether one runs twice (night W5). */
const isLaunchers = ({ resource, verb, namespace }: Access) =>
  resource === 'pods' && verb === 'list' && namespace === undefined

const isOwned = ({ resource, verb }: Access) => resource === 'kubevirts' && verb === 'patch'
