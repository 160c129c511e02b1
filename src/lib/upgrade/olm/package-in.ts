import type { CatalogPackage } from '../../catalogs/catalog.ts'
import { blocked } from '../../system/errors.ts'

/** The package of that name in a file-based catalog. Throws `blocked` with those that it has; `which` ends the line that makes such a file. */
export function packageIn(
  catalog: readonly CatalogPackage[],
  name: string,
  which = 'of the catalog that the Subscription names',
): CatalogPackage {
  const found = catalog.find((one) => one.name === name)
  if (found !== undefined) return found
  throw blocked(
    'package-not-in-catalog',
    `the catalog file has no package ${name}, only ${catalog.map((one) => one.name).join(', ')}`,
    {
      remedy: `opm render CATALOG-IMAGE -o yaml > catalog.yaml     ${which}`,
    },
  )
}
