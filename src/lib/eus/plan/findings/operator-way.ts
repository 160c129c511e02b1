import type { Finding } from '../../../checks/finding.ts'
import { versionOfCsv } from '../../../releases/operator-version.ts'
import type { Judged } from '../judged.ts'
import type { OperatorWay } from '../operator-way.ts'

/** What is known of the operator's way, where the platform is to go on to another minor (ocp 9.15): an operator without an edge is stranded behind it. */
export function operatorWayFindings({ operatorWay, hops, sight }: Judged): readonly Finding[] {
  const open = operatorWay?.open
  const leaves = hops.some(({ minor, platform }) => !platform.done && minor !== sight.here)
  if (open === undefined || !leaves) return []
  return [open.is === 'none' ? stranded(open) : unknown(open)]
}

const releaseOf = (csv: string): string => versionOfCsv(csv)?.text ?? csv

type Open = NonNullable<OperatorWay['open']>

const stranded = ({ from, minor }: Open): Finding => ({
  id: 'operator-stranded',
  level: 'blocker',
  summary: `no edge of the catalog leads from the operator ${releaseOf(from)} to a release of ${minor}: it could not follow the platform there`,
  objects: [`csv/${from}`],
  remedy: [
    'kvup eus plan --catalog-file FILE      with a later catalog of the minor at the end',
    'kvup upgrade --method olm      says which other releases of this minor there are',
  ],
})

const unknown = ({ from, minor }: Open): Finding => ({
  id: 'operator-way-unknown',
  level: 'not-checked',
  summary: `whether the operator ${releaseOf(from)} leads on to a release of ${minor}: the cluster shows releases of its catalog, and no edges between them`,
  objects: [`csv/${from}`],
  remedy: [
    'opm render CATALOG-IMAGE -o yaml > catalog.yaml      of the catalog that the Subscription names, of the minor at the end',
    'kvup eus plan --catalog-file catalog.yaml      knows the whole way then',
  ],
})
