import { acceptedRisks } from '../../lib/checks/explanations.ts'
import { askAboutMissing } from '../run-change.ts'
import type { Context } from '../../context.ts'
import { eusReportView } from '../../lib/output/views/eus/eus-report.ts'
import { type ExitCode, KvupError } from '../../lib/kube/errors.ts'
import type { WindowSnapshot, Asking } from '../../lib/eus/run/window-snapshot.ts'
import { type WindowWork, endOf, workOnWindow } from '../../lib/eus/run/window-run.ts'

/** Rehearses or carries it out, and prints the report. */
export async function carryOutWindow(
  cx: Context,
  windowSnapshot: WindowSnapshot,
  work: WindowWork,
): Promise<ExitCode> {
  const { report, code } = await workOnWindow(cx, windowSnapshot, work)
  cx.printer.result(report, eusReportView)
  return endOf(report, code)
}

/** Which cluster, as whom: said before the question of a window. Nothing where no kubeconfig says it; the cluster was reached otherwise then. */
export async function connectedTo({
  flags,
  world,
}: Pick<Context, 'flags' | 'world'>): Promise<readonly string[]> {
  const { describeConnection } = await import('../../lib/kube/http/target.ts')
  try {
    const { server, context, user } = await describeConnection(flags, world.env)
    return [`cluster ${server}${context === undefined ? '' : ` (context ${context})`}, as ${user}`]
  } catch (error) {
    if (error instanceof KvupError) return []
    throw error
  }
}

/** A person is asked, or a name that was accepted says it; a dry run asks nobody. */
export function askingIn(
  cx: Context,
  { accept, dryRun = 'none' }: { accept: readonly string[]; dryRun?: string },
): Asking {
  return {
    accepted: acceptedRisks,
    async settle(journal) {
      if (dryRun === 'none') await askAboutMissing(journal, cx, { accept })
    },
  }
}
