import type { Access } from '../../../lib/cluster/cluster.ts'
import type { Work } from '../../../lib/run/carry-out.ts'
import { accessOf } from '../../../lib/upgrade/required-access.ts'
import type { SeenWindow } from '../see-window.ts'

/** What this window needs before its first write: health checks only where there are some. */
export function windowRights({
  installation,
  planned: { plan },
}: Pick<SeenWindow, 'installation' | 'planned'>): Work['rights'] {
  const kinds = new Set(plan.healthChecks.map(({ kind }) => `${kind.toLowerCase()}s`))
  const isNeeded = ({ resource, verb }: Access) => kinds.has(resource) && verb !== 'watch'
  const all = accessOf('kvup-eus', installation.namespace)
  return {
    required: all.filter(({ access, optional }) => !optional || isNeeded(access)).map(({ access }) => access),
    optional: [],
    role: 'kvup-eus',
  }
}
