import { contentOf } from './catalog-content.ts'
import type { OlmShape } from './shape.ts'

/** The catalog of that minor of the platform as `opm render` prints it, JSON objects one after the other: packages, channels and the edges of their entries. */
export function servedCatalog(shape: OlmShape, minor: string | undefined): string {
  const documents = contentOf(shape, minor).flatMap(({ package: name, channels }) => [
    { schema: 'olm.package', name, ...(channels[0] && { defaultChannel: channels[0].name }) },
    ...channels.map((channel) => ({
      schema: 'olm.channel',
      package: name,
      name: channel.name,
      entries: channel.entries.map(({ name: csv, replaces, skips, skipRange }) => ({
        name: csv,
        ...(replaces !== undefined && { replaces }),
        ...(skips !== undefined && { skips }),
        ...(skipRange !== undefined && { skipRange }),
      })),
    })),
  ])
  return documents.map((document) => JSON.stringify(document)).join('\n')
}
