import type { Override } from '../engine/journal.ts'
import { type Procedure, type ReadContext, rememberSteps, type Step } from '../engine/step.ts'
import { settledFor } from '../upgrade/steps/component-rollout.ts'
import { type Meanwhile, restoreProcedure } from '../vms/pause-updates.ts'
import { fieldRestored } from './settings/setting-steps.ts'
import { rewritten } from './eus-procedure.ts'
import { type EusWindow, settingsOf } from './window.ts'
import { forecastStep, noneOutdated, vmsMoved, vmsRestored } from './steps/eus-vm-steps.ts'
import { abortState, closeWindow, isLeftUnclosed, platformAtRest, restoreOf } from './abort-procedure.ts'
import { channelBack, withdrawRequest } from './steps/update-acceptance.ts'
import { inOrder, pausablePools, poolsWithoutNodes } from './steps/platform-rollout.ts'
import type { VmRef } from '../vms/unblock/vm-overrides.ts'
import { rolledPool, unpausePool } from './steps/pool-steps.ts'

interface Restoring {
  /** The overrides to give back, of those that are open. */
  overrides: readonly Override[]
  meanwhile: Meanwhile
  /** VMs whose settings are given back, behind all else. */
  vms: readonly VmRef[]
}

/**
 * The settings alone, wherever the window stands, in the order of its end: requests, methods, pools, the rest. With the last override the window is closed, for what
 * was kept for it must not pass for that of the next one.
 */
export function restoreWindow(window: EusWindow, restoring: Restoring): Procedure {
  const wanted = new Set(restoring.overrides.map(({ id }) => id))
  const name = restoreOf(window.name)
  const remembered = rememberSteps(rewritten)
  const vms = vmsRestored(restoring.vms, restoring.meanwhile)
  return {
    name,
    overrides: [...wanted],
    async reached(cx) {
      for (const step of vms) if ((await step.check(cx)).is !== 'done') return false
      const { journal } = cx
      return (
        !(await journal.overrides()).some(({ id }) => wanted.has(id)) &&
        !(await isLeftUnclosed(journal, window.name))
      )
    },
    steps: async (cx) =>
      remembered([
        ...(await stepsNow(window, restoring, cx)),
        ...vms,
        closeWindow({ name: window.name, text: 'everything was restored' }),
      ]),
  }
}

async function stepsNow(
  window: EusWindow,
  { overrides, meanwhile }: Restoring,
  cx: ReadContext,
): Promise<readonly Step[]> {
  const named = (id: string) => overrides.find((override) => override.id === id)
  const methods = named('workload-updates')
  const pools = overrides.filter(({ id }) => id.startsWith('pool-paused/'))
  const rest = overrides.filter((override) => !pools.includes(override))
  return [
    ...(named('desired-update') ? [withdrawRequest(window.name, meanwhile)] : []),
    ...(named('platform-channel')
      ? [await channelBack(cx, { isAccepted: (await abortState(window, cx)).accepted, meanwhile })]
      : []),
    ...(methods ? await methodsRestored(window, { override: methods, meanwhile }, cx) : []),
    ...(await poolsRestored(window, { overrides: pools, meanwhile }, cx)),
    ...rest.flatMap((override) => fieldRestored(override, meanwhile)),
  ]
}

async function methodsRestored(
  window: EusWindow,
  { override, meanwhile }: { override: Override; meanwhile: Meanwhile },
  cx: ReadContext,
): Promise<readonly Step[]> {
  const owner = await settingsOf(window, cx.reader)
  const settled = settledFor(owner.kubevirt, {
    id: 'healthy',
    title: 'verify that KubeVirt is healthy',
    stableMs: window.request.stableMs,
  })
  const steps = await restoreProcedure({ owner, meanwhile, settled, takenFrom: override.object.uid }).steps(
    cx,
  )
  return meanwhile === 'keep-current' ? steps : [forecastStep(owner, window.request), ...steps]
}

/**
 * Pools that are given back alone, under the same conditions as at the end of a window (night E5): the platform at rest, no VM left on an old
 * virt-launcher or accepted by name, and then one pool at a time, behind those that still roll. What stays as somebody set it is only written down.
 */
async function poolsRestored(
  window: EusWindow,
  { overrides, meanwhile }: { overrides: readonly Override[]; meanwhile: Meanwhile },
  cx: ReadContext,
): Promise<readonly Step[]> {
  if (overrides.length === 0) return []
  if (meanwhile === 'keep-current') return overrides.flatMap((override) => fieldRestored(override, meanwhile))
  const { name, kubevirt, request } = window
  const { accepted, command } = request
  const pools = inOrder(await pausablePools(cx.reader), request.poolOrder)
  const wanted = new Set(overrides.map(({ id }) => id))
  const open = new Set((await cx.journal.overrides()).map(({ id }) => id))
  const others = pools.filter((pool) => !wanted.has(overrideOf(pool)) && !open.has(overrideOf(pool)))
  const ours = pools.filter((pool) => wanted.has(overrideOf(pool)))
  return [
    ...(await untilQuiet(window, cx)),
    ...others.map((pool) => rolledPool({ pool, name })),
    ...ours.flatMap((pool) => unpausePool({ pool, kubevirt, name, accepted, command, meanwhile })),
    ...poolsWithoutNodes(overrides, pools).flatMap((override) => fieldRestored(override, meanwhile)),
  ]
}

const overrideOf = (pool: { name: string }): string => `pool-paused/${pool.name}`

async function untilQuiet(window: EusWindow, cx: ReadContext): Promise<readonly Step[]> {
  const { kubevirt, who, request } = window
  const { at } = await abortState(window, cx)
  const settings = await settingsOf(window, cx.reader)
  return [
    platformAtRest(at),
    vmsMoved(kubevirt, { who, follow: false, since: cx.clock.now().getTime(), settings }, request),
    noneOutdated(
      { id: 'none-outdated', title: 'no VM left on an old virt-launcher', risk: 'vms-that-stay' },
      request,
    ),
  ]
}
