import { NotSavedError } from './saved/saved-cluster.ts'
import { ApiError, unlessAbsent } from './errors.ts'
import type { Reader, Where } from './cluster.ts'
import type { Kind, KubeObject } from './object.ts'

/** A part of a snapshot: what was found, or why it is not known. Nothing is ever assumed about an unknown part. */
export type Known<T> = { known: true; items: readonly T[] } | { known: false; why: string }

export const notAsked: Known<never> = { known: false, why: 'not asked for' }

/** The items, or none where the part is not known. Only for questions to which "not known" and "none" mean the same. */
export const itemsOf = <T>(part: Known<T>): readonly T[] => (part.known ? part.items : [])

/**
 * Turns "you may not" (403), "no such kind" (404) and "a saved cluster does not hold it" into an unknown part; every other
 * failure is thrown on.
 */
export async function known<T>(work: Promise<readonly T[]>): Promise<Known<T>> {
  try {
    return { known: true, items: await work }
  } catch (error) {
    const why = whyUnknown(error)
    if (why === undefined) throw error
    return { known: false, why }
  }
}

/** The same part without the items that do not fit. */
export function onlyKnown<T>(part: Known<T>, fits: (item: T) => boolean): Known<T> {
  return part.known ? { known: true, items: part.items.filter(fits) } : part
}

/** The wanted parts, read at one time, by name; the others are not in it. Throws every other ApiError, as `known` does. */
export async function readParts<P extends string>(
  wants: Iterable<string>,
  readers: { readonly [N in P]: () => Promise<readonly unknown[]> },
): Promise<{ [N in P]?: Known<never> }> {
  const wanted = new Set(wants)
  const names = (Object.keys(readers) as P[]).filter((name) => wanted.has(name))
  const found = await Promise.all(names.map(async (name) => [name, await known(readers[name]())] as const))
  return Object.fromEntries(found) as { [N in P]?: Known<never> }
}

/** Why a part is unknown; undefined for a failure that is one. */
export function whyUnknown(error: unknown): string | undefined {
  const unread = error instanceof ApiError && (error.status === 403 || error.status === 404)
  return unread || error instanceof NotSavedError ? error.message : undefined
}

/** Everything of a kind; none where the cluster does not know the kind at all. Throws ApiError. */
export const listServed = <T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  where?: Where,
): Promise<T[]> => unlessAbsent(reader.list(kind, where), [])

type Empty = undefined | null
type Filled<T> = { [K in keyof T as Extract<T[K], Empty> extends never ? K : never]: T[K] } & {
  [K in keyof T as Extract<T[K], Empty> extends never ? never : K]?: Exclude<T[K], Empty>
}

/** The same without members that are undefined, null or an empty text. */
export function filled<T extends object>(members: T): Filled<T> {
  const kept = Object.entries(members).filter(([, value]) => (value ?? '') !== '')
  return Object.fromEntries(kept) as Filled<T>
}
