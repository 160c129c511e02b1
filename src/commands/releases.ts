import { Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import {
  allReleases,
  kubernetesWindow,
  latestPatch,
  readReleases,
  type Releases,
} from '../lib/releases/releases.ts'
import { breaksOf, type ReleaseBreak } from '../lib/releases/release-breaks.ts'
import { compareVersions, minorOf, parseVersion, type Version } from '../lib/releases/release-versions.ts'
import { usageError } from '../lib/kube/errors.ts'
import { KvupCommand } from './command-options.ts'
import type { Column, View } from '../lib/output/printer.ts'
import { table } from '../lib/output/table.ts'
import { wrap } from '../lib/output/text.ts'

export interface ReleasesOptions {
  since?: string
  until?: string
  releases?: string
}

export function releasesCommand(wire: Wire): KvupCommand {
  return new KvupCommand('releases')
    .addOption(new Option('--since <version>', 'leave out older releases'))
    .addOption(new Option('--until <version>', 'leave out newer releases'))
    .addOption(new Option('--releases <file>', 'release data to show instead of the built-in'))
    .manual({
      examples: [
        ['kvup releases --since v1.7.0', 'list releases, their Kubernetes, and what each minor breaks'],
        ['kvup releases -o json', 'print the data, to edit for --releases'],
      ],
    })
    .action(wire(releases))
}

/** Asks no cluster. What was left out is left out of the data as well. */
export async function releases({ printer, world }: Context, options: ReleasesOptions): Promise<void> {
  const [since, until] = [options.since, options.until].map((text) => text && parseVersion(text))
  if (since && until && compareVersions(since, until) > 0)
    throw usageError('since-after-until', `--since ${since.text} is newer than --until ${until.text}`)
  const all = await readReleases(world, options.releases)
  const within = (version: Version) =>
    (!since || compareVersions(version, since) >= 0) && (!until || compareVersions(version, until) <= 0)
  printer.result(documentOf(all, allReleases(all).filter(within)), releasesView)
}

function documentOf(all: Releases, shown: readonly Version[]): ReleasesDocument {
  const names = new Set(shown.map(({ text }) => text))
  const minors = Object.entries(all.minors).flatMap(([name, minor]) => {
    const kept = Object.entries(minor.releases).filter(([release]) => names.has(release))
    return kept.length > 0 ? [[name, { ...minor, releases: Object.fromEntries(kept) }] as const] : []
  })
  const kept = new Set(minors.map(([name]) => name))
  return {
    ...all,
    minors: Object.fromEntries(minors),
    breaks: breaksOf(all).filter(({ minor }) => kept.has(minor)),
    items: shown.map((version) => row(version, all)),
  }
}

function row(version: Version, all: Releases): ReleasesDocument['items'][number] {
  const minor = minorOf(version)
  const window = kubernetesWindow(version, all)
  return {
    version: version.text,
    minor,
    released: all.minors[minor]?.releases[version.text] ?? '',
    latest: latestPatch(minor, all)?.text === version.text,
    ...(window && { kubernetes: { min: window.min, max: window.max, byRule: !window.known } }),
  }
}

/** The release data as `--releases` takes them, with a list of what is in them. */
export interface ReleasesDocument extends Releases {
  /** What an upgrade to each of the minors breaks, from all that the data know. */
  breaks: readonly ReleaseBreak[]
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
  text: ({ items, breaks, asOf }, paint, size) => [
    ...table(columns, items, { ...size, paint }),
    ...(breaks.length > 0
      ? [
          '',
          ...table(breakColumns, breaks, { ...size, paint }),
          ...where(breaks).flatMap((line) => wrap(line, size.columns)),
        ]
      : []),
    '',
    ...wrap(
      `as of ${asOf}; newer ones are judged by rule, and --releases FILE brings newer data`,
      size.columns,
    ),
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

const repository = 'https://github.com/kubevirt/kubevirt'

/** Pull requests and issues by number, a tag by its name; others as they are. */
function sourceText(source: string): string {
  if (!source.startsWith(`${repository}/`)) return source
  const path = source.slice(repository.length + 1)
  const number = /^(?:pull|issues)\/(\d+)$/u.exec(path)?.[1]
  return number === undefined ? path.replace(/^(?:releases\/tag|blob)\//u, '') : `#${number}`
}

const where = (breaks: readonly ReleaseBreak[]): readonly string[] => [
  '',
  `kvup check --to VERSION     tells which of it concerns this cluster, kvup explain CHECK what the check says`,
  ...(breaks.some(({ sources }) => sources.some((source) => sourceText(source).startsWith('#')))
    ? [`#NUMBER is ${repository}/pull/NUMBER`]
    : []),
]

const breakColumns: readonly Column<ReleaseBreak>[] = [
  { name: 'IN', cell: ({ minor }) => minor },
  { name: 'RELEASES', cell: ({ releases: only = 'all' }) => only },
  { name: 'CHECK', cell: ({ check }) => check },
  { name: 'BREAKS', cell: ({ summary }) => summary, holds: 'text' },
  { name: 'SOURCE', cell: ({ sources }) => sources.map(sourceText).join(' '), holds: 'text' },
]
