import { Command, Option } from 'commander'
import type { Context } from '../context.ts'
import type { ReleasesDocument } from '../lib/output/views/releases.ts'
import { releasesView } from '../lib/output/views/releases.ts'
import { kubernetesWindow, latestPatch } from '../lib/releases/known-releases.ts'
import { allReleases, type Releases } from '../lib/releases/releases.ts'
import { compareVersions, minorOf, parseVersion, type Version } from '../lib/releases/version.ts'
import { usageError } from '../lib/system/errors.ts'
import type { Wire } from '../wire.ts'
import { manual } from './manual.ts'
import { readReleases } from './releases/read-releases.ts'

export interface ReleasesOptions {
  since?: string
  until?: string
  releases?: string
}

export function releasesCommand(wire: Wire): Command {
  return new Command('releases')
    .addOption(new Option('--since <version>', 'leave out what is older'))
    .addOption(new Option('--until <version>', 'leave out what is newer'))
    .addOption(new Option('--releases <file>', 'release data to show instead of the built-in'))
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup releases --since v1.7.0', 'what there is, and the Kubernetes it runs on'],
          ['kvup releases -o json', 'the data; changed, it is what --releases takes'],
        ],
      }),
    )
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
  return { ...all, minors: Object.fromEntries(minors), items: shown.map((version) => row(version, all)) }
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
