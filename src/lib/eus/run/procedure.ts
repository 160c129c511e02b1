import { poolStanding } from '../../facts/openshift/pool-standing.ts'
import { MachineConfigPools } from '../../cluster/kinds/openshift.ts'
import { rememberSteps } from '../../procedure/remember-steps.ts'
import type { Procedure, ReadContext, Step } from '../../procedure/step.ts'
import type { MachineRef } from '../../workloads/unblock/read-machine.ts'
import { isGuards } from '../../workloads/update/hold-again.ts'
import { whilePaused } from '../steps/borrowed-still.ts'
import { keptBaseline } from '../steps/kept.ts'
import { machinesBackNow } from '../steps/machines-back.ts'
import { operatorMinorIn } from '../steps/operator-in-step.ts'
import { operatorPart } from '../steps/operator-part.ts'
import { readPlatform } from '../steps/read-platform.ts'
import { withdrawRefused } from '../steps/withdraw-refused.ts'
import { endSteps, rewritten } from './end-steps.ts'
import { isHeldStill } from './held-still.ts'
import { hopSteps } from './hop-steps.ts'
import { isOperatorKnown } from './operator-known.ts'
import { preparation } from './preparation.ts'
import { type EusWindow, holdingOf } from './window.ts'
import { minorOfPlatform } from '../../releases/platform-version.ts'

/**
 * The whole window, in the order of ocp 0, 5.1 and 9.19. Where it stands is asked of the cluster at each step, so that running it again, anywhere, goes on;
 * which releases of the operator lie on the way is known only when OLM shows them. `lent`: the VMs that are said to be given back at its end.
 */
export function eusProcedure(window: EusWindow, lent: readonly MachineRef[] = []): Procedure {
  const remembered = rememberSteps(rewritten)
  const machines = machinesBackNow(lent)
  return {
    name: window.name,
    leaves: isGuards,
    leaving: (cx) =>
      withdrawRefused(cx, { name: window.name, leaveRequested: window.request.leaveRequested }),
    reached: async (cx) =>
      (await isThere(window, cx)) &&
      (await areNodesThere(cx)) &&
      !(await keptBaseline(cx.journal, window.name)) &&
      (await isOperatorKnown(window, cx)),
    steps: async (cx) => remembered(await stepsNow(window, machines, cx)),
  }
}

/**
 * Once platform and operator are there, nothing is borrowed any more: only the way back out is left. What VMs were lent goes back at its very end; where windows follow one
 * another the drains of the next one need it still.
 */
async function stepsNow(
  window: EusWindow,
  machines: ReturnType<typeof machinesBackNow>,
  cx: ReadContext,
): Promise<readonly Step[]> {
  const end = await endSteps(window, cx)
  if (await isThere(window, cx)) {
    const back = window.to === window.plan.to ? await machines(cx.reader) : []
    return [...(await lastOperator(window, cx)), ...end, ...back]
  }
  const hops = await Promise.all(window.hops.map(async (hop) => hopSteps(window, hop, cx)))
  const watched = hops.flat().map((step) => whilePaused(step, holdingOf(window)))
  return eachOnce([...(await preparation(window, cx)), ...watched, ...end])
}

/** On a plain way pools are waited for before the operator follows, and not again. */
function eachOnce(steps: readonly Step[]): readonly Step[] {
  const seen = new Set<string>()
  return steps.filter(({ id }) => !seen.has(id) && seen.add(id))
}

/** A run that was cut off while the last release of the operator settled has to see that through. */
async function lastOperator(window: EusWindow, cx: ReadContext): Promise<readonly Step[]> {
  const { operator } = window.plan
  if (operator === undefined || !(await isHeldStill(window, cx))) return []
  const stops = window.hops.findLast(({ minor }) => minor === window.to)?.operators ?? []
  return operatorPart(window, { minor: window.to, stops, operator }, cx)
}

/** The platform has reached the target in full, and the operator belongs to it. */
async function isThere(window: EusWindow, cx: ReadContext): Promise<boolean> {
  const { to, releases } = window
  const { standing } = await readPlatform(cx.reader)
  if (standing.state !== 'idle' || minorOfPlatform(standing.version) !== to) return false
  const { minor } = await operatorMinorIn(cx.reader, releases)
  return minor === undefined ? isLeftUnknown(window, cx) : minor === to
}

/** What the operator does not say proves nothing while a window waits for it; on the way back out it was asked before. That nothing is to do is `isOperatorKnown`'s to say. */
async function isLeftUnknown(window: EusWindow, cx: ReadContext): Promise<boolean> {
  return window.plan.operator === undefined || !(await isHeldStill(window, cx))
}

/** Pools that somebody keeps paused are theirs. */
async function areNodesThere({ reader }: ReadContext): Promise<boolean> {
  const pools = (await reader.list(MachineConfigPools)).map(poolStanding)
  return pools.every(({ paused, state }) => paused || state === 'updated')
}
