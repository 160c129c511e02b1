import type { Access, Reader, Reviewer, Writer } from '../cluster/cluster.ts'
import { groupOf, type Kind } from '../cluster/kind.ts'
import { ApiError, KvupError } from '../system/errors.ts'
import { localWriter } from './local-writer.ts'

/** Who works out what a change would lead to. `auto`: the server, where it can be asked, else kvup. */
export type RehearsalMode = 'client' | 'server' | 'auto'

/** One write, and the rights that it needs. */
export interface Asked {
  kind: Kind
  ref: { name: string; namespace?: string | undefined }
  verbs: readonly string[]
  subresource?: string
}

/** Makes a write that nobody keeps, and tells who worked the answer out. */
export type Rehearsing = <R>(
  asked: Asked,
  write: (writer: Writer) => Promise<R>,
) => Promise<{ answer: R; by: 'server' | 'client' }>

/** `reader` is what the step sees: with the changes that it made in this rehearsal. */
export function rehearsing(mode: RehearsalMode, reviewer: Reviewer, reader: Reader): Rehearsing {
  const local = localWriter(reader)
  const byClient: Rehearsing = async (_, write) => ({ answer: await write(local), by: 'client' })
  const byServer: Rehearsing = async (_, write) => ({
    answer: await write(reviewer.rehearsal),
    by: 'server',
  })
  if (mode === 'client') return byClient
  if (mode === 'server') return byServer
  return async (asked, write) => {
    try {
      return await byServer(asked, write)
    } catch (error) {
      if (!(await cannotBeAsked(error, asked, reviewer))) throw error
      return byClient(asked, write)
    }
  }
}

/** The server answered nothing about the change itself: no right to try it, or no dry run of such a thing. */
async function cannotBeAsked(error: unknown, asked: Asked, reviewer: Reviewer): Promise<boolean> {
  if (!(error instanceof ApiError))
    return error instanceof KvupError && error.reason === 'rehearsal-impossible'
  const { status, message } = error
  if (status === 405) return true
  if (status === 400) return /not support dry[ -]?run/iu.test(message)
  return status === 403 && isOurs(asked, reviewer)
}

/** RBAC says no to us. A quota's or a policy's 403 is a refusal of the change. */
async function isOurs({ kind, ref, verbs, subresource }: Asked, reviewer: Reviewer): Promise<boolean> {
  const access: Omit<Access, 'verb'> = {
    group: groupOf(kind),
    resource: kind.plural,
    name: ref.name,
    ...(kind.namespaced && ref.namespace !== undefined && { namespace: ref.namespace }),
    ...(subresource !== undefined && { subresource }),
  }
  try {
    const answers = await Promise.all(verbs.map((verb) => reviewer.can({ verb, ...access })))
    return answers.some(({ allowed }) => !allowed)
  } catch (failure) {
    if (failure instanceof KvupError) return false
    throw failure
  }
}
