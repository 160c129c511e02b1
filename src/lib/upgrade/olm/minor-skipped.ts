import { passesOver } from '../../catalogs/path.ts'
import type { HopFinding } from '../../releases/finding.ts'
import type { OlmPart } from './olm-part.ts'

/**
 * The catalog file leads past a minor, and nowhere else: OLM takes such an edge, while KubeVirt supports updates to the next minor alone. A warning where other
 * methods have a blocker, for it is whoever made the catalog that says so. Pure.
 */
export function minorSkipped({ certain, from, hops }: OlmPart): readonly HopFinding[] {
  if (!certain) return []
  return hops.flatMap(({ version }, i) => {
    const before = hops[i - 1]?.version ?? from
    if (!passesOver(before, version)) return []
    return [
      {
        id: 'minor-skipped',
        level: 'warning' as const,
        summary: `the catalog leads from HyperConverged ${before} to ${version} and over no release of a minor in between: only updates of KubeVirt to the next minor are supported`,
        remedy: [
          'opm render CATALOG-IMAGE -o yaml > catalog.yaml     of a catalog that has the minor in between, then --catalog-file catalog.yaml',
        ],
      },
    ]
  })
}
