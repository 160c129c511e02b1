import type { Context } from '../../context.ts'
import { theInstallation } from '../../lib/kubevirt/installation.ts'
import { kubeVirtDefinitions } from '../../lib/kubevirt/stored-versions.ts'
import { standingParts, takeSnapshot } from '../../lib/kubevirt/snapshot.ts'
import { standing } from '../../lib/kubevirt/rollout-status.ts'
import type { KnowsLoans, Loan } from '../../lib/engine/journal.ts'
import { leavingSoon, leftOf } from '../../lib/kube/interruption.ts'
import type { JournalReader } from '../../lib/engine/step.ts'
import { ownClock } from '../../lib/kube/clock.ts'
import { formatDuration } from '../../lib/kube/duration.ts'
import { exitCode, KvupError } from '../../lib/kube/errors.ts'
import type { UpgradePlan } from '../../lib/upgrade/upgrade-plan.ts'
import { isGuards } from '../../lib/vms/update-guard.ts'
import { heldLines, loanId } from '../../lib/vms/update-methods.ts'
import { type WayOut, wayOut } from '../../lib/upgrade/methods/subscription-channel.ts'
import { type LeftUpdate, noWayBackNote, wayBackLine, wayBackTakes } from '../../lib/upgrade/rollback.ts'
import { lookAtOperator } from '../../lib/upgrade/methods/operator-snapshot.ts'
import { onlyFlag, shellWord, withoutFlags, wordsOf } from '../../lib/kube/shell-line.ts'

interface Situation {
  cx: Context
  /** What is carried out right now. */
  plan: () => UpgradePlan
  journal: JournalReader & Partial<KnowsLoans>
}

/** For the farewell to journal and lock, and together with what is read then: less than the 2 s in which an interrupted run has to leave. */
const goodbyeWithin = 900
const allWithin = 1500

/**
 * Runs it, and gives a run that ends early the lines that matter then: what is borrowed and until when that is harmless, the
 * line that resumes, the line that gives back, the way back. Before `began` is called there is nothing to go on with: a refusal
 * has its own remedy.
 */
export async function withWayOn<T>(situation: Situation, run: (began: () => void) => Promise<T>): Promise<T> {
  let hasBegun = false
  let isLeft = false
  const { signal, clock } = situation.cx
  const left = leftOf(allWithin, { signal, clock })
  try {
    const work = run(() => (hasBegun = true))
    return await leavingSoon(work, { signal, clock, within: goodbyeWithin, left: () => (isLeft = true) })
  } catch (error) {
    if (hasBegun) throw await withLines(error, situation, isLeft ? 0 : left())
    throw error instanceof KvupError && interruptions.has(error.exitCode) ? notBegun(error, situation) : error
  }
}

/** A bug stays one, and is told with its stack: the lines are said before it. */
async function withLines(error: unknown, situation: Situation, within: number): Promise<unknown> {
  const left = within > 0 ? await leftBehind(situation, within) : fromMemory(situation)
  const notes = notesOn(left, situation)
  const remedy = linesFor(situation, left)
  if (error instanceof KvupError)
    return new KvupError(error.exitCode, error.reason, error.message, {
      object: error.object,
      cause: error,
      notes: [...error.notes, ...notes],
      remedy: byCommand([...error.remedy, ...remedy]),
    })
  for (const line of [...notes, ...remedy]) situation.cx.printer.warn(line)
  return error
}

const interruptions: ReadonlySet<number> = new Set([exitCode.interrupted, exitCode.terminated])

function notBegun(error: KvupError, { cx }: Situation): KvupError {
  return new KvupError(error.exitCode, error.reason, error.message, {
    notes: ['nothing was changed'],
    remedy: `${cx.world.commandLine}     begins again`,
    cause: error,
  })
}

/** As far as it could be read. */
interface Left {
  loans: readonly Loan[] | undefined
  seen: LeftUpdate | undefined
  /** By OLM. */
  out: WayOut | undefined
  /** What is borrowed could not be asked: it is what this run borrowed and read itself. */
  remembered?: true
}

/** At once: the cluster does not say anything. */
const fromMemory = ({ plan, journal }: Situation): Left => ({
  ...remembered(journal),
  seen: undefined,
  out: plan().olm && unseen,
})

function remembered({ known }: Situation['journal']): Pick<Left, 'loans' | 'remembered'> {
  const loans = known?.()
  return loans === undefined ? { loans } : { loans, remembered: true }
}

async function leftBehind({ cx, plan: now, journal }: Situation, readWithin: number): Promise<Left> {
  const plan = now()
  const over = new AbortController()
  const giveUp = ownClock(cx.clock)
    .sleep(readWithin, over.signal)
    .catch(() => undefined)
  const quickly = <T>(work: Promise<T>) =>
    Promise.race([work.catch(() => undefined), giveUp.then(() => undefined)])
  const [loans, seen, out] = await Promise.all([
    quickly(journal.loans()),
    quickly(lookAgain(cx, plan)),
    quickly(wayOutNow(cx, plan)),
  ])
  over.abort()
  const known = loans ? { loans } : remembered(journal)
  return { ...known, seen, out: plan.olm && (out ?? unseen) }
}

