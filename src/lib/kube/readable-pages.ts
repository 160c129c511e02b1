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
    const namespaces = await reader.list(Namespaces).catch((why: unknown) => {
      throw isForbidden(why) ? error : why
    })
    for (const { metadata } of namespaces)
      yield* ofNamespace(reader, kind, { ...where, namespace: metadata.name })
  }
}

async function* ofNamespace<T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  where: Where & { namespace: string },
): AsyncGenerator<Allowed<T>> {
  try {
    yield* readAhead(reader.pages(kind, where))
  } catch (error) {
    if (!isForbidden(error)) throw error
    yield { unread: { namespace: where.namespace, what: kind.plural, why: error.message } }
  }
}

const isForbidden = (error: unknown): error is ApiError => error instanceof ApiError && error.status === 403
