import type { Loan } from '../../procedure/journal.ts'
import { rememberSteps } from '../../procedure/remember-steps.ts'
import type { Procedure, ReadContext, Step, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import { endSteps, rewritten } from '../run/end-steps.ts'
import type { EusWindow } from '../run/window.ts'
import { keptBaseline } from '../steps/kept.ts'
import { masterRolled } from '../steps/master-rolled.ts'
import { operatorPart } from '../steps/operator-part.ts'
import { minorOf, readPlatform } from '../steps/platform-now.ts'
import { platformUpdated } from '../steps/platform-updated.ts'
import { channelBack, withdrawRequest } from './give-requests-back.ts'

/** The release where a window began, and whether a hop of it was accepted since: from then on there is no way back, only to its end (night E2). */
export interface AbortState {
  from: string
  /** Where the platform is, or is going. */
  at: string
  accepted: boolean
}

/** By what was kept, else by the plan's reading of the kubelets. */
export async function abortState(window: EusWindow, { reader, journal }: ReadContext): Promise<AbortState> {
  const { standing } = await readPlatform(reader)
  const from = minorOf((await keptBaseline(journal, window.name))?.from) || window.began
  const at = minorOf(standing.target)
  return { from, at, accepted: at !== from }
}

/**
 * Out of a window, by where it stands (night E2). Not accepted: the request is taken back, the channel too. A hop is running: platform and operator
 * of that hop come to their end. Then in any case methods, VMs, pools and the rest, as at the end of a window.
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
  const { accepted, at } = await abortState(window, cx)
  return [
    withdrawRequest(window.name),
    await channelBack(cx, accepted),
    ...(accepted ? await toTheEndOf(window, at, cx) : []),
    ...(await endSteps(window, cx)),
    closeWindow(window.name),
  ]
}

async function toTheEndOf(window: EusWindow, minor: string, cx: ReadContext): Promise<readonly Step[]> {
  const stop = { minor }
  const { operator } = window.plan
  const stops = window.hops.find((hop) => hop.minor === minor)?.operators ?? []
  return [
    platformUpdated({ id: `platform-${minor}`, stop }),
    masterRolled({ id: `control-plane-${minor}`, stop, name: window.name }),
    ...(operator === undefined ? [] : await operatorPart(window, { minor, stops, operator }, cx)),
  ]
}

/** What was kept to compare with is of no use any more, and must not pass for that of the next window. */
function closeWindow(name: string): Step {
  return {
    id: 'close-window',
    title: 'forget what was kept',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: seconds,
    follows: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ journal }): Promise<StepState> {
      return (await keptBaseline(journal, name)) === undefined
        ? { is: 'done' }
        : { is: 'todo', change: 'forget what was kept for the window' }
    },
    async apply({ journal, clock }) {
      const at = clock.now().toISOString()
      await journal.record({ at, by: '', procedure: name, step: '', what: 'finished', text: 'aborted' })
    },
  }
}
