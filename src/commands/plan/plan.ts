import type { Context } from '../../context.ts'
import type { World } from '../../lib/kube/world.ts'
import { planView } from '../../lib/output/views/upgrade/upgrade-plan.ts'
import { passGate } from '../../lib/checks/check-definition.ts'
import { type ExitCode, exitCode, usageError } from '../../lib/kube/errors.ts'
import type { UpgradeOptions } from '../../lib/upgrade/plan/upgrade-options.ts'
import { readerFor } from '../../lib/kubevirt/read-cluster.ts'
import { planUpgrade } from '../../lib/upgrade/plan/planned-upgrade.ts'
import { planJudge } from '../upgrade/plan-findings.ts'
import { afterPlan } from '../../lib/upgrade/run-report.ts'
import { planDocument } from '../../lib/upgrade/plan/plan-document.ts'
import { type Document, seal } from '../../lib/output/printer.ts'

export interface PlanOptions extends Omit<UpgradeOptions, 'timeout' | 'pauseBefore'> {
  exitCode?: boolean
  toFile?: string
  from?: string
}

/** `kvup plan`: what an upgrade would do, as a document that `kvup upgrade --plan` carries out unchanged or not at all. */
export async function plan(cx: Context, options: PlanOptions): Promise<ExitCode> {
  if (options.to === undefined)
    throw usageError('no-target', 'say where to go', {
      remedy: ['kvup plan --to VERSION', 'kvup upgrade      says what can be reached'],
    })
  const { cluster, clock, saved } = await readerFor(cx, options.from)
  const there: Context = { ...cx, clock, cluster: () => Promise.resolve(cluster) }
  const asked = { ...options, timeout: '60m', pauseBefore: [] }
  const { planned, madeFrom } = await planUpgrade(there, asked, {
    readNow: true,
    asks: false,
    judge: planJudge(cx),
  })
  const next = afterPlan(cx.world.commandLine, options.toFile)
  const document = await planDocument(planned, madeFrom, { mode: saved ? 'client' : 'auto', next })
  if (options.toFile !== undefined) await savePlan(cx.world, options.toFile, document)
  cx.printer.result(document, planView)
  if (document.pending) passGate(planned.findings, planned.accepted)
  return document.pending && options.exitCode ? exitCode.asked : exitCode.done
}

/** Writes what `-o yaml` prints. Throws `usage` for a file that cannot be written. */
export async function savePlan(world: World, file: string, document: Document): Promise<void> {
  const { yamlText } = await import('../../lib/output/formats/yaml-text.ts')
  await world.writeText(file, yamlText(seal(document, 'complete'), true)).catch((cause: unknown) => {
    throw usageError(
      'plan-not-saved',
      `the plan cannot be written to ${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { remedy: 'name a file that can be written: --to-file FILE', cause },
    )
  })
}
