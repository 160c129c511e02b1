import type { KubeObject } from '../cluster/object.ts'
import type { Loan } from '../procedure/journal.ts'
import { hasNote, noNote, noteGone } from '../procedure/saved-value.ts'
import type { Step, StepContext, StepState } from '../procedure/step.ts'
import { blocked } from '../system/errors.ts'
import { minutes, seconds } from '../system/units.ts'
import { nameOf, readOwner } from './find-owner.ts'
import { restoreLine } from './held-lines.ts'
import { methodsIn, passesOn, patchAt, type SettingsOwner, showsWriters } from './strategy/owner.ts'
import { followsOf, untilPassedOn } from './strategy/passed-on.ts'
import { ensureStillStored } from './strategy/still-stored.ts'
import { storedNow } from './strategy/stored-now.ts'
import { untilWritable } from './strategy/until-writable.ts'
import { writeSettings } from './strategy/write-settings.ts'
import { keptMethods, loanId, methodsText, openLoan, sameMethods } from './update-methods.ts'

export interface GiveBackOptions {
  /** Also where somebody else set another value meanwhile. */
  overwrite?: boolean
  /** The uid that the loan is of: another one than the owner's where that object was deleted and made anew. */
  takenFrom?: string
}

/**
 * All that it takes: where a HyperConverged owns the methods, the loan is closed in a step of its own, once KubeVirt has them
 * (hco 5).
 */
export function giveBackSteps(owner: SettingsOwner, options: GiveBackOptions = {}): readonly Step[] {
  const give = giveWorkloadUpdatesBack(owner, options)
  return passesOn(owner) ? [give, closeOncePassedOn(owner, options)] : [give]
}

/**
 * Sets `workloadUpdateMethods` back to the kept value; on a plain KubeVirt it closes the loan once that was read back. Belongs behind
 * a step that saw the control plane settled (contract "Loans"). Somebody else's value is never overwritten unasked.
 */
export function giveWorkloadUpdatesBack(
  found: SettingsOwner,
  { overwrite = false, takenFrom = found.uid }: GiveBackOptions = {},
): Step {
  return {
    id: 'give-back-workload-updates',
    title: 'give workload updates back',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 5 * seconds,
    follows: [],
    dependsOn: ['hold-workload-updates'],
    risk: { undo: 'kvup upgrade --leave-held leaves them held', safeToLeave: 'always' },
    async check({ reader, journal }): Promise<StepState> {
      const loan = openLoan(await journal.loans(), takenFrom)
      if (!loan) return { is: 'done' }
      const owner = await storedNow(reader, found)
      if ('is' in owner) return owner
      const state = standingOf(loan, { owner, holding: await readOwner(reader, owner), overwrite })
      return state.is === 'todo' ? ((await untilWritable(reader, owner)) ?? state) : state
    },
    async apply(cx) {
      const loan = openLoan(await cx.journal.loans(), takenFrom)
      const owner = await storedNow(cx.reader, found)
      if (loan) await giveBack(cx, 'is' in owner ? found : owner, loan)
    },
  }
}

interface Now {
  owner: SettingsOwner
  holding: KubeObject
  overwrite: boolean
}

function standingOf(loan: Loan, { owner, holding, overwrite }: Now): StepState {
  const now = methodsIn(holding, owner)
  const kept = keptMethods(loan)
  if (sameMethods(now, kept))
    return passesOn(owner)
      ? { is: 'done' }
      : {
          is: 'todo',
          change: `note workloadUpdateMethods of ${nameOf(owner)} as given back: it is ${kept.join(', ')} again`,
        }
  if (now.length === 0 || overwrite)
    return { is: 'todo', change: `set workloadUpdateMethods back to ${kept.join(', ')}` }
  return changedMeanwhile(now, loan)
}

