import type { Access } from '../cluster/cluster.ts'
import { groupOf, type Kind } from '../cluster/kind.ts'
import { accessOf } from './required-access.ts'

/** A verb on a kind that a command of `kvup workloads` or `kvup rollout` uses besides the journal and the lock. */
export interface Used {
  kind: Pick<Kind, 'apiVersion' | 'plural'>
  verb: string
  subresource?: string
}

/** What such a command needs before its first write: the rows of its role that nobody can do without, and those that it uses. */
export function workloadsAccess(
  namespace: string,
  uses: readonly Used[],
): { required: Access[]; optional: Access[]; role: 'kvup-workloads' } {
  const needed = accessOf('kvup-workloads', namespace).filter(
    ({ access, optional }) => !optional || uses.some((used) => isFor(access, used)),
  )
  return { required: needed.map(({ access }) => access), optional: [], role: 'kvup-workloads' }
}

function isFor({ verb, group, resource, subresource }: Access, used: Used): boolean {
  const { kind } = used
  const same = group === groupOf(kind) && resource === kind.plural && subresource === used.subresource
  return same && verb === used.verb
}
