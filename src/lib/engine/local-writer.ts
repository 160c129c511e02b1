import { actedOn, type Kind, type KubeObject, resourceOf } from '../kube/object.ts'
import { jsonPatched, mergePatched } from '../kube/patch.ts'
import { applied, differences, owns } from '../kube/server-side-apply.ts'
import type { ApplyOptions, Precondition, Reader, Ref, Writer } from '../kube/cluster.ts'
import { ApiError } from '../kube/errors.ts'

/**
 * A Writer that sends nothing: it answers what the server would make of what is read now, as far as that can be known without it. There
 * is no admission, no validation and no defaulting. Throws ApiError 404, 409 and 422 where the server would.
 */
export function localWriter(reader: Pick<Reader, 'get'>): Writer {
  const live = <T extends KubeObject>(kind: Kind<T>, ref: Ref) => existing(reader, kind, ref)
  return {
    async create(kind, object) {
      const found = await served(reader, kind, object.metadata)
      if (found.is === 'object') throw refusal(alreadyExists, kind, object.metadata, 'already exists')
      return structuredClone(object)
    },
    async mergePatch(kind, ref, change) {
      const before = await live(kind, ref)
      mustBe(before, change.metadata?.resourceVersion ?? undefined, kind)
      return mergePatched(before, change) as typeof before
    },
    async jsonPatch(kind, ref, operations) {
      const before = await live(kind, ref)
      const after = jsonPatched(before, operations)
      if (after === undefined) throw refusal(invalid, kind, ref, 'is not as the patch expects it')
      return after as typeof before
    },
    async apply(kind, object, options = {}) {
      const found = await served(reader, kind, object.metadata)
      if (found.is === 'absent') return structuredClone(object)
      mustBeFree(found.object, object, kind, options)
      return applied(object, found.object)
    },
    async delete(kind, ref, only = {}) {
      mustBeThis(await live(kind, ref), only, kind)
    },
    async subresource(kind, ref) {
      await live(actedOn(kind), ref)
      return {}
    },
  }
}

async function served<T extends KubeObject>(reader: Pick<Reader, 'get'>, kind: Kind<T>, ref: Ref) {
  const found = await reader.get(kind, ref)
  if (found.is === 'unserved') throw refusal(notFound, kind, ref, 'is not served')
  return found
}

async function existing<T extends KubeObject>(
  reader: Pick<Reader, 'get'>,
  kind: Kind<T>,
  ref: Ref,
): Promise<T> {
  const found = await served(reader, kind, ref)
  if (found.is === 'object') return found.object
  throw refusal(notFound, kind, ref, 'not found')
}

function mustBeThis(object: KubeObject, { uid, resourceVersion }: Precondition, kind: Kind): void {
  if (uid !== undefined && uid !== object.metadata.uid)
    throw refusal(conflict, kind, object.metadata, 'is another object of that name now')
  mustBe(object, resourceVersion, kind)
}

function mustBe({ metadata }: KubeObject, expected: string | undefined, kind: Kind): void {
  if (expected === undefined || expected === metadata.resourceVersion) return
  throw refusal(conflict, kind, metadata, 'was changed by someone else meanwhile')
}

function mustBeFree(
  live: KubeObject,
  wanted: KubeObject,
  kind: Kind,
  { force = false, manager = 'kvup' }: ApplyOptions,
): void {
  if (force) return
  const differing = differences(wanted, live)
  const others = (live.metadata.managedFields ?? []).filter((entry) => entry.manager !== manager)
  const owner = others.find((entry) => differing.some((path) => owns(entry, path)))
  if (owner === undefined) return
  throw refusal(conflict, kind, live.metadata, `has fields of ${owner.manager ?? 'somebody else'}`)
}

const notFound = [404, 'NotFound'] as const
const alreadyExists = [409, 'AlreadyExists'] as const
const conflict = [409, 'Conflict'] as const
const invalid = [422, 'Invalid'] as const

function refusal([status, reason]: readonly [number, string], kind: Kind, ref: Ref, what: string): ApiError {
  const object = `${resourceOf(kind)}/${ref.name}${ref.namespace ? ` in namespace ${ref.namespace}` : ''}`
  return new ApiError(status, reason, `${object} ${what}`, { object })
}
