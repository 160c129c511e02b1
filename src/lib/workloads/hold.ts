import { lastWriter } from '../procedure/last-writer.ts'
import type { Loan } from '../procedure/journal.ts'
import { noteOf } from '../procedure/saved-value.ts'
import type { ReadContext, Step, StepContext, StepState } from '../procedure/step.ts'
import { minutes, seconds } from '../system/units.ts'
import { closeFormerLoan } from './former-loan.ts'
import { nameOf, readOwner } from './find-owner.ts'
import { heldLines, restoreLine } from './held-lines.ts'
import { loanOn } from './loan-on.ts'
import { methodsIn, methodsPointer, patchAt, type SettingsOwner, showsWriters } from './strategy/owner.ts'
import { followsOf, untilPassedOn } from './strategy/passed-on.ts'
import { ensureStillStored } from './strategy/still-stored.ts'
import { storedNow } from './strategy/stored-now.ts'
import { untilWritable } from './strategy/until-writable.ts'
import { writeSettings } from './strategy/write-settings.ts'
import { keptMethods, loanId, methodsText, sameMethods } from './update-methods.ts'

/** Who borrows, for the journal. */
export interface Borrower {
  who: string
  procedure: string
  /** A person said: empty them again where somebody set others meanwhile. What was kept first stays kept. */
  again?: boolean
  /** It goes over several minors: whoever resumes it knows by the saved value, which nobody else can write. */
  severalMinors?: boolean
}

/**
 * Empties `workloadUpdateMethods`, and notes its value on the same object in the same patch: workload migrations race the virt-handler roll
 * (facts 2.8, section 8). Methods that are empty already are left alone and no loan is opened. On HyperConverged only an explicit
 * `[]` holds (hco 3), and it is done once the KubeVirt CR has it as well.
 */
export function holdWorkloadUpdates(found: SettingsOwner, borrower: Borrower): Step {
  return {
    id: 'hold-workload-updates',
    title: 'hold workload updates',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    follows: followsOf(found),
    risk: { undo: restoreLine(borrower), safeToLeave: 'days; hotplug and volume changes wait while held' },
    async check(cx): Promise<StepState> {
      const owner = await storedNow(cx.reader, found)
      return 'is' in owner ? owner : standingOf(cx, owner, borrower)
    },
    shows: showsWriters(found),
    async blame({ reader }, after) {
      const owner = await storedNow(reader, found)
      return 'is' in owner
        ? undefined
        : lastWriter(await readOwner(reader, owner), methodsPointer(owner), after)
    },
    async apply(cx) {
      const owner = await storedNow(cx.reader, found)
      await hold(cx, 'is' in owner ? found : owner, borrower)
    },
  }
}

async function standingOf(
  cx: ReadContext,
  owner: SettingsOwner,
  { again = false }: Borrower,
): Promise<StepState> {
  const methods = methodsIn(await readOwner(cx.reader, owner), owner)
  const loan = loanOn(owner, await cx.journal.loans())
  if (methods.length === 0) return (await untilPassedOn(cx, owner, [])) ?? held(loan)
  if (loan && !again && !sameMethods(methods, keptMethods(loan))) return changedWhileHeld(methods, loan)
  const change = `set workloadUpdateMethods of ${nameOf(owner)} from ${methods.join(', ')} to none, and keep the value`
  return (await untilWritable(cx.reader, owner)) ?? { is: 'todo', change }
}

function held(loan: Loan | undefined): StepState {
  return { is: 'done', ...(loan && { note: `kept ${keptMethods(loan).join(', ')}` }) }
}

async function hold(
  cx: StepContext,
  owner: SettingsOwner,
  { who, procedure, severalMinors = false }: Borrower,
): Promise<void> {
  const { reader, journal, clock } = cx
  await ensureStillStored(reader, owner)
  const holding = await readOwner(reader, owner)
  const { kind, ref, uid } = owner
  await closeFormerLoan(journal, loanId, owner)
  const loan = await journal.borrow({
    id: loanId,
    procedure,
    object: { apiVersion: kind.apiVersion, kind: kind.kind, namespace: ref.namespace, name: ref.name, uid },
    path: methodsPointer(owner),
    was: { present: true, value: [...methodsIn(holding, owner)] },
    by: who,
    at: clock.now().toISOString(),
    harmless: 'for days; hotplug and volume changes wait meanwhile',
    ...(severalMinors && { severalMinors }),
  })
  const patch = patchAt([[owner.strategy, { workloadUpdateMethods: [] }]], holding, noteOf(loan))
  await writeSettings(cx, owner, patch)
}

function changedWhileHeld(now: readonly string[], loan: Loan): StepState {
  return {
    is: 'blocked',
    reason: 'hold-changed',
    by: `workloadUpdateMethods was set to ${methodsText(now)} while kvup held it (kept: ${keptMethods(loan).join(', ')})`,
    remedy: [...heldLines(loan), 'kvup history'],
  }
}
