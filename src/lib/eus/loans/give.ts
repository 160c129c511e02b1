import type { KubeObject } from '../../cluster/object.ts'
import type { Loan } from '../../procedure/journal.ts'
import { closeNoted, removingNotes } from '../../procedure/saved-value.ts'
import type { NotApplied, ReadContext, Step, StepContext, StepState } from '../../procedure/step.ts'
import { blocked } from '../../system/errors.ts'
import { minutes, seconds } from '../../system/units.ts'
import type { Meanwhile } from '../../workloads/restore.ts'
import { type Borrowable, nameOfBorrowed, showsBorrowed } from './borrowable.ts'
import { findBorrowed, keptText, loanNamed, type Sought, valueText, whatIs } from './find-borrowed.ts'

export interface Giving {
  /** Of the step. */
  id: string
  title: string
  /** What to do where somebody changed it meanwhile. Default: ask. */
  meanwhile?: Meanwhile
  /** Why it is not given back: then the loan is closed with this reason and the field stays. */
  closeBecause?: string
  dependsOn?: readonly string[]
}

type Way =
  | { is: 'write'; object: KubeObject }
  | { is: 'close'; why?: string }
  | { is: 'ask'; state: StepState }

/**
 * Sets the field back to the kept value and takes its note off in the same patch, reads it back, and only then writes down that the loan is closed. Without a loan it is done at once. What somebody
 * else set meanwhile, or an object that was made anew, is asked about (`changed-meanwhile`).
 */
export function giveField(field: Borrowable, giving: Giving): Step {
  return {
    id: giving.id,
    title: giving.title,
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    follows: [],
    ...(giving.dependsOn && { dependsOn: giving.dependsOn }),
    risk: { undo: 'none', safeToLeave: 'always' },
    shows: showsBorrowed(field),
    check: (cx) => standing(cx, field, giving),
    apply: (cx) => give(cx, field, giving),
  }
}

async function standing(cx: ReadContext, field: Borrowable, giving: Giving): Promise<StepState> {
  const loan = loanNamed(await cx.journal.loans(), field.loan)
  if (loan === undefined) return { is: 'done' }
  const way = wayOf(await findBorrowed(cx.reader, field, loan.object.uid), { field, loan, giving })
  if (way.is === 'ask') return way.state
  if (way.is === 'write') return { is: 'todo', change: `set ${whatIs(field)} back to ${keptText(loan)}` }
  const change =
    way.why === undefined
      ? `note ${whatIs(field)} as given back: it is ${keptText(loan)} again`
      : `note ${whatIs(field)} as borrowed no more: ${way.why}`
  return { is: 'todo', change }
}

function wayOf(
  found: Sought,
  { field, loan, giving }: { field: Borrowable; loan: Loan; giving: Giving },
): Way {
  const { meanwhile = 'ask', closeBecause } = giving
  if (closeBecause !== undefined) return { is: 'close', why: closeBecause }
  if (found.is === 'gone') return { is: 'close', why: `${nameOfBorrowed(field)} is gone` }
  const { object } = found
  if (field.isBack(object, loan.was)) return { is: 'close' }
  if (meanwhile === 'keep-current') return { is: 'close', why: 'left as somebody else set it' }
  const isOurs = found.is === 'there' && field.isTaken(object)
  if (isOurs || meanwhile === 'overwrite') return { is: 'write', object }
  const asked = found.is === 'replaced' ? madeAnew(field, loan) : changed(field, loan, field.valueIn(object))
  return { is: 'ask', state: asked }
}

async function give(cx: StepContext, field: Borrowable, giving: Giving): Promise<NotApplied | void> {
  const { reader, writer, journal } = cx
  const loan = loanNamed(await journal.loans(), field.loan)
  if (loan === undefined) return
  const way = wayOf(await findBorrowed(reader, field, loan.object.uid), { field, loan, giving })
  if (way.is === 'ask') return { notApplied: `somebody changed ${whatIs(field)} meanwhile` }
  if (way.is === 'close') return closeNoted(cx, field, [field.loan], way.why)
  const operations = [...field.give(way.object, loan.was), ...removingNotes(way.object, [field.loan])]
  await writer.jsonPatch(field.kind, field.ref, operations)
  const after = await findBorrowed(reader, field, way.object.metadata.uid ?? '')
  if (after.is === 'there' && !field.isBack(after.object, loan.was))
    throw blocked(
      'give-back-undone',
      `${whatIs(field)} was set back to ${keptText(loan)}, but reads ${valueText(field.valueIn(after.object))}`,
      { object: nameOfBorrowed(field), remedy: [showsBorrowed(field)] },
    )
  await journal.release(field.loan)
}

const waysOn = ({ loan }: Borrowable): readonly string[] => [
  `kvup eus restore ${loan} --keep-current     closes the loan and leaves their value`,
  `kvup eus restore ${loan} --overwrite     sets the kept value`,
]

function changed(field: Borrowable, loan: Loan, now: unknown): StepState {
  return {
    is: 'blocked',
    reason: 'changed-meanwhile',
    by: `${whatIs(field)} was ${keptText(loan)} when it was borrowed; somebody set it to ${valueText(now)} meanwhile`,
    remedy: [...waysOn(field), `${showsBorrowed(field)}     shows who writes it`],
  }
}

function madeAnew(field: Borrowable, loan: Loan): StepState {
  return {
    is: 'blocked',
    reason: 'changed-meanwhile',
    by: `${nameOfBorrowed(field)} was deleted and made anew since ${whatIs(field)} was borrowed (kept: ${keptText(loan)})`,
    remedy: waysOn(field),
  }
}
