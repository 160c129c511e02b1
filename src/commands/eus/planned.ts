import type { Context } from '../../context.ts'
import type { AcceptedRisk } from '../../lib/checks/report.ts'
import type { Cluster, Reader } from '../../lib/cluster/cluster.ts'
import { oneLook } from '../../lib/cluster/one-look.ts'
import type { EusPlan } from '../../lib/eus/eus-plan.ts'
import type { EusEvidence } from '../../lib/eus/plan/evidence.ts'
import { lookForEus } from '../../lib/eus/plan/look.ts'
import { makeEusPlan } from '../../lib/eus/plan/make-eus-plan.ts'
import { parsePlatformMinor } from '../../lib/releases/platform-version.ts'
import type { Releases } from '../../lib/releases/releases.ts'
import { parseUpdateGraph, type UpdateGraph } from '../../lib/releases/update-graph.ts'
import type { Clock } from '../../lib/system/clock.ts'
import { usageError } from '../../lib/system/errors.ts'
import { acceptedRisks } from '../check/accepted-risks.ts'
import { readCatalog } from '../upgrade/read-catalog.ts'
import { readReleases } from '../releases/read-releases.ts'
import { asTyped } from './as-typed.ts'
import type { EusPlanningOptions } from './flags.ts'

/** A plan, and what it was made from. */
export interface PlannedEus {
  plan: EusPlan
  evidence: EusEvidence
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
  { world }: Pick<Context, 'world'>,
  { cluster, clock }: { cluster: Cluster; clock: Clock },
  options: EusPlanningOptions,
): Promise<PlannedEus> {
  const to = options.to === undefined ? undefined : parsePlatformMinor(options.to)
  const releases = await readReleases(world, options.releases)
  const accepted = acceptedRisks(options.accept, releases)
  const graph = await readGraph(world, options.graphFile)
  const catalog = await readCatalog(world, options.catalogFile)
  const reader = oneLook(cluster.reader)
  const evidence = await lookForEus({ ...cluster, reader }, clock)
  const plan = makeEusPlan(evidence, { to, graph, catalog, releases })
  return {
    plan: { ...plan, findings: asTyped(plan.findings, options) },
    evidence,
    accepted,
    releases,
    reader,
  }
}

async function readGraph(
  world: Context['world'],
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
