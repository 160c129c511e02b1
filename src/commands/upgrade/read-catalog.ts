import type { World } from '../../context.ts'
import type { CatalogPackage } from '../../lib/catalogs/catalog.ts'
import { parseCatalog } from '../../lib/catalogs/parse-catalog.ts'
import { usageError } from '../../lib/system/errors.ts'

/** The packages of `--catalog-file`; undefined without one. Throws `usage` for a file that cannot be read or is no catalog. */
export async function readCatalog(
  { readText }: Pick<World, 'readText'>,
  file: string | undefined,
): Promise<readonly CatalogPackage[] | undefined> {
  if (file === undefined) return undefined
  const text = await readText(file).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw usageError('catalog-unread', `cannot read the catalog ${file}: ${why}`, {
      remedy: 'opm render CATALOG-IMAGE -o yaml > catalog.yaml     makes one',
      cause,
    })
  })
  return parseCatalog(text, file)
}
