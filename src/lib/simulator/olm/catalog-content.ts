import type { BundleShape, ChannelShape, EntryShape, OlmShape } from './shape.ts'

/** A package as a catalog has it. */
export interface PackageContent {
  package: string
  /** The first is the default. */
  channels: readonly { name: string; entries: readonly EntryShape[] }[]
}

/** All packages that a catalog's image has: it lacks entries of later minors of the platform, and those that ended with an earlier one. Without a minor: all. */
export function contentOf(shape: OlmShape, minor: string | undefined): PackageContent[] {
  const { others = [] } = shape
  const packages = [
    { package: shape.package, channels: shape.channels },
    ...others.map(({ package: name, channel, entries }) => ({
      package: name,
      channels: [{ name: channel, entries }],
    })),
  ]
  return packages.map(({ package: name, channels }) => ({
    package: name,
    channels: channels.map((channel) => visible(channel, minor)).filter(({ entries }) => entries.length > 0),
  }))
}

function visible(
  { name, entries }: { name: string; entries: readonly EntryShape[] },
  minor: string | undefined,
): { name: string; entries: readonly EntryShape[] } {
  if (minor === undefined) return { name, entries }
  const shown = entries.filter(
    ({ since = minor, until = minor }) => !isBefore(minor, since) && !isBefore(until, minor),
  )
  return { name, entries: shown }
}

/** `4.9` is before `4.18`. */
export function isBefore(minor: string, other: string): boolean {
  const [major = 0, y = 0] = minor.split('.').map(Number)
  const [otherMajor = 0, otherY = 0] = other.split('.').map(Number)
  return major === otherMajor ? y < otherY : major < otherMajor
}

/** The entry of any of the shape's packages that bears that name; HyperConverged's are found as bundles. */
export function entryNamed(shape: OlmShape, name: string): EntryShape | BundleShape | undefined {
  const all: readonly Pick<ChannelShape, 'entries'>[] = shape.channels
  const bundle = all.flatMap(({ entries }) => entries).find((entry) => entry.name === name)
  return bundle ?? shape.others?.flatMap(({ entries }) => entries).find((entry) => entry.name === name)
}
