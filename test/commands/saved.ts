import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCheckedCluster } from '../../src/commands/check/plan-findings.ts'
import { readerFor } from '../../src/lib/kubevirt/snapshot.ts'
import type { Context } from '../../src/context.ts'
import { allChecks, runChecks } from '../../src/lib/checks/check-run.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { statusReport } from '../../src/lib/status/status-report.ts'
import { parseVersion } from '../../src/lib/releases/release-versions.ts'
import { knownReleases } from '../../src/lib/releases/releases.ts'
import type { Clock } from '../../src/lib/kube/clock.ts'
import { recordingPrinter } from '../scenario/recording-printer.ts'

export const folder = mkdtempSync(join(tmpdir(), 'kvup-saved-'))

/** Test files share this module, and who is done removes the folder. */
export function fileIn(name: string): string {
  mkdirSync(folder, { recursive: true })
  return join(folder, name)
}

/** A context in front of a cluster; what is printed is kept. */
export function contextOf(cluster: Cluster | undefined, clock: Clock) {
  const { printer, recorded } = recordingPrinter(clock)
  const cx = {
    cluster: async () => {
      if (!cluster) throw new Error('a live cluster was asked')
      return cluster
    },
    clock,
    printer,
    signal: new AbortController().signal,
    // Nobody sits there.
    prompt: {},
    world: { version: '0.0.0-test', who: 'jane@here', readStdin: async () => '' },
  } as unknown as Context
  return { cx, recorded }
}

/** Everything that is judged of a cluster. */
export async function judged(cluster: Cluster, clock: Clock): Promise<object> {
  const { cx } = contextOf(cluster, clock)
  const status = await statusReport(cluster.reader, clock)
  const observed = await readCheckedCluster(cx, {
    to: parseVersion('v1.9.0'),
    method: 'operator-manifest',
    from: undefined,
  })
  const { installation: _, ...rest } = observed
  const question = { ...observed, releases: knownReleases, target: parseVersion('v1.9.0') }
  const checks = runChecks(allChecks, question).map(({ check, is, findings }) => ({
    id: check.id,
    is,
    findings,
  }))
  return { status, checks, rolloutStatus: rest.rolloutStatus, tallies: rest.snapshot.instances }
}

export async function judgedFrom(file: string, clock: Clock): Promise<object> {
  const { cx } = contextOf(undefined, clock)
  const saved = await readerFor(cx, file)
  return judged(saved.cluster, saved.clock)
}