function changedMeanwhile(now: readonly string[], loan: Loan): StepState {
  const kept = keptMethods(loan)
  const restore = restoreLine(loan)
  return {
    is: 'blocked',
    reason: 'changed-meanwhile',
    by: `workloadUpdateMethods was ${kept.join(', ')} when it was borrowed; somebody set it to ${methodsText(now)} meanwhile`,
    remedy: [
      `${restore} --keep-current     closes the loan and leaves their value`,
      `${restore} --overwrite        sets the kept value`,
    ],
  }
}

/**
 * Writes the kept value with optimistic concurrency and takes its note off in the same patch, unless it has to be passed on first: until then a way back is still needed. Reads it
 * back, and only then writes down that the loan is closed.
 */
async function giveBack(cx: StepContext, owner: SettingsOwner, loan: Loan): Promise<void> {
  const { reader, journal } = cx
  await ensureStillStored(reader, owner)
  const holding = await readOwner(reader, owner)
  const kept = keptMethods(loan)
  const fields = sameMethods(methodsIn(holding, owner), kept) ? {} : { workloadUpdateMethods: [...kept] }
  const note = passesOn(owner) ? {} : noteGone(holding, loanId)
  if (Object.keys({ ...fields, ...note }).length > 0)
    await writeSettings(cx, owner, patchAt([[owner.strategy, fields]], holding, note))
  const after = methodsIn(await readOwner(reader, owner), owner)
  if (!sameMethods(after, kept))
    throw blocked(
      'give-back-undone',
      `workloadUpdateMethods was set back to ${kept.join(', ')}, but reads ${methodsText(after)}`,
      {
        remedy: [`kvup workloads strategy set --methods ${kept.join(',')}`, showsWriters(owner)],
      },
    )
  if (!passesOn(owner)) await journal.release(loanId)
}

/** The loan stays open until the value took effect: until then a way back is still needed. */
function closeOncePassedOn(found: SettingsOwner, { takenFrom = found.uid }: GiveBackOptions): Step {
  return {
    id: 'workload-updates-passed-on',
    title: 'KubeVirt has workload updates back',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    closes: true,
    follows: followsOf(found),
    dependsOn: ['hold-workload-updates', 'give-back-workload-updates'],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx): Promise<StepState> {
      const loan = openLoan(await cx.journal.loans(), takenFrom)
      if (!loan) return { is: 'done' }
      const owner = await storedNow(cx.reader, found)
      if ('is' in owner) return owner
      const kept = keptMethods(loan)
      const now = methodsIn(await readOwner(cx.reader, owner), owner)
      if (!sameMethods(now, kept)) return changedMeanwhile(now, loan)
      const waiting = await untilPassedOn(cx, owner, kept)
      const there = `${nameOf(owner.kubevirt)} has ${kept.join(', ')} again`
      const todo = { is: 'todo', change: `note workloadUpdateMethods as given back: ${there}` } as const
      return waiting ?? (await untilWritable(cx.reader, owner)) ?? todo
    },
    apply: (cx) => closeMethodsLoan(cx, found),
  }
}

/** Takes the note off whichever object bears it, changes nothing else, and writes down that the loan is closed. Throws ApiError, and `blocked` where an object is another one. */
export async function closeMethodsLoan(cx: StepContext, found: SettingsOwner, why?: string): Promise<void> {
  const { reader, writer, journal } = cx
  const stored = await storedNow(reader, found)
  const owner = 'is' in stored ? found : stored
  const holding = await readOwner(reader, owner)
  if (hasNote(holding, loanId)) {
    await ensureStillStored(reader, owner)
    await writeSettings(cx, owner, patchAt([], holding, noNote(loanId)))
  }
  const { kubevirt } = owner
  const below = passesOn(owner) ? await readOwner(reader, kubevirt) : undefined
  if (below && hasNote(below, loanId))
    await writer.mergePatch(kubevirt.kind, kubevirt.ref, patchAt([], below, noNote(loanId)))
  await journal.release(loanId, why)
}
