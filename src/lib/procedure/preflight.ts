import type { Access, Reviewer } from '../cluster/cluster.ts'
import { forbidden } from '../system/errors.ts'

export interface Rights {
  required: readonly Access[]
  /** What can be done without: events, logs. */
  optional?: readonly Access[]
  /** Of `kvup rbac ROLE`. */
  role: string
}

/**
 * Asks the server, before anything is written, whether we may do all of it. Throws `forbidden` (exit 7) that names every
 * required right that is missing; returns a warning per optional one.
 */
export async function ensureRights(reviewer: Reviewer, rights: Rights): Promise<readonly string[]> {
  const { required, optional = [], role } = rights
  const [missing, wanting] = await Promise.all([refused(reviewer, required), refused(reviewer, optional)])
  if (missing.length === 0) return wanting.map((access) => `not allowed to ${access}: going on without`)
  const who = await reviewer.whoAmI().catch(() => undefined)
  throw forbidden(
    'forbidden',
    `${who ?? 'this user'} may not ${missing.join(', nor ')}. Nothing was changed`,
    {
      remedy: `kvup rbac ${role} | kubectl apply -f -      as somebody who may, then bind it to ${who ?? 'this user'}`,
    },
  )
}

async function refused(reviewer: Reviewer, accesses: readonly Access[]): Promise<string[]> {
  const answers = await Promise.all(accesses.map((access) => reviewer.can(access)))
  return accesses.filter((_, index) => answers[index]?.allowed === false).map(inWords)
}

/** `patch kubevirts.kubevirt.io in namespace kubevirt` */
function inWords({ verb, group, resource, subresource, namespace, name }: Access): string {
  const kind = `${resource}${group === '' ? '' : `.${group}`}${subresource ? `/${subresource}` : ''}`
  return `${verb} ${kind}${name ? ` "${name}"` : ''}${namespace ? ` in namespace ${namespace}` : ''}`
}
