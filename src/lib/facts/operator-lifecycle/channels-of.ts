import type { PackageManifest } from '../../cluster/kinds/operator-lifecycle.ts'

/** A channel of a package, and the newest release in it. */
export interface PackageChannelHead {
  name: string
  /** `1.18.1`, or the name of the CSV where no version is told; absent where the channel shows nothing. */
  newest?: string
}

/** Those of the catalog that the Subscription names, in the order in which it tells them. */
export function channelsOf(manifests: readonly PackageManifest[]): readonly PackageChannelHead[] {
  const channels = manifests.flatMap(({ status }) => status?.channels ?? [])
  return channels.map(({ name = '', currentCSV, currentCSVDesc }) => {
    const newest = currentCSVDesc?.version ?? currentCSV
    return newest === undefined ? { name } : { name, newest }
  })
}
