import type { Reader } from '../../lib/cluster/cluster.ts'
import { MachineConfigPools } from '../../lib/cluster/kinds/openshift.ts'
import { poolsMissing } from '../../lib/facts/pools-updated.ts'
import { statusChanges } from '../../lib/facts/status-changes.ts'
import type { StatusReport } from '../../lib/facts/status-report.ts'
import { missingFor, type WaitCondition } from '../../lib/facts/wait-condition.ts'
import { meaningOf, remarkOn } from '../../lib/procedure/failures.ts'
import { type Clock, ticks } from '../../lib/system/clock.ts'
import { blocked, forbidden, isNotFound } from '../../lib/system/errors.ts'
import { minutes } from '../../lib/system/units.ts'
import { roleRemedy } from '../../lib/system/role-remedy.ts'
import { outdatedUnseen } from './outdated-unseen.ts'

export interface Waiting {
  reader: Reader
  clock: Clock
  signal: AbortSignal
  /** Told at every look that differs; `missing` is undefined where the condition holds, the report where KubeVirt is not asked about. */
  seen(report: StatusReport | undefined, missing: string | undefined): void
  /** Told what the wait goes on in spite of. */
  remark(line: string): void
  /** Told before a wait that is not for a change. */
  told?(line: string): void
}

/** Between two looks where no change tells us, ms. */
const lookAgain = 5000

/**
 * Ends when the condition holds; throws the signal's reason, and what makes waiting useless. A server that is away for a
 * while is waited for, but not before it has answered once.
 */
export async function untilItHolds(condition: WaitCondition, waiting: Waiting): Promise<void> {
  const { clock, signal } = waiting
  const before: Before = { answered: false }
  for (;;) {
    try {
      const holds =
        condition.is === 'pools' ? poolsHold(waiting, before) : holdsNow(condition, waiting, before)
      if (await holds) return
    } catch (error) {
      if (!before.answered || meaningOf(error) !== 'retry') throw error
      waiting.remark(remarkOn(error))
    }
    await clock.sleep(lookAgain, signal)
  }
}

interface Before {
  answered: boolean
  /** When the condition held for the first time but for what cannot be seen yet, ms. */
  heldAt?: number
}

/** For how long a doubt is waited for behind what KubeVirt says, ms. */
const doubtsAtMost = 2 * minutes

function isOver(before: Before, clock: Clock): boolean {
  const now = ticks(clock)
  before.heldAt ??= now
  return now - before.heldAt >= doubtsAtMost
}

/** Pools are few and take minutes: they are listed again. */
async function poolsHold(waiting: Waiting, before: Before): Promise<boolean> {
  const pools = await waiting.reader.list(MachineConfigPools).catch((error: unknown) => {
    throw isNotFound(error) ? noPools() : error
  })
  before.answered = true
  const missing = poolsMissing(pools)
  waiting.seen(undefined, missing)
  return missing === undefined
}

function noPools(): Error {
  return blocked('no-pools', 'this cluster has no MachineConfigPools: they are of OpenShift and OKD', {
    remedy: 'kubectl get nodes',
  })
}

/** Follows until a look has all that is asked; then false where that look alone does not prove it. */
async function holdsNow(condition: WaitCondition, waiting: Waiting, before: Before) {
  const { reader, clock } = waiting
  for await (const report of statusChanges(waiting)) {
    before.answered = true
    refuseHopeless(condition, report)
    const missing = missingFor(condition, report)
    const unseen =
      missing === undefined && condition.is === 'workloads'
        ? await outdatedUnseen(reader, clock, { isOver: isOver(before, clock) })
        : undefined
    waiting.seen(report, missing ?? unseen)
    if (missing === undefined) return unseen === undefined
  }
  return false
}

function refuseHopeless(condition: WaitCondition, { installation, next, workloads }: StatusReport): void {
  if (!installation)
    throw blocked('no-kubevirt-cr', 'there is no KubeVirt resource: nothing will ever settle', {
      remedy: next ?? [],
    })
  if (condition.is === 'workloads' && workloads.outdated.labelled === undefined)
    throw forbidden('instances-not-readable', 'the virtual machine instances may not be read', {
      remedy: roleRemedy('kvup-view'),
    })
}
