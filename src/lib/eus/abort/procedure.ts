import type { Loan } from '../../procedure/journal.ts'
import { rememberSteps } from '../../procedure/remember-steps.ts'
import type { Procedure, ReadContext, Step } from '../../procedure/step.ts'
import type { MachineRef } from '../../workloads/unblock/read-machine.ts'
import { endSteps, rewritten } from '../run/end-steps.ts'
import type { EusWindow } from '../run/window.ts'
import { keptBaseline } from '../steps/kept.ts'
import { machinesBack } from '../steps/machines-back.ts'
import { abortState } from './abort-state.ts'
import { closeWindow } from './close-window.ts'
import { channelBack, withdrawRequest } from './give-requests-back.ts'
import { hopToItsEnd } from './hop-to-its-end.ts'

/** What is given back. */
export interface Lent {
  loans: readonly Loan[]
  /** VMs that `kvup workloads unblock` lent something, so that their nodes could be drained. */
  machines: readonly MachineRef[]
}

/** Whether the channel goes back is another thing once a hop is accepted, which may be while the abort is at work. */
const anew: ReadonlySet<string> = new Set([...rewritten, 'give-back-platform-channel'])

/**
 * Out of a window, by where it stands (night E2). Not accepted: the request is taken back, the channel too. A hop is running, a patch too: platform
 * and operator of that hop come to their end. Then in any case methods, VMs, pools and the rest, as at the end of a window; last what VMs were lent,
 * which the drains of their nodes need.
 */
export function abortProcedure(window: EusWindow, { loans, machines }: Lent): Procedure {
  const remembered = rememberSteps(anew)
  const back = machinesBack(machines)
  const close = closeWindow({ name: window.name, text: 'aborted' })
  return {
    name: `abort ${window.name}`,
    loans: loans.filter(({ procedure }) => procedure === window.name).map(({ id }) => id),
    reached: async ({ journal }) => (await keptBaseline(journal, window.name)) === undefined,
    steps: async (cx) => remembered([...(await stepsNow(window, cx)), ...back, close]),
  }
}

async function stepsNow(window: EusWindow, cx: ReadContext): Promise<readonly Step[]> {
  const state = await abortState(window, cx)
  return [
    withdrawRequest(window.name),
    await channelBack(cx, { isAccepted: state.accepted }),
    ...(state.accepted ? await hopToItsEnd(window, state, cx) : []),
    ...(await endSteps(window, cx)),
  ]
}
