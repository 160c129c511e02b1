import { shellWord } from '../../system/shell-word.ts'
import type { Reader } from '../../cluster/cluster.ts'
import { type MachineConfigPool, MachineConfigPools } from '../../cluster/kinds/openshift.ts'
import { isMasterPool } from '../../facts/openshift/pool-standing.ts'
import type { Loan } from '../../procedure/journal.ts'
import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import type { Owner } from '../../workloads/update-methods.ts'
import { showsBorrowed } from '../loans/borrowable.ts'
import { fieldOfLoan } from '../loans/fields.ts'
import { findBorrowed, valueText, whatIs } from '../loans/find-borrowed.ts'
import { type Baseline, keptBaseline } from './kept.ts'
import { methodsSetAgain } from './methods-still.ts'

export interface Watching {
  /** Of the procedure. */
  name: string
  accepted: readonly string[]
  /** Whose VMs are held still. */
  kubevirt: Owner
  /** The line whose step it is. */
  command: string
}

/**
 * The same step, but it ends as soon as somebody changes what is borrowed while the platform moves: methods that are set again move VMs in the middle of the window, a pool
 * that is unpaused or appears rolls to a release in between, a health check that goes on replaces machines that reboot (night E5, E7).
 */
export function whilePaused(step: Step, watching: Watching): Step {
  return {
    ...step,
    async check(cx): Promise<StepState> {
      const state = await step.check(cx)
      if (state.is === 'done' || state.is === 'blocked') return state
      return (await disturbance(cx, watching)) ?? state
    },
  }
}

async function disturbance(
  { reader, journal }: ReadContext,
  watching: Watching,
): Promise<StepState | undefined> {
  const [loans, began] = [await journal.loans(), await keptBaseline(journal, watching.name)]
  return (
    (await methodsSetAgain(reader, loans, watching)) ??
    (began?.way === 'plain'
      ? undefined
      : poolsRolling(await reader.list(MachineConfigPools), { loans, began, watching })) ??
    (await settingChanged(reader, loans, watching))
  )
}

interface Known {
  loans: readonly Loan[]
  began: Baseline | undefined
  watching: Watching
}

function poolsRolling(
  pools: readonly MachineConfigPool[],
  { loans, began, watching: { accepted, command } }: Known,
): StepState | undefined {
  const paused = new Set(loans.filter(isPause).map(({ object }) => object.uid))
  const unpaused = pools.find(({ metadata, spec }) => paused.has(metadata.uid ?? '') && spec?.paused !== true)
  if (unpaused) return unpausedBy(unpaused.metadata.name, command)
  const known = began?.pools
  const appeared = pools.find(
    (pool) =>
      known !== undefined &&
      !isMasterPool(pool) &&
      pool.spec?.paused !== true &&
      (pool.status?.machineCount ?? 0) > 0 &&
      !known.includes(pool.metadata.name),
  )
  return appeared && !accepted.includes('pool-appeared')
    ? poolAppeared(appeared.metadata.name, command)
    : undefined
}

/** Health checks and the approval. Where it was accepted that they are other ones it was said at the start of the run. */
async function settingChanged(
  reader: Reader,
  loans: readonly Loan[],
  { name, accepted, command }: Watching,
): Promise<StepState | undefined> {
  if (accepted.includes('borrowed-changed')) return undefined
  for (const loan of loans.filter((one) => one.procedure === name && !isPause(one))) {
    const field = fieldOfLoan(loan)
    const found = field && (await findBorrowed(reader, field, loan.object.uid))
    if (field === undefined || found?.is !== 'there') continue
    const { object } = found
    if (field.isTaken(object) || field.suffices?.(object) === true) continue
    return {
      is: 'blocked',
      reason: 'borrowed-changed',
      by: `${whatIs(field)} was ${field.meanwhile} by kvup, and somebody set it to ${valueText(field.valueIn(object))} in the middle of the window`,
      remedy: [
        `${command} --accept borrowed-changed     takes it again`,
        `kvup eus restore ${shellWord(loan.id)} --keep-current     leaves it as it is and forgets the kept value`,
        `${showsBorrowed(field)}     shows who writes it`,
      ],
    }
  }
  return undefined
}

const isPause = ({ id }: Loan): boolean => id.startsWith('pool-paused/')

function unpausedBy(pool: string, command: string): StepState {
  return {
    is: 'blocked',
    reason: 'borrowed-changed',
    by: `somebody unpaused pool ${pool}, which kvup has paused: its nodes follow the platform now`,
    remedy: [
      `${command} --accept borrowed-changed     pauses it again`,
      `kvup eus restore pool-paused/${pool} --keep-current     leaves it unpaused and forgets the kept value`,
      `oc get machineconfigpool ${pool} -o yaml --show-managed-fields     shows who wrote it`,
    ],
  }
}

/** Not one of those that were there at the beginning. */
export function poolAppeared(pool: string, command: string): Extract<StepState, { is: 'blocked' }> {
  return {
    is: 'blocked',
    reason: 'pool-appeared',
    by: `pool ${pool} appeared since the window was opened, and is not paused: its nodes follow the platform`,
    remedy: [
      `${command} --accept pool-appeared     pauses and keeps it as well`,
      `oc patch machineconfigpool ${pool} --type=merge -p '{"spec":{"paused":true}}'     pauses it, and leaves that to you`,
    ],
  }
}
