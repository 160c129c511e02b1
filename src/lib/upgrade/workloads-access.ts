import type { Access } from '../cluster/cluster.ts'
import { groupOf, type Kind } from '../cluster/kind.ts'
import { accessOf } from './required-access.ts'

/** A verb on a kind that a command of `kvup workloads` or `kvup rollout` uses besides the journal and the lock. */
export interface Used {
  kind: Pick<Kind, 'apiVersion' | 'plural'>
  verb: string
  subresource?: string
}

type WorkloadsRole = 'kvup-workloads' | 'kvup-settings'

/** What such a command needs before its first write: the rows of its role that nobody can do without, and those that it uses. The role is the lesser one that has them. */
export function workloadsAccess(
  namespace: string,
  uses: readonly Used[],
): { required: Access[]; optional: Access[]; role: WorkloadsRole } {
  const role = uses.some(isSetting) ? 'kvup-settings' : 'kvup-workloads'
  const needed = accessOf(role, namespace).filter(
    ({ access, optional }) => !optional || uses.some((used) => isFor(access, used)),
  )
  return { required: needed.map(({ access }) => access), optional: [], role }
}

/** Who writes how VMs follow could write anything else of that object. */
const isSetting = ({ kind, verb }: Used): boolean =>
  verb === 'patch' && (kind.plural === 'kubevirts' || kind.plural === 'hyperconvergeds')

function isFor({ verb, group, resource, subresource }: Access, used: Used): boolean {
  const { kind } = used
  const same = group === groupOf(kind) && resource === kind.plural && subresource === used.subresource
  return same && verb === used.verb
}
