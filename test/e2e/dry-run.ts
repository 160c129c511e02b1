import path from 'node:path'
import type { AuditWrite } from './audit-log.ts'
import type { Lab } from './lab.ts'
import { onlooker } from './only-reads.ts'

interface DryRunRequest {
  code: number
  writes: readonly AuditWrite[]
  /** `kubevirts.kubevirt.io/kubevirt` for each of which the API server took a dry run. */
  tried: readonly string[]
}

type DryRuns = Record<'client' | 'server' | 'plan' | 'planFile', DryRunRequest>

/**
 * Every way to look at an upgrade before it is begun, as the API server saw it; `flags` are those of both `kvup upgrade` and `kvup plan`.
 * Between the plan and its dry run the cluster has gone on: leases, heartbeats, conditions.
 */
export async function dryRuns(lab: Lab, flags: readonly string[]): Promise<DryRuns> {
  const watch = await onlooker(lab)
  const dryRun = async (args: readonly string[]): Promise<DryRunRequest> => {
    const { code, writes, dryRunSteps } = await watch(args)
    const tried = dryRunSteps.filter((one) => one.code < 300).map(({ object }) => object)
    return { code, writes, tried: [...new Set(tried)].sort() }
  }
  const file = path.join(lab.dir, 'plan.yaml')
  return {
    client: await dryRun(['upgrade', ...flags, '--dry-run=client']),
    server: await dryRun(['upgrade', ...flags, '--dry-run=server']),
    plan: await dryRun(['plan', ...flags, '--to-file', file]),
    planFile: await dryRun(['upgrade', '--plan', file, '--dry-run=server']),
  }
}

/** How they have to come out where the upgrade is in order: none writes, and all but the first let the server try these changes. */
export function dryRunsOf(...changes: readonly string[]): DryRuns {
  const asked = { code: 0, writes: [], tried: changes }
  return { client: { ...asked, tried: [] }, server: asked, plan: asked, planFile: asked }
}
