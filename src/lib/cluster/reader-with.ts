import type { Reader } from './cluster.ts'

/** A reader that answers some questions itself and passes the others on to `live`. */
export const readerWith = (live: Reader, own: Partial<Reader>): Reader => ({
  find: (kind, ref) => live.find(kind, ref),
  list: (kind, where) => live.list(kind, where),
  pages: (kind, where) => live.pages(kind, where),
  follow: (kind, where, signal) => live.follow(kind, where, signal),
  versions: (group) => live.versions(group),
  version: () => live.version(),
  log: (pod, options) => live.log(pod, options),
  ...(live.askService && { askService: live.askService.bind(live) }),
  ...own,
})
