import { ConfigMaps } from '../../../cluster/kinds/core.ts'
import type { PlatformContext } from '../platform-context.ts'
import type { Release } from '../shape.ts'

/** Where cluster-version tells machine-config which release machines are to be of. */
export const releaseImages = {
  name: 'machine-config-osimageurl',
  namespace: 'openshift-machine-config-operator',
} as const

export async function requestMachines({ writer }: PlatformContext, { version }: Release): Promise<void> {
  await writer.mergePatch(ConfigMaps, releaseImages, { data: { releaseVersion: version } })
}

/** The release that machines are to be of. */
export async function machineRelease({ reader, shape }: PlatformContext): Promise<Release | undefined> {
  const found = await reader.find(ConfigMaps, releaseImages)
  const version = found.is === 'object' ? found.object.data?.['releaseVersion'] : undefined
  return shape.graph.find((release) => release.version === version)
}
