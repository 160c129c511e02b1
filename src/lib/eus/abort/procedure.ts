import type { Loan } from '../../procedure/journal.ts'
import { rememberSteps } from '../../procedure/remember-steps.ts'
import type { Procedure, ReadContext, Step } from '../../procedure/step.ts'
import { endSteps, rewritten } from '../run/end-steps.ts'
import type { EusWindow } from '../run/window.ts'
import { keptBaseline } from '../steps/kept.ts'
import { abortState } from './abort-state.ts'
import { closeWindow } from './close-window.ts'
import { channelBack, withdrawRequest } from './give-requests-back.ts'
import { hopToItsEnd } from './hop-to-its-end.ts'

/**
 * Out of a window, by where it stands (night E2). Not accepted: the request is taken back, the channel too. A hop is running, a patch too: platform
 * and operator of that hop come to their end. Then in any case methods, VMs, pools and the rest, as at the end of a window.
 */
export function abortProcedure(window: EusWindow, loans: readonly Loan[]): Procedure {
  const remembered = rememberSteps(rewritten)
  return {
    name: `abort ${window.name}`,
    loans: loans.filter(({ procedure }) => procedure === window.name).map(({ id }) => id),
    reached: async ({ journal }) => (await keptBaseline(journal, window.name)) === undefined,
    steps: async (cx) => remembered(await stepsNow(window, cx)),
  }
}

async function stepsNow(window: EusWindow, cx: ReadContext): Promise<readonly Step[]> {
  const state = await abortState(window, cx)
  return [
    withdrawRequest(window.name),
    await channelBack(cx, { isAccepted: state.accepted }),
    ...(state.accepted ? await hopToItsEnd(window, state, cx) : []),
    ...(await endSteps(window, cx)),
    closeWindow({ name: window.name, text: 'aborted' }),
  ]
}
