import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../cluster/object.ts'
import { lastWriter } from '../../procedure/last-writer.ts'
import { savingNote } from '../../procedure/saved-value.ts'
import type { Loan } from '../../procedure/journal.ts'
import type { Followed, ReadContext, Step, StepContext, StepState } from '../../procedure/step.ts'
import { blocked } from '../../system/errors.ts'
import { minutes, seconds } from '../../system/units.ts'
import { type Borrowable, nameOfBorrowed, showsBorrowed } from './borrowable.ts'
import { findBorrowed, keptText, loanNamed, valueText, whatIs } from './find-borrowed.ts'

export interface Taking {
  /** Of the step. */
  id: string
  title: string
  /** user@host, for the journal. */
  who: string
  procedure: string
  /** A person said: take it again where somebody undid it, or where the object was made anew. */
  again?: boolean
  /** The line that takes it again, with that risk; default `kvup eus run`. */
  command?: string
}

/**
 * Sets the field, and notes its value on the same object in the same patch; done once it reads so. What was so already is left alone, and is nobody's loan.
 * What somebody undid or changed since is asked about (`borrowed-changed`), never quietly set again.
 */
export function takeField(field: Borrowable, taking: Taking): Step {
  const follows: Followed[] = [{ kind: field.kind, where: field.ref }]
  return {
    id: taking.id,
    title: taking.title,
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    follows,
    risk: { undo: 'kvup eus abort', safeToLeave: field.harmless },
    shows: showsBorrowed(field),
    check: (cx) => standing(cx, field, taking),
    apply: (cx) => take(cx, field, taking),
    async blame({ reader }, after) {
      const found = await findBorrowed(reader, field, field.uid)
      return found.is === 'gone' ? undefined : lastWriter(found.object, field.pointer, after)
    },
  }
}

async function standing(cx: ReadContext, field: Borrowable, taking: Taking): Promise<StepState> {
  const found = await findBorrowed(cx.reader, field, field.uid)
  if (found.is === 'gone') return { is: 'done', note: `${nameOfBorrowed(field)} is gone` }
  if (found.is === 'replaced') return madeAnew(field, taking)
  const loan = loanNamed(await cx.journal.loans(), field.loan)
  const ours = loan?.object.uid === field.uid ? loan : undefined
  if (isSo(field, found.object, loan))
    return { is: 'done', note: ours ? `kept ${keptText(ours)}` : `${field.meanwhile} already: not kvup's` }
  if (loan !== undefined && ours === undefined && !taking.again) return madeAnew(field, taking)
  return notTaken(field, { taking, ours, object: found.object })
}

/** As kvup writes it, or, where nothing is borrowed, as somebody else wants it just so. */
function isSo(field: Borrowable, object: KubeObject, loan: Loan | undefined): boolean {
  return field.isTaken(object) || (loan === undefined && field.suffices?.(object) === true)
}

function notTaken(
  field: Borrowable,
  { taking, ours, object }: { taking: Taking; ours: Loan | undefined; object: KubeObject },
): StepState {
  const value = field.valueIn(object)
  const change = `set ${whatIs(field)}: ${field.meanwhile}; it was ${valueText(value)}`
  if (taking.again || ours === undefined || isByKvup(field, object, ours)) return { is: 'todo', change }
  return changed(field, { loan: ours, taking }, value)
}

/** As an earlier run set it, to another value than this one would. */
function isByKvup(field: Borrowable, object: KubeObject, { taken }: Loan): boolean {
  return taken !== undefined && isDeepStrictEqual(field.valueIn(object), taken.value)
}

async function take(cx: StepContext, field: Borrowable, taking: Taking): Promise<void> {
  const found = await findBorrowed(cx.reader, field, field.uid)
  if (found.is !== 'there')
    throw blocked('borrowed-replaced', `${nameOfBorrowed(field)} is another one than was looked at`, {
      object: nameOfBorrowed(field),
      remedy: 'run the same command again',
    })
  const loan = loanNamed(await cx.journal.loans(), field.loan)
  if (!isSo(field, found.object, loan)) await keepAndTake(cx, field, { taking, object: found.object })
}

/**
 * Notes the value of the object as it was read, and writes what is borrowed; refused (409, 422) where somebody wrote it since. For who has judged that very
 * object. Throws ApiError.
 */
export async function keepAndTake(
  { writer, journal, clock }: StepContext,
  field: Borrowable,
  { taking, object }: { taking: Pick<Taking, 'id' | 'who' | 'procedure'>; object: KubeObject },
): Promise<void> {
  const former = loanNamed(await journal.loans(), field.loan)
  if (former !== undefined && former.object.uid !== field.uid)
    await journal.release(field.loan, 'the object that it was taken from is gone')
  const value = field.valueIn(object)
  const loan = await journal.borrow({
    id: field.loan,
    procedure: taking.procedure,
    object: {
      apiVersion: field.kind.apiVersion,
      kind: field.kind.kind,
      ...(field.ref.namespace !== undefined && { namespace: field.ref.namespace }),
      name: field.ref.name,
      uid: field.uid,
    },
    path: field.pointer,
    was: value === undefined ? { present: false } : { present: true, value },
    taken: { value: field.takenValue(object), step: taking.id },
    by: taking.who,
    at: clock.now().toISOString(),
    harmless: field.harmless,
  })
  const operations = [...field.take(object), ...savingNote(object, loan, field.pointer)]
  await writer.jsonPatch(field.kind, field.ref, operations)
}

const defaultCommand = 'kvup eus run'

function changed(
  field: Borrowable,
  { loan, taking: { command = defaultCommand } }: { loan: Loan; taking: Taking },
  now: unknown,
): StepState {
  return {
    is: 'blocked',
    reason: 'borrowed-changed',
    by: `${whatIs(field)} was ${field.meanwhile} by kvup (kept: ${keptText(loan)}), and somebody set it to ${valueText(now)} meanwhile`,
    remedy: [
      `${command} --accept borrowed-changed     takes it again`,
      `kvup eus restore ${field.loan} --keep-current     leaves it as it is and forgets the kept value`,
      `${showsBorrowed(field)}     shows who writes it`,
    ],
  }
}

function madeAnew(field: Borrowable, { command = defaultCommand }: Taking): StepState {
  return {
    is: 'blocked',
    reason: 'borrowed-replaced',
    by: `${nameOfBorrowed(field)} was deleted and made anew since it was looked at`,
    remedy: [`${command} --accept borrowed-changed     takes the new one as well`, 'kvup eus status'],
  }
}
