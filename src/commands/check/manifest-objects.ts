import type { Context } from '../../context.ts'
import type { KubeObject } from '../../lib/cluster/object.ts'
import { mustBeVersion, operatorManifest } from '../../lib/manifests/manifest.ts'
import { parseManifest } from '../../lib/manifests/parse.ts'
import { readManifest } from '../../lib/manifests/read-manifest.ts'
import { manifestSource } from '../../lib/manifests/source.ts'
import type { Version } from '../../lib/releases/version.ts'
import { usageError } from '../../lib/system/errors.ts'

/** What `--manifest` names, of the version that is asked about. Throws `usage` for another one, and without a version. */
export async function manifestObjects(
  { world, signal }: Context,
  manifest: string | undefined,
  to: Version | undefined,
): Promise<readonly KubeObject[] | undefined> {
  if (manifest === undefined) return undefined
  if (to === undefined)
    throw usageError('manifest-without-to', '--manifest needs the version that it is of', {
      remedy: 'add --to VERSION',
    })
  const { text, origin } = await readManifest(manifestSource({ manifest }, to.text), { ...world, signal })
  const read = operatorManifest(parseManifest(text, origin), origin)
  mustBeVersion(read, to.text)
  return read.objects
}
