import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import type { EusWindow } from '../run/window.ts'
import { masterRolled } from '../steps/master-rolled.ts'
import { operatorPart } from '../steps/operator-part.ts'
import { readPlatform } from '../steps/read-platform.ts'
import type { Stop } from '../steps/at-stop.ts'
import { platformUpdated } from '../steps/platform-updated.ts'
import type { AbortState } from './abort-state.ts'
import { minorOfPlatform } from '../../releases/platform-version.ts'

/** A hop that was accepted is seen to its end: platform, master pool, and where it left the minor the operator behind it (night E2). */
export async function hopToItsEnd(
  window: EusWindow,
  { at, leavesMinor }: AbortState,
  cx: ReadContext,
): Promise<readonly Step[]> {
  const minor = minorOfPlatform(at)
  const { operator } = window.plan
  const stop: Stop = leavesMinor ? { minor } : { minor, version: at }
  const key = leavesMinor ? minor : at
  const stops = window.hops.find((hop) => hop.minor === minor)?.operators ?? []
  return [
    platformAtRest(key),
    masterRolled({ id: `control-plane-${key}`, stop, name: window.name }),
    ...(operator === undefined || !leavesMinor
      ? []
      : await operatorPart(window, { minor, stops, operator }, cx)),
  ]
}

/** By the release that it follows at each look, and not before it is idle: between two releases of one minor the minor was reached before. */
export function platformAtRest(key: string): Step {
  const id = `platform-${key}`
  return {
    ...platformUpdated({ id, stop: { minor: key } }),
    async check(cx): Promise<StepState> {
      const { standing } = await readPlatform(cx.reader)
      const { target = '', state: platform } = standing
      const stop = { minor: minorOfPlatform(target), version: target }
      const state = await platformUpdated({ id, stop }).check(cx)
      return state.is === 'done' && platform !== 'idle'
        ? { is: 'waiting', on: `the platform to be through with ${target}`, remedy: ['oc adm upgrade'] }
        : state
    },
  }
}
