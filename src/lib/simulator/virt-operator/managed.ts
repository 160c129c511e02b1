import { isDeepStrictEqual } from 'node:util'
import type { Kind } from '../../cluster/kind.ts'
import type { KubeObject, Metadata } from '../../cluster/object.ts'
import { ApiError } from '../../system/errors.ts'
import { DeploymentFailure, type OperatorContext, type Pass } from './operator-context.ts'
import { bearsStamps, stamped } from './stamp.ts'

/** An object that the operator keeps as its install strategy has it. */
export interface Managed {
  readonly kind: Kind
  readonly object: KubeObject
}

/** One of them; `parts` is everything but what all objects have. */
export function managed(kind: Kind, metadata: Metadata, parts: object = {}): Managed {
  return { kind, object: { apiVersion: kind.apiVersion, kind: kind.kind, metadata, ...parts } }
}

/** Creates it, or writes it again where its stamps are of another deployment or generation of the CR, or somebody edited it. */
export async function ensure(cx: OperatorContext, pass: Pass, { kind, object }: Managed): Promise<boolean> {
  const wanted = stamped(object, pass.config, pass.generation)
  const found = await cx.reader.find(kind, object.metadata)
  if (found.is === 'unserved') return false
  const what = `${kind.kind} ${object.metadata.name}`
  if (found.is === 'absent') {
    await written(`create ${what}`, cx.writer.create(kind, wanted))
    return true
  }
  if (bearsStamps(found.object, pass.config, pass.generation) && contains(found.object, object)) return false
  await written(`patch ${what}`, cx.writer.mergePatch(kind, object.metadata, changed(found.object, wanted)))
  return true
}

/** What the API server refuses, it reports as a failure of the deployment; what others wrote meanwhile it looks at again. */
async function written(what: string, writing: Promise<unknown>): Promise<void> {
  try {
    await writing
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 404 || error.status === 409) throw error
    throw new DeploymentFailure(`unable to ${what}: ${error.message}`)
  }
}

/** The parts that differ: an edit of the CR alone changes annotations and nothing else. */
function changed(before: KubeObject, wanted: KubeObject): Record<string, unknown> {
  const { apiVersion: _, kind: _kind, metadata, ...parts } = wanted
  const old = before as unknown as Record<string, unknown>
  const different = Object.entries(parts).filter(([key, value]) => !contains(old[key], value))
  return {
    metadata: { labels: metadata.labels, annotations: metadata.annotations },
    ...Object.fromEntries(different),
  }
}

/** True when `whole` has everything that `part` says; what a server adds by default is no difference. */
export function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) {
    return (
      Array.isArray(whole) &&
      whole.length === part.length &&
      part.every((item, i) => contains(whole[i], item))
    )
  }
  if (typeof part !== 'object' || part === null) return isDeepStrictEqual(whole, part)
  if (typeof whole !== 'object' || whole === null) return false
  const there = whole as Record<string, unknown>
  return Object.entries(part).every(([key, value]) => contains(there[key], value))
}