/** Undefined where the components may not be read: how far they came is not known then. */
async function lookAgain(cx: Context, { owner, wayBack }: UpgradePlan): Promise<Left['seen']> {
  const { reader } = await cx.cluster()
  const [snapshot, crds] = await Promise.all([
    takeSnapshot(reader, standingParts, cx.clock, owner.ref.namespace),
    wayBack.is === 'closes' ? kubeVirtDefinitions(reader) : undefined,
  ])
  if (!snapshot.deployments.known || !snapshot.daemonsets.known) return undefined
  return { installation: theInstallation(snapshot), standing: standing(snapshot, cx.clock.now()), crds }
}

function linesFor({ cx, plan }: Situation, left: Left): readonly string[] {
  const { loans } = left
  return [
    ...(loans === undefined ? ['kvup history     shows what is borrowed'] : []),
    ...(loans?.some(isGuards) ? [] : [`${cx.world.commandLine}     goes on where the cluster stands`]),
    ...backLines(plan(), left),
    ...heldLines(
      loans?.find(({ id }) => id === loanId),
      '     gives workload updates back once KubeVirt is settled',
    ),
    ...(loans?.some(isGuards) ? [`${cx.world.commandLine}     goes on once they are given back`] : []),
  ]
}

function backLines(plan: UpgradePlan, { seen, out }: Left): readonly string[] {
  return out?.remedy ?? (seen ? wayBackLine(plan, seen) : [])
}

/** A command that two say is said once, with what it does. */
function byCommand(lines: readonly string[]): readonly string[] {
  const said = new Map<string, string>()
  for (const line of lines) {
    const [command = line] = line.split(/ {3,}/u)
    if ((said.get(command) ?? '').length < line.length) said.set(command, line)
  }
  return [...said.values()]
}

function notesOn(
  { loans, seen, out, remembered: fromRun }: Left,
  { cx, plan: current }: Situation,
): readonly string[] {
  const plan = current()
  const now = cx.clock.now().getTime()
  const borrowed = loans?.map((loan) => loanLine(loan, now)) ?? ['what is borrowed could not be read']
  if (fromRun) borrowed.push('the API server does not answer: this is what the run itself knows')
  const stays = out?.note ?? noWayBackNote(plan, seen) ?? wayBackTakes(plan, out ? undefined : seen)
  return stays === undefined ? borrowed : [...borrowed, stays]
}

function loanLine(loan: Loan, now: number): string {
  const value = loan.was.present ? valueText(loan.was.value) : 'absent'
  const name = loan.path.slice(loan.path.lastIndexOf('/') + 1)
  const age = formatDuration(now - Date.parse(loan.at))
  return `borrowed ${age} ago: ${name} was ${value}; harmless ${loan.harmless ?? 'for now'}`
}

function valueText(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : JSON.stringify(value)
}

/** How an upgrade by OLM can be left, seen once more; undefined by any other method. Throws what the Reader throws, and where the Subscription is gone. */
async function wayOutNow(
  { cluster }: Pick<Context, 'cluster'>,
  { olm }: Pick<UpgradePlan, 'olm'>,
): Promise<WayOut | undefined> {
  if (olm === undefined) return undefined
  const { reader } = await cluster()
  return wayOut(olm, await lookAtOperator(reader, olm))
}

/** Where it could not be seen. */
const unseen: WayOut = {
  note: 'there is no way back once an InstallPlan is approved: OLM knows no downgrade',
  remedy: [],
}

/** What only looking takes: how the plan is shown, and that nothing is done. */
const ofLooking = { alone: ['--exit-code'], valued: ['--output', '-o', '--to-file', '--dry-run'] }

/** The line that does what `kvup plan`, or a dry run, has shown: `typed` as it was, without what only looking takes. */
export function carryingOut(typed: string): string {
  const words = wordsOf(typed)
  const command = placeOfCommand(words)
  const named = words.map((word, index) => (index === command ? 'upgrade' : word))
  return withoutFlags(named, ofLooking).join(' ')
}

const isNamed = (word: string): boolean => word === 'plan' || word === 'upgrade'

/** A file, a context or a namespace may be named so too: the first that is not the value of a flag. */
function placeOfCommand(words: readonly string[]): number {
  const own = words.findIndex((word, index) => isNamed(word) && !words[index - 1]?.startsWith('-'))
  return own < 0 ? words.findIndex(isNamed) : own
}

/** What to type after `kvup plan`: with the file where there is one. Release data is no part of a plan, and is named again. */
export function afterPlan(typed: string, file: string | undefined): readonly string[] {
  const words = wordsOf(typed)
  if (file !== undefined)
    return [`kvup upgrade --plan ${[shellWord(file), ...onlyFlag(words, '--releases')].join(' ')}`]
  return [
    `${carryingOut(typed)}     carries it out`,
    `${withoutFlags(words, ofLooking).join(' ')} --to-file plan.yaml     keeps it, for kvup upgrade --plan plan.yaml`,
  ]
}
