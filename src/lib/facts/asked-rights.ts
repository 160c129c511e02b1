import type { Access, Reviewer } from '../cluster/cluster.ts'
import { type Known, known } from './known.ts'

/** One question to RBAC; an optional right can be done without. */
export interface AskedRight {
  access: Access
  optional: boolean
}

export interface AnsweredRight {
  /** `patch kubevirts.kubevirt.io in namespace kubevirt` */
  what: string
  allowed: boolean
  optional: boolean
}

/** One SelfSubjectAccessReview per question. */
export async function answeredRights(
  reviewer: Pick<Reviewer, 'can'> | undefined,
  asked: readonly AskedRight[] | undefined,
): Promise<Known<AnsweredRight>> {
  if (asked === undefined) return { known: false, why: 'not asked for' }
  if (reviewer === undefined)
    return { known: false, why: 'a saved cluster cannot be asked what this user may do' }
  return known(
    Promise.all(
      asked.map(async ({ access, optional }) => {
        const { allowed } = await reviewer.can(access)
        return { what: inWords(access), allowed, optional }
      }),
    ),
  )
}

function inWords({ verb, group, resource, subresource, namespace, name }: Access): string {
  const kind = `${resource}${group === '' ? '' : `.${group}`}${subresource ? `/${subresource}` : ''}`
  return `${verb} ${kind}${name ? ` "${name}"` : ''}${namespace ? ` in namespace ${namespace}` : ''}`
}
