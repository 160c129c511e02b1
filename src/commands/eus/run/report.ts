import type { Context } from '../../../context.ts'
import { targetOfName } from '../../../lib/system/window-name.ts'
import type { EusReportDocument } from '../../../lib/output/views/eus-report.ts'
import { goesOn } from '../../upgrade/next-lines.ts'
import type { SeenWindow } from '../see-window.ts'

type End = Pick<EusReportDocument, 'outcome' | 'steps'> &
  Partial<
    Pick<
      EusReportDocument,
      | 'seconds'
      | 'dryRun'
      | 'rehearsed'
      | 'stoppedBefore'
      | 'comparedWith'
      | 'changes'
      | 'counts'
      | 'differences'
      | 'nodes'
      | 'volumes'
      | 'rewritten'
      | 'alerts'
      | 'notes'
      | 'next'
    >
  >

/** The document of a run's end, with what is borrowed still and what to type next. */
export async function reportOfWindow(
  { world }: Context,
  { window, hands }: SeenWindow,
  end: End,
): Promise<EusReportDocument> {
  const loans = (await hands.journal.loans()).filter(({ procedure }) => targetOfName(procedure) !== undefined)
  const next = end.next ?? nextOf(world.commandLine, end)
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'EusReport',
    from: window.began,
    to: window.to,
    ...end,
    notes: end.notes ?? [],
    borrowed: loans,
    next,
  }
}

const nextOf = (commandLine: string, { outcome }: End): readonly string[] =>
  outcome === 'stopped-before' ? [goesOn(commandLine), 'kvup eus status'] : []
