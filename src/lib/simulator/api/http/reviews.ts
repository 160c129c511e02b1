import type { Access } from '../../../cluster/cluster.ts'
import { decide, rulesFor } from '../authorization.ts'
import { at, type Json, text } from '../json.ts'
import type { Caller } from '../request.ts'
import type { Store } from '../store.ts'

type Review = (store: Store, caller: Caller, body: Json) => Json

/** Kinds that are questions: nothing is stored. */
export const reviews: Readonly<Record<string, Review>> = {
  selfsubjectaccessreviews: (store, caller, body) => {
    const { allowed, reason } = decide(store, caller, accessOf(at(body, 'spec', 'resourceAttributes')))
    return { ...body, status: { allowed, ...(reason !== '' && { reason }) } }
  },
  selfsubjectrulesreviews: (store, caller, body) => ({
    ...body,
    status: {
      resourceRules: ruleList(store, caller, text(body, 'spec', 'namespace')),
      nonResourceRules: [],
      incomplete: false,
    },
  }),
  selfsubjectreviews: (_store, { user, groups }, body) => ({
    ...body,
    metadata: { creationTimestamp: null },
    status: { userInfo: { username: user, groups } },
  }),
}

function accessOf(attributes: unknown): Access {
  const optional = (name: string) => {
    const value = text(attributes, name)
    return value === undefined || value === '' ? {} : { [name]: value }
  }
  return {
    verb: text(attributes, 'verb') ?? '',
    group: text(attributes, 'group') ?? '',
    resource: text(attributes, 'resource') ?? '',
    ...optional('subresource'),
    ...optional('namespace'),
    ...optional('name'),
  }
}

function ruleList(store: Store, caller: Caller, namespace: string | undefined): unknown[] {
  if (caller.groups.includes('system:masters')) return [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]
  return rulesFor(store, caller, namespace).flatMap(({ rules }) => rules)
}
