import type { Page, Reader, Where } from './cluster.ts'
import type { Kind, KubeObject } from './object.ts'
import { Namespaces } from './kinds/core-kinds.ts'
import { readAhead } from './read-cache.ts'
import { ApiError } from './errors.ts'

/** A namespace that may not be read. */
export interface Unread {
  namespace: string
  /** Plural of the kind. */
  what: string
  why: string
}

/** Of one namespace, or of the whole cluster. */
export type UnreadPart = Omit<Unread, 'namespace'> & Partial<Pick<Unread, 'namespace'>>

/** A page of what may be read, or a namespace that may not. */
type Allowed<T> = Page<T> | { unread: Unread }

/**
 * All pages; where all namespaces together may not be listed, those of each that may. Throws the refusal where neither that nor the
 * names of the namespaces may be read.
 */
export async function* pagesAllowed<T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  where: Where,
): AsyncGenerator<Allowed<T>> {
  let begun = false
  try {
    for await (const page of readAhead(reader.pages(kind, where))) {
      begun = true
      yield page
    }
    return
  } catch (error) {
    if (!isForbidden(error) || begun || where.namespace !== undefined) throw error
    const namespaces = await namesOrUndefined(reader)
    if (namespaces === undefined) throw error
    yield* oneByOne(reader, kind, { where, namespaces })
  }
}

async function* oneByOne<T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  { where, namespaces }: { where: Where; namespaces: readonly string[] },
): AsyncGenerator<Allowed<T>> {
  for (const namespace of namespaces)
    try {
      yield* readAhead(reader.pages(kind, { ...where, namespace }))
    } catch (error) {
      if (!isForbidden(error)) throw error
      yield { unread: { namespace, what: kind.plural, why: error.message } }
    }
}

const isForbidden = (error: unknown): error is ApiError => error instanceof ApiError && error.status === 403

async function namesOrUndefined(reader: Reader): Promise<readonly string[] | undefined> {
  try {
    return (await reader.list(Namespaces)).map(({ metadata }) => metadata.name)
  } catch (error) {
    if (!isForbidden(error)) throw error
    return undefined
  }
}
