import type { Loan } from '../../procedure/journal.ts'
import type { ReadContext, Step } from '../../procedure/step.ts'
import { Patience } from '../../upgrade/patience.ts'
import { newControllerAtWork } from '../../upgrade/steps/new-controller-leads.ts'
import { settledFor } from '../../upgrade/steps/settled.ts'
import { fieldBack } from '../loans/field-back.ts'
import { rolledPool, unpausePool } from '../steps/unpause-pool.ts'
import { forecastStep, noneOutdated } from '../steps/vms-left.ts'
import { vmsMoved } from '../steps/vms-moved.ts'
import { giveMethodsBack } from './give-methods-back.ts'
import { inOrder, pausablePools } from './pausable-pools.ts'
import { poolsWithoutMachines } from './pools-without-machines.ts'
import { type EusWindow, settingsOf } from './window.ts'

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
    ...(await giveMethodsBack(settings, cx)),
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
  const gone = poolsWithoutMachines(await cx.journal.loans(), pools)
  return [...back, ...gone.flatMap((loan) => fieldBack(loan))]
}

/** What is borrowed besides methods and pools, by the open loans: whatever was taken is given back, whichever run took it. */
async function settingSteps({ journal }: ReadContext): Promise<readonly Step[]> {
  return (await journal.loans()).filter(isSetting).flatMap((loan) => fieldBack(loan))
}

const settings = ['machine-health-check', 'node-health-check', 'approval']
const isSetting = ({ id }: Loan): boolean => settings.some((name) => id === name || id.startsWith(`${name}/`))
