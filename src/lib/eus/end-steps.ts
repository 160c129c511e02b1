import type { Override } from '../engine/journal.ts'
import type { ReadContext, Step, StepState } from '../engine/step.ts'
import { newControllerAtWork, Patience, settledFor } from '../upgrade/steps/component-rollout.ts'
import { fieldRestored } from './settings/setting-steps.ts'
import { rolledPool, unpausePool } from './steps/pool-steps.ts'
import { forecastStep, noneOutdated, vmsMoved } from './steps/eus-vm-steps.ts'
import { inOrder, pausablePools, poolsWithoutNodes } from './steps/platform-rollout.ts'
import { type EusWindow, settingsOf } from './window.ts'
import { minutes, seconds } from '../kube/clock.ts'
import {
  methodsIn,
  nameOf,
  readOwner,
  type SettingsOwner,
  showsWriters,
  storedNow,
} from '../vms/strategy/settings-owner.ts'
import { closeMethodsOverride, restoreSteps } from '../vms/pause-updates.ts'
import {
  keptMethods,
  overrideId,
  overrideOn,
  methodsText,
  restoreLine,
  sameMethods,
} from '../vms/update-methods.ts'
import { overrideNamed } from './settings/saved-setting.ts'

/** They name the HyperConverged in the version in which it is stored, which an upgrade of its operator may change: made anew whenever steps are listed. */
export const rewritten: ReadonlySet<string> = new Set([
  'hold-workload-updates',
  'give-back-workload-updates',
  'workload-updates-passed-on',
])

/**
 * The way back out, in the order of ocp 9.19: settled, what VMs will do is said, methods given back, VMs moved, then pools one at a time, and last
 * what watches and approves. From any minor: an abort takes it as well.
 */
export async function endSteps(window: EusWindow, cx: ReadContext): Promise<readonly Step[]> {
  const { kubevirt, who, request } = window
  const settings = await settingsOf(window, cx.reader)
  return [
    settledFor(kubevirt, {
      id: 'settled',
      title: 'KubeVirt is settled',
      settleMs: request.settleMs,
      patience: new Patience(),
    }),
    newControllerAtWork(kubevirt),
    forecastStep(settings, request),
    ...(await restoreMethods(settings, cx)),
    vmsMoved(kubevirt, { who, follow: false, since: cx.clock.now().getTime(), settings }, request),
    noneOutdated(
      { id: 'none-outdated', title: 'no VM left on an old virt-launcher', risk: 'vms-that-stay' },
      request,
    ),
    ...(await poolSteps(window, cx)),
    ...(await settingSteps(cx)),
  ]
}

async function poolSteps(window: EusWindow, cx: ReadContext): Promise<readonly Step[]> {
  const { name, kubevirt, request } = window
  const pools = inOrder(await pausablePools(cx.reader), request.poolOrder)
  if (window.way === 'plain') return pools.map((pool) => rolledPool({ pool, name }))
  const { accepted, command } = request
  const back = pools.flatMap((pool) => unpausePool({ pool, kubevirt, name, accepted, command }))
  const gone = poolsWithoutNodes(await cx.journal.loans(), pools)
  return [...back, ...gone.flatMap((loan) => fieldRestored(loan))]
}

/** What is borrowed besides methods and pools, by the open loans: whatever was taken is given back, whichever run took it. */
async function settingSteps({ journal }: ReadContext): Promise<readonly Step[]> {
  return (await journal.loans()).filter(isSetting).flatMap((loan) => fieldRestored(loan))
}

const settings = ['machine-health-check', 'node-health-check', 'approval']
const isSetting = ({ id }: Override): boolean =>
  settings.some((name) => id === name || id.startsWith(`${name}/`))

/** The methods go back to the object that they were taken from; where another one stands in its place, somebody is asked. */
async function restoreMethods(
  owner: SettingsOwner,
  { journal }: Pick<ReadContext, 'journal'>,
): Promise<readonly Step[]> {
  const loans = await journal.loans()
  const ours = overrideOn(owner, loans)
  if (ours !== undefined) return restoreSteps(owner, { takenFrom: ours.object.uid })
  const former = overrideNamed(loans, overrideId)
  return former === undefined ? restoreSteps(owner) : [toAnother(owner, former)]
}

/** It may have come with what was borrowed at the time: out of a backup, or a repository. */
function toAnother(found: SettingsOwner, loan: Override): Step {
  return {
    id: 'give-back-workload-updates',
    title: 'give workload updates back',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 5 * seconds,
    watches: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    shows: showsWriters(found),
    async check({ reader, journal }): Promise<StepState> {
      if (overrideNamed(await journal.loans(), overrideId)?.object.uid !== loan.object.uid)
        return { is: 'done' }
      const owner = await storedNow(reader, found)
      if ('is' in owner) return owner
      const now = methodsIn(await readOwner(reader, owner), owner)
      return sameMethods(now, keptMethods(loan))
        ? {
            is: 'todo',
            change: `note workloadUpdateMethods of ${nameOf(owner)} as given back: it is ${methodsText(now)} again`,
          }
        : madeAnew(owner, loan, now)
    },
    apply: (cx) => closeMethodsOverride(cx, found, `the ${found.kind.kind} that it was taken from is gone`),
  }
}

function madeAnew(owner: SettingsOwner, loan: Override, now: readonly string[]): StepState {
  const kept = methodsText(keptMethods(loan))
  const restore = restoreLine(loan)
  return {
    is: 'blocked',
    reason: 'changed-meanwhile',
    by: `${nameOf(owner)} was deleted and made anew since workloadUpdateMethods was borrowed (kept: ${kept}); it reads ${methodsText(now)}`,
    remedy: [
      `${restore} --overwrite     sets the kept value on the new one`,
      `${restore} --keep-current     closes the loan and leaves it as it is`,
    ],
  }
}
