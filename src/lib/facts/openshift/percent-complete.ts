import type { ClusterVersion } from '../../cluster/kinds/openshift.ts'
import { condition } from '../../cluster/object.ts'

/**
 * How much of the update that is under way the cluster version operator says is done, 0 to 100: it counts manifests, the last of which take longest. Undefined where it
 * does not say (ocp 3.1: `Working towards 4.19.14: 55 of 901 done (6% complete)`).
 */
export function percentComplete(cv: ClusterVersion): number | undefined {
  const progressing = condition(cv, 'Progressing')
  if (progressing?.status !== 'True') return undefined
  const said = /\((?<percent>\d{1,3})% complete\)/u.exec(progressing.message ?? '')?.groups?.['percent']
  return said === undefined || Number(said) > 100 ? undefined : Number(said)
}
