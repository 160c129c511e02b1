import type { Context } from '../../context.ts'
import { restoreWindow } from '../../lib/eus/restore-procedure.ts'
import type { Override } from '../../lib/engine/journal.ts'
import { type ExitCode, usageError } from '../../lib/kube/errors.ts'
import type { Meanwhile } from '../../lib/vms/pause-updates.ts'
import { asOverride } from '../../lib/engine/missing-values.ts'
import { askingIn, carryOutWindow } from './window-command.ts'
import { ensureDeducible, seeWindow, type Settling } from '../../lib/eus/run/window-snapshot.ts'
import { limitsBefore } from '../change-options.ts'
import { type EusRunOptions, requestOf } from '../../lib/eus/run/eus-options.ts'

export interface EusRestoreOptions extends Omit<EusRunOptions, 'approve' | 'approveAlso'> {
  pools?: boolean
  keepCurrent?: boolean
  overwrite?: boolean
}

/** `kvup eus restore`: the settings alone, wherever the window stands. Pools, whose nodes roll then, one at a time, only where they are asked for. */
export async function eusRestore(
  cx: Context,
  options: EusRestoreOptions,
  names: readonly string[],
): Promise<ExitCode> {
  const meanwhile = meanwhileOf(options)
  const request = requestOf({ ...options, approveAlso: [] }, cx.world.commandLine)
  const limits = await limitsBefore(cx, options)
  const asking = askingIn(cx, options)
  const settled = meanwhile === 'keep-current' ? { ...asking, settle: forgetting(cx, names) } : asking
  const windowSnapshot = await seeWindow(cx, options, request, settled)
  if (names.length === 0) ensureDeducible(windowSnapshot)
  const loans = chosen(windowSnapshot.loans, names, options.pools ?? false)
  return carryOutWindow(cx, windowSnapshot, {
    procedure: restoreWindow(windowSnapshot.window, { loans, meanwhile }),
    gate: () => undefined,
    question:
      loans.length === 0
        ? `Close the window to ${windowSnapshot.window.to}?`
        : `Give back ${loans.map(({ id }) => id).join(', ')}?`,
    limits,
    dryRun: options.dryRun,
    end: 'given-back',
    announce: () => loans.forEach(({ id, by, at }) => cx.printer.note(`borrowed by ${by} at ${at}: ${id}`)),
  })
}

/** Who keeps what is there by name closes what nobody may be believed about as well. */
const forgetting =
  ({ clock }: Context, names: readonly string[]): Settling =>
  async (journal) => {
    for (const missing of await journal.missing())
      if (names.includes(missing.id)) journal.believe(asOverride(missing, clock.now().toISOString()))
  }

/** Throws `usage` for a name that is no open loan. */
function chosen(open: readonly Override[], names: readonly string[], pools: boolean): readonly Override[] {
  const wrong = names.find((name) => !open.some(({ id }) => id === name))
  if (wrong !== undefined)
    throw usageError('no-such-loan', `nothing is borrowed under the name ${JSON.stringify(wrong)}`, {
      remedy: open.length === 0 ? 'kvup history' : `borrowed are: ${open.map(({ id }) => id).join(', ')}`,
    })
  if (names.length > 0) return open.filter(({ id }) => names.includes(id))
  return open.filter(({ id }) => pools || !id.startsWith('pool-paused/'))
}

function meanwhileOf({ keepCurrent, overwrite }: EusRestoreOptions): Meanwhile {
  if (keepCurrent && overwrite)
    throw usageError('contradiction', '--keep-current and --overwrite exclude each other')
  if (overwrite) return 'overwrite'
  return keepCurrent ? 'keep-current' : 'ask'
}
