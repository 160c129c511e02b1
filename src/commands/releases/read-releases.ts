import type { World } from '../../context.ts'
import { knownReleases, parseReleases, type Releases } from '../../lib/releases/releases.ts'
import { usageError } from '../../lib/kube/errors.ts'

/** The built-in release data, or those of a file. Throws `usage` for one that cannot be read or is no release file. */
export async function readReleases({ readText }: Pick<World, 'readText'>, file?: string): Promise<Releases> {
  if (file === undefined) return knownReleases
  const text = await readText(file).catch((cause: unknown) => {
    throw usageError(
      'releases-unread',
      `cannot read the release file ${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { remedy: 'kvup releases -o json prints one', cause },
    )
  })
  return parseReleases(text, file)
}
