import { Command } from 'commander'
import type { Context } from '../../context.ts'
import { theInstallation } from '../../lib/facts/installation.ts'
import { takeSnapshot } from '../../lib/facts/snapshot.ts'
import { vmRolloutView } from '../../lib/output/views/vm-rollout.ts'
import { exitCode, type ExitCode } from '../../lib/system/exit-codes.ts'
import type { Wire } from '../../wire.ts'
import { asksCluster, manual } from '../manual.ts'
import { fromOption, readerFor } from '../reader-for.ts'
import { rolloutDocument } from './document.ts'

export interface ShowRolloutOptions {
  from?: string
}

export function showRolloutCommand(wire: Wire): Command {
  return new Command('show')
    .addOption(fromOption())
    .addHelpText(
      'after',
      manual({
        examples: [
          ['kvup rollout show', 'what a change of a running VM does, and who says so'],
          ["kvup rollout show -o jsonpath='{.strategy}'", 'Stage or LiveUpdate'],
        ],
        codes: asksCluster,
      }),
    )
    .action(wire<ShowRolloutOptions, []>(showRollout))
}

/** Reads only. Throws `blocked` for no or several KubeVirts. */
export async function showRollout(cx: Context, { from }: ShowRolloutOptions = {}): Promise<ExitCode> {
  const { cluster, clock } = await readerFor(cx, from)
  const installation = theInstallation(await takeSnapshot(cluster.reader, [], clock))
  cx.printer.result(await rolloutDocument(cluster.reader, installation), vmRolloutView)
  return exitCode.done
}
