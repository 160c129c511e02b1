import { roleRemedy } from '../../../system/role-remedy.ts'

/** What helps where something could not be read: a right, or, of a saved cluster, which no right would complete, a better one. */
export function unreadRemedy(why: string): string {
  return / does not hold /u.test(why)
    ? 'kvup snapshot --to-file cluster.ndjson.gz      saves all that is judged'
    : roleRemedy('kvup-view')
}
