import type { BundleShape, ChannelShape, EntryShape, OlmShape } from './olm-shape.ts'
import { compareVersions, versionOf } from '../../lib/releases/release-versions.ts'

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

/**
 * What the resolver takes after `installed` from a channel's entries: the one nearest to the head that replaces it, skips it or
 * has it in its skipRange (ocp 2.6). Undefined where nothing leads on.
 */
export function nextEntry<T extends EntryShape>(entries: readonly T[], installed: EntryShape): T | undefined {
  return fromHead(entries).find((entry) => entry.name !== installed.name && leadsOn(entry, installed))
}

/** The entry that nothing replaces or skips. Undefined for an empty channel, or for one whose edges go round. */
export function headOf<T extends EntryShape>(entries: readonly T[]): T | undefined {
  const passed = new Set(entries.flatMap(({ replaces, skips = [] }) => [replaces, ...skips]))
  return entries.find(({ name }) => !passed.has(name))
}

/** The chain of `replaces` from the head on; what it leaves out comes last. */
function fromHead<T extends EntryShape>(entries: readonly T[]): T[] {
  const chain: T[] = []
  for (let entry = headOf(entries); entry !== undefined && !chain.includes(entry);) {
    chain.push(entry)
    const { replaces } = entry
    entry = entries.find(({ name }) => name === replaces)
  }
  return [...chain, ...entries.filter((entry) => !chain.includes(entry))]
}

function leadsOn({ replaces, skips = [], skipRange }: EntryShape, { name, version }: EntryShape): boolean {
  return replaces === name || skips.includes(name) || (skipRange !== undefined && isIn(skipRange, version))
}

const part = /^(?<sign>[<>]?=?)(?<than>\d.*)$/

/** A range as `olm.skipRange` has it: `>=4.17.0 <4.18.0`, alternatives behind `||`. What cannot be read has nothing in it. */
const isIn = (range: string, version: string): boolean =>
  range.split('||').some((all) => {
    const parts = all.trim().split(/\s+/u)
    return parts.every((one) => holds(one, version))
  })

function holds(one: string, text: string): boolean {
  const { sign = '', than = '' } = part.exec(one)?.groups ?? {}
  const version = versionOf(text)
  const other = versionOf(than)
  if (version === undefined || other === undefined) return false
  const order = compareVersions(version, other)
  if (order === 0) return sign === '' || sign.endsWith('=')
  return order < 0 ? sign.startsWith('<') : sign.startsWith('>')
}

/** The catalog of that minor of the platform as `opm render` prints it, JSON objects one after the other: packages, channels and the edges of their entries. */
export function servedCatalog(shape: OlmShape, minor: string | undefined): string {
  const contents = contentOf(shape, minor)
  const documents = [...contents.map(packageIn), ...contents.flatMap(channelsIn)]
  return documents.map((document) => JSON.stringify(document)).join('\n')
}

const packageIn = ({ package: name, channels }: PackageContent): object => ({
  schema: 'olm.package',
  name,
  defaultChannel: channels[0]?.name,
})

const channelsIn = ({ package: pack, channels }: PackageContent): readonly object[] =>
  channels.map(({ name, entries }) => ({
    schema: 'olm.channel',
    package: pack,
    name,
    entries: entries.map(entryOf),
  }))

const entryOf = ({ name, replaces, skips, skipRange }: EntryShape): object => ({
  name,
  replaces,
  skips,
  skipRange,
})
