import { shellWord } from '../../kube/shell-line.ts'
import type { Reader } from '../../kube/cluster.ts'
import { type MachineConfigPool, MachineConfigPools } from '../../kube/kinds/openshift-kinds.ts'
import { isMasterPool } from '../../openshift/machine-config-pools.ts'
import type { Override } from '../../engine/journal.ts'
import type { ReadContext, Step, StepState } from '../../engine/step.ts'
import { keptMethods, overrideId, methodsOf, methodsText, type Owner } from '../../vms/update-methods.ts'
import { getOverridden, showsOverridden, valueText, whatIs } from './saved-setting.ts'
import { fieldOfOverride } from './eus-settings.ts'
import { type Baseline, keptBaseline } from '../baseline.ts'
import { nameOf, readOwner } from '../../vms/strategy/settings-owner.ts'

interface Watching {
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
  loans: readonly Override[]
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
  loans: readonly Override[],
  { name, accepted, command }: Watching,
): Promise<StepState | undefined> {
  if (accepted.includes('borrowed-changed')) return undefined
  for (const loan of loans.filter((one) => one.procedure === name && !isPause(one))) {
    const field = fieldOfOverride(loan)
    const found = field && (await getOverridden(reader, field, loan.object.uid))
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
        `${showsOverridden(field)}     shows who writes it`,
      ],
    }
  }
  return undefined
}

const isPause = ({ id }: Override): boolean => id.startsWith('pool-paused/')

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

interface ChangeQuestion {
  /** Of the procedure. */
  name: string
  accepted: readonly string[]
  kubevirt: Owner
  /** The line whose step it is. */
  command: string
}

/**
 * Somebody set the methods in the middle of the window. Read from the KubeVirt, whoever owns them: what stands there moves VMs, and it is readable in every moment of an upgrade of
 * the operator. Throws ApiError, and `blocked` where the KubeVirt is another one.
 */
async function methodsSetAgain(
  reader: Reader,
  loans: readonly Override[],
  holding: ChangeQuestion,
): Promise<StepState | undefined> {
  const now = methodsOf(await readOwner(reader, holding.kubevirt))
  return now.length === 0
    ? undefined
    : setAgain(
        now,
        loans.find(({ id }) => id === overrideId),
        holding,
      )
}

/** The hold of a window: done by an earlier run, and undone by somebody since, is asked about and not quietly done again. */
export function heldOnce(hold: Step, holding: ChangeQuestion): Step {
  return {
    ...hold,
    async check(cx): Promise<StepState> {
      const state = await hold.check(cx)
      const isUndone = state.is === 'todo' || (state.is === 'blocked' && state.reason === 'hold-changed')
      if (!isUndone || holding.accepted.includes('borrowed-changed')) return state
      const loans = await cx.journal.loans()
      const loan = loans.find(({ id, procedure }) => id === overrideId && procedure === holding.name)
      if (loan === undefined) return state
      return setAgain(methodsOf(await readOwner(cx.reader, holding.kubevirt)), loan, holding)
    },
  }
}

function setAgain(
  now: readonly string[],
  loan: Override | undefined,
  { kubevirt, command }: ChangeQuestion,
): StepState {
  const before = loan === undefined ? 'they were none before' : `kept: ${methodsText(keptMethods(loan))}`
  return {
    is: 'blocked',
    reason: 'borrowed-changed',
    by: `workload updates are held (${before}), and somebody set workloadUpdateMethods of ${nameOf(kubevirt)} to ${methodsText(now)} in the middle of the window: VMs move`,
    remedy: [
      `${command} --accept borrowed-changed     empties them again`,
      'kvup history     shows when they were borrowed',
      `kubectl -n ${kubevirt.ref.namespace} get kubevirts,hyperconvergeds -o yaml --show-managed-fields     shows who writes them`,
    ],
  }
}
