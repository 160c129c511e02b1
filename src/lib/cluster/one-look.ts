import { Answers } from '../system/answers.ts'
import type { Reader, Where } from './cluster.ts'
import type { Kind } from './kind.ts'
import { readerWith } from './reader-with.ts'

/**
 * A Reader for one look: every list is read once, so that all that is judged by it is judged by the same cluster. A single object is read
 * anew each time, for a write that builds on it has to know its present state; so are pages, which nobody keeps.
 */
export function oneLook(live: Reader): Reader {
  const lists = new Answers()
  return readerWith(live, {
    list: (kind, where) => lists.once(questionOf(kind, where), () => live.list(kind, where)),
    versions: (group) => lists.once(`versions of ${group}`, () => live.versions(group)),
    version: () => lists.once('version', () => live.version()),
  })
}

function questionOf(
  { apiVersion, plural, metadataOnly }: Kind,
  { namespace, name, labels, fields }: Where = {},
): string {
  return JSON.stringify([apiVersion, plural, metadataOnly, namespace, name, labels, fields])
}
