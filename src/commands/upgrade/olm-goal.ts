import type { Context } from '../../context.ts'
import type { Reader } from '../../lib/cluster/cluster.ts'
import type { Releases } from '../../lib/releases/releases.ts'
import { usageError } from '../../lib/system/errors.ts'
import type { Seen } from '../../lib/upgrade/make-plan.ts'
import { chooseMethod } from '../../lib/upgrade/method.ts'
import { olmGoal } from '../../lib/upgrade/olm/make-olm-plan.ts'
import { seeOperator } from '../../lib/upgrade/olm/operator-seen.ts'
import type { UpgradeRequest } from '../../lib/upgrade/plan.ts'
import type { UpgradeOptions } from './options.ts'
import { readCatalog } from './read-catalog.ts'

interface Question {
  cx: Context
  options: UpgradeOptions
  request: UpgradeRequest
  releases: Releases
  reader: Reader
}

/**
 * Where OLM is the method: what there is of the operator, and where `--to` leads. Throws `usage` for flags of OLM that would not be looked at, and
 * what `seeOperator` and `olmGoal` throw.
 */
export async function withOlm(
  seen: Seen,
  { cx, options, request, releases, reader }: Question,
): Promise<Seen> {
  const { installation } = seen
  const isOlm = chooseMethod(request.method, installation, request.to) === 'olm'
  if (!isOlm || installation.manager.kind !== 'hyperconverged' || request.follow) {
    refuseUnused(options, request)
    return seen
  }
  const [operator, catalog] = await Promise.all([
    seeOperator(reader),
    readCatalog(cx.world, options.catalogFile),
  ])
  return { ...seen, olm: olmGoal({ request: request.olm, seen: operator, releases, catalog }) }
}

function refuseUnused({ catalogFile, approveAlso }: UpgradeOptions, { method }: UpgradeRequest): void {
  if (method === 'olm' || (catalogFile ?? approveAlso) === undefined) return
  const flag = catalogFile === undefined ? '--approve-also' : '--catalog-file'
  throw usageError('catalog-unused', `${flag} would not be used: no HyperConverged owns KubeVirt here`, {
    remedy: 'leave it out',
  })
}
