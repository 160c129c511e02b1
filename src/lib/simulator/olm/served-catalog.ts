import { contentOf, type PackageContent } from './catalog-content.ts'
import type { EntryShape, OlmShape } from './shape.ts'

/** The catalog of that minor of the platform as `opm render` prints it, JSON objects one after the other: packages, channels and the edges of their entries. */
export function servedCatalog(shape: OlmShape, minor: string | undefined): string {
  const contents = contentOf(shape, minor)
  const documents = [...contents.map(packageIn), ...contents.flatMap(channelsIn)]
  return documents.map((document) => JSON.stringify(document)).join('\n')
}

function packageIn({ package: name, channels }: PackageContent): object {
  return { schema: 'olm.package', name, defaultChannel: channels[0]?.name }
}

function channelsIn({ package: pack, channels }: PackageContent): readonly object[] {
  return channels.map(({ name, entries }) => ({
    schema: 'olm.channel',
    package: pack,
    name,
    entries: entries.map(entryOf),
  }))
}

const entryOf = ({ name, replaces, skips, skipRange }: EntryShape): object => ({
  name,
  replaces,
  skips,
  skipRange,
})
