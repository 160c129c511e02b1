import type { Releases } from '../../releases/releases.ts'
import type { Column, View } from '../printer.ts'
import { table } from '../table.ts'

/** The release data as `--releases` takes them, with a list of what is in them. */
export interface ReleasesDocument extends Releases {
  items: readonly ReleaseRow[]
}

interface ReleaseRow {
  version: string
  minor: string
  /** YYYY-MM-DD. */
  released: string
  /** The last patch of its minor. */
  latest: boolean
  /** Both ends included; `byRule`: not from a table, each minor moves it by one. */
  kubernetes?: { min: string; max: string; byRule: boolean }
}

export const releasesView: View<ReleasesDocument> = {
  text: ({ items, asOf }, paint, size) => [
    ...table(columns, items, { ...size, paint }),
    '',
    `as of ${asOf}; newer ones are judged by rule, and --releases FILE brings newer data`,
  ],
  names: ({ items }) => items.map(({ version }) => `release/${version}`),
}

const columns: readonly Column<ReleaseRow>[] = [
  { name: 'VERSION', cell: ({ version }) => version, tone: ({ latest }) => (latest ? 'strong' : 'dim') },
  { name: 'RELEASED', cell: ({ released }) => released },
  { name: 'LATEST', cell: ({ latest }) => (latest ? 'yes' : 'no') },
  {
    name: 'KUBERNETES',
    cell: ({ kubernetes: window }) =>
      window && `${window.min} to ${window.max}${window.byRule ? ' (by rule)' : ''}`,
  },
]
