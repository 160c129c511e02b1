import type { Loan } from '../../procedure/journal.ts'
import type { ReadContext, Step } from '../../procedure/step.ts'
import type { Meanwhile } from '../../workloads/restore.ts'
import { fieldBack } from '../loans/field-back.ts'
import { inOrder, pausablePools } from '../run/pausable-pools.ts'
import { poolsWithoutMachines } from '../run/pools-without-machines.ts'
import { type EusWindow, settingsOf } from '../run/window.ts'
import { rolledPool, unpausePool } from '../steps/unpause-pool.ts'
import { noneOutdated } from '../steps/vms-left.ts'
import { vmsMoved } from '../steps/vms-moved.ts'
import { abortState } from './abort-state.ts'
import { platformAtRest } from './hop-to-its-end.ts'

/**
 * Pools that are given back alone, under the same conditions as at the end of a window (night E5): the platform at rest, no VM left on an old
 * virt-launcher or accepted by name, and then one pool at a time, behind those that still roll. What stays as somebody set it is only written down.
 */
export async function poolsBack(
  window: EusWindow,
  { loans, meanwhile }: { loans: readonly Loan[]; meanwhile: Meanwhile },
  cx: ReadContext,
): Promise<readonly Step[]> {
  if (loans.length === 0) return []
  if (meanwhile === 'keep-current') return loans.flatMap((loan) => fieldBack(loan, meanwhile))
  const { name, kubevirt, request } = window
  const { accepted, command } = request
  const pools = inOrder(await pausablePools(cx.reader), request.poolOrder)
  const wanted = new Set(loans.map(({ id }) => id))
  const open = new Set((await cx.journal.loans()).map(({ id }) => id))
  const others = pools.filter((pool) => !wanted.has(loanOf(pool)) && !open.has(loanOf(pool)))
  const ours = pools.filter((pool) => wanted.has(loanOf(pool)))
  return [
    ...(await untilQuiet(window, cx)),
    ...others.map((pool) => rolledPool({ pool, name })),
    ...ours.flatMap((pool) => unpausePool({ pool, kubevirt, name, accepted, command, meanwhile })),
    ...poolsWithoutMachines(loans, pools).flatMap((loan) => fieldBack(loan, meanwhile)),
  ]
}

const loanOf = (pool: { name: string }): string => `pool-paused/${pool.name}`

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
