import type { Access } from '../cluster/cluster.ts'
import { groupOf } from '../cluster/kind.ts'
import type { ObjectChange } from './changes.ts'
import { kindOf } from './kinds.ts'

/** The rights that applying exactly these changes takes; what is the same already needs none. */
export function applyAccess(changes: readonly ObjectChange[]): Access[] {
  return changes.filter(({ is }) => is !== 'same').flatMap(accessTo)
}

function accessTo({ wanted, is, rights }: ObjectChange): Access[] {
  const kind = kindOf(wanted)
  const { name, namespace } = wanted.metadata
  const access = {
    group: groupOf(kind),
    resource: kind.plural,
    ...(namespace !== undefined && { namespace }),
  }
  // A role may only gain what whoever applies it holds, or with escalate.
  const escalates = (rights?.gained.length ?? 0) > 0
  return [
    { ...access, verb: 'patch', name },
    ...(is === 'created' ? [{ ...access, verb: 'create' }] : []),
    ...(escalates ? [{ ...access, verb: 'escalate', name }] : []),
  ]
}
