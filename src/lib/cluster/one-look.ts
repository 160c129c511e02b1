import { Answers } from '../system/answers.ts'
import type { Reader, Where } from './cluster.ts'
import type { Kind } from './kind.ts'

/**
 * A Reader for one look: every list is read once, so that all that is judged by it is judged by the same cluster. A single object is read
 * anew each time, for a write that builds on it has to know its present state; so are pages, which nobody keeps.
 */
export function oneLook(live: Reader): Reader {
  const lists = new Answers()
  return {
    find: (kind, ref) => live.find(kind, ref),
    list: (kind, where) => lists.once(questionOf(kind, where), () => live.list(kind, where)),
    pages: (kind, where) => live.pages(kind, where),
    follow: (kind, where, signal) => live.follow(kind, where, signal),
    versions: (group) => lists.once(`versions of ${group}`, () => live.versions(group)),
    version: () => lists.once('version', () => live.version()),
    log: (pod, options) => live.log(pod, options),
    ...(live.askService && { askService: live.askService.bind(live) }),
  }
}

function questionOf({ apiVersion, plural }: Kind, { namespace, name, labels, fields }: Where = {}): string {
  return JSON.stringify([apiVersion, plural, namespace, name, labels, fields])
}
