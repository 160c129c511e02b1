import type { CommandContext } from '../../kube/world.ts'
import type { AcceptedRisk } from '../../releases/accepted-risks.ts'
import type { Cluster, Reader } from '../../kube/cluster.ts'
import { onceCached } from '../../kube/read-cache.ts'
import type { EusPlan } from './eus-plan.ts'
import { type EusClusterSnapshot, readEusCluster } from './eus-snapshot.ts'
import { makeEusPlan } from './eus-planner.ts'
import { parsePlatformMinor } from '../../releases/release-versions.ts'
import { type Releases, readReleases } from '../../releases/releases.ts'
import { parseUpdateGraph, type UpdateGraph } from '../../releases/update-graph.ts'
import type { Clock } from '../../kube/clock.ts'
import { usageError } from '../../kube/errors.ts'
import { readCatalog } from '../../releases/catalog-file.ts'
import type { Finding } from '../../checks/check-definition.ts'
import { shellWord } from '../../kube/shell-line.ts'
import type { EusPlanningOptions } from '../run/eus-options.ts'

/** Reads what `--accept` names; throws `usage` for a name that no finding has. */
export type ReadAccepted = (words: readonly string[], releases: Releases) => readonly AcceptedRisk[]

/** A plan, and what it was made from. */
export interface PlannedEus {
  plan: EusPlan
  snapshot: EusClusterSnapshot
  accepted: readonly AcceptedRisk[]
  releases: Releases
  /** The look: lists that it was made from are not read again. */
  reader: Reader
}

/**
 * See → plan → findings, all from one look; reads only. Throws `usage` for flags that cannot be meant, before the cluster is read, and
 * `blocked` where this is no OKD or OpenShift.
 */
export async function plannedEus(
  { world }: Pick<CommandContext, 'world'>,
  { cluster, clock, accepted: read }: { cluster: Cluster; clock: Clock; accepted: ReadAccepted },
  options: EusPlanningOptions,
): Promise<PlannedEus> {
  const to = options.to === undefined ? undefined : parsePlatformMinor(options.to)
  const releases = await readReleases(world, options.releases)
  const accepted = read(options.accept, releases)
  const graph = await readGraph(world, options.graphFile)
  const catalog = await readCatalog(world, options.catalogFile)
  const reader = onceCached(cluster.reader)
  const snapshot = await readEusCluster({ ...cluster, reader }, clock)
  const plan = makeEusPlan(snapshot, { to, graph, catalog, releases })
  return {
    plan: { ...plan, findings: asTyped(plan.findings, options) },
    snapshot,
    accepted,
    releases,
    reader,
  }
}

async function readGraph(
  world: CommandContext['world'],
  file: string | undefined,
): Promise<UpdateGraph | undefined> {
  if (file === undefined) return undefined
  const text = await world.readText(file).catch((cause: unknown) => {
    throw usageError(
      'graph-unread',
      `cannot read the update graph ${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        remedy:
          'the update service serves one: https://api.openshift.com/api/upgrades_info/graph?channel=eus-4.20',
        cause,
      },
    )
  })
  return parseUpdateGraph(text, file)
}

/** Findings know of no command line: what they say to plan anew is made from the same files and with the same risks as what was typed, but for what they name themselves. */
export function asTyped(findings: readonly Finding[], options: EusPlanningOptions): readonly Finding[] {
  const flags = typedFlags(options)
  return findings.map((finding) =>
    Object.assign({}, finding, { remedy: finding.remedy.map((line) => withFlags(line, flags)) }),
  )
}

type Flag = readonly [name: string, value: string]

function typedFlags({ to, graphFile, catalogFile, releases, accept }: EusPlanningOptions): readonly Flag[] {
  const valued: readonly (readonly [string, string | undefined])[] = [
    ['--to', to],
    ['--graph-file', graphFile],
    ['--catalog-file', catalogFile],
    ['--releases', releases],
    ...accept.map((id) => ['--accept', id] as const),
  ]
  return valued.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
}

/** Behind five blanks and more it is said what the line does. */
const planLine = /^(?<line>kvup eus plan(?: \S+)*)(?<says> {5}.*)?$/su

function withFlags(remedy: string, flags: readonly Flag[]): string {
  const { line, says = '' } = planLine.exec(remedy)?.groups ?? {}
  if (line === undefined) return remedy
  const words = line.split(' ')
  const more = flags.filter(([name]) => !words.includes(name))
  return [line, ...more.map(([name, value]) => `${name} ${shellWord(value)}`)].join(' ') + says
}

/** The Subscription is Manual and a release of the operator is still to come: without `--approve` a run ends before it. */
export const approvalIsAhead = ({ operator, hops }: Pick<EusPlan, 'operator' | 'hops'>): boolean =>
  operator?.approval === 'Manual' && hops.some(({ operators }) => operators.some(({ done }) => !done))

/** A line of `kvup eus run` or `abort` as it comes to its end. */
export function typedFor(plan: Pick<EusPlan, 'operator' | 'hops'>, line: string): string {
  return approvalIsAhead(plan) && !/ --approve(?: |$)/u.test(line) ? `${line} --approve` : line
}
