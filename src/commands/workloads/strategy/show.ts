import type { Context } from '../../../context.ts'
import { workloadStrategyView } from '../../../lib/output/views/workload-strategy.ts'
import { exitCode, type ExitCode } from '../../../lib/system/exit-codes.ts'
import { seeSettings } from '../settings-work.ts'
import { strategyDocument } from './document.ts'

/** `kvup workloads strategy show`: reads only. */
export async function showWorkloadStrategy(cx: Context): Promise<ExitCode> {
  cx.printer.result(await strategyDocument(await seeSettings(cx, {})), workloadStrategyView)
  return exitCode.done
}
