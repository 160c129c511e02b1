import type { TakenRisk } from './journal-runs.ts'
import { accessText } from '../kube/access-rights.ts'
import { filled } from '../kube/known.ts'
import { inStages, someOf } from '../kube/text.ts'
import type { Access, Cluster, Reviewer } from '../kube/cluster.ts'
import type { CommandContext, Prompt, World } from '../kube/world.ts'
import { type Clock, ownClock } from '../kube/clock.ts'
import { blocked, forbidden, KvupError, type LeftCluster, retriedCodes } from '../kube/errors.ts'
import { configMapJournal } from './journal-config-map.ts'
import { type Journal, type KnowsOverrides, type Override } from './journal.ts'
import { leaseLock, type Lock } from './lease.ts'
import { dryRunProcedure, type DryRunStep } from './procedure-dry-run.ts'
import { runProcedure } from './runner.ts'
import {
  ensureStepsExist,
  goingOn,
  nothingToDo,
  pastDeadline,
  type Procedure,
  type ReadContext,
  type RunContext,
  type RunEvent,
  type RunLimits,
  type RunOutcome,
  type StepSummary,
} from './step.ts'
import { spanText } from '../kube/duration.ts'
import { leavingSoon, leftOf } from '../kube/interruption.ts'
import { onlyFlag, withoutFlags, wordsOf } from '../kube/shell-line.ts'
import { isOfWindow, type MissingValue, pathsOf, restoringByName, restoringLine } from './overrides.ts'

/** What a changing command is about to do: worked out, and nothing written yet. */
export interface Change extends Pick<RunContext, 'limits' | 'plan' | 'writes' | 'foreseen'> {
  procedure: Procedure
  /** Throws `blocked` for what is against it and nobody accepted; where it `asks`, a person on a terminal chooses what to accept. */
  gate: (asks: boolean) => void | Promise<void>
  accepted?: readonly AcceptedRisk[]
  rights: Rights
  /** Shown between the gate and the question: what will be done. */
  announce: () => void | Promise<void>
  question: string
  /** The cluster is still the one that the plan was made for; throws `drifted` otherwise. Asked before the question, after it, and once the lock is ours. */
  ensureFits?: () => Promise<void>
  /** After the answer and before the lock: what may only happen once a person agreed (a download, a saved file). */
  prepare?: () => Promise<void>
  /** A step that only restores: `--until` of the step before it is no reason to stay on what was changed for a time, so that this one is taken all the same. */
  restoresAt?: string
  /** What a person calls the run, without the cluster: `KubeVirt v1.7.4 → v1.8.4`. Absent: by its procedure. */
  title?: string
  /** Of the run, before anybody is told; what it returns is told. */
  onEvent?: (event: RunEvent) => RunEvent
  /** What is thrown in place of an error of the run, before the lines that resume it are added. */
  failed?: (error: unknown) => Promise<unknown>
  /** Absent: the same line goes on. */
  hint?: ResumeHint
}

/** The world as a changing command needs it. */
export interface RunEnvironment extends Pick<
  RunContext,
  'cluster' | 'clock' | 'lock' | 'signal' | 'who' | 'emit' | 'measurement'
> {
  journal: Journal & Partial<KnowsOverrides>
  prompt: Prompt
  /** Who the API server takes us for, asked once; undefined where it does not say. */
  user(): Promise<string | undefined>
  world: Pick<World, 'commandLine'>
  warn(line: string): void
}

/** The context of a command that changes something: it tells of events as well. */
export interface ChangingCommand extends CommandContext {
  readonly printer: CommandContext['printer'] & { event(event: RunEvent): void }
}

/** Journal, lock and the rest of what a changing command works with, in KubeVirt's namespace. */
export function runEnvironment(
  { clock, printer, prompt, signal, world }: ChangingCommand,
  cluster: Cluster,
  { namespace, takeOver }: { namespace: string; takeOver?: string | undefined },
): RunEnvironment {
  const { who } = world
  const warn = (line: string) => printer.warn(line)
  let user: Promise<string | undefined> | undefined
  return {
    cluster,
    clock,
    prompt,
    signal,
    who,
    user: () => (user ??= cluster.reviewer.whoAmI().catch(() => undefined)),
    world,
    journal: configMapJournal(cluster, { namespace, who, clock, warn }),
    lock: leaseLock(cluster, { namespace, holder: world, clock, takeOver, typed: world.commandLine }),
    emit: (event) => printer.event(event),
    warn,
  }
}

interface DryRunOutcome {
  is: 'dry-run'
  fields: DryRunFields
}

/** A dry run as a document tells it. */
export interface DryRunFields {
  dryRun: 'client' | 'server'
  steps: readonly DryRunStep[]
}

export type DryRun = 'none' | 'client' | 'server'

/** A change, where it is made, and whether only to see what it would do. */
export interface Performing {
  environment: RunEnvironment
  change: Change
  dryRun: DryRun | undefined
  /** Before it is carried out; a dry run asks nobody. */
  settle?: () => Promise<void>
  /** It had begun: tells how far it got, before its error is told. */
  broken?: (error: KvupError) => Promise<void>
}

/**
 * Makes a change, or shows what it would do. A dry run throws what the run would throw before it asks; otherwise nothing to do? → does the plan fit → rights → is another kvup running →
 * findings → question → preparation → lock and run. Throws `drifted` (5), `forbidden` (7) before the first write, `blocked` for a finding or a no (3), and what `runProcedure` throws,
 * with the lines that resume it.
 */
export async function performChange(performing: Performing): Promise<RunOutcome | DryRunOutcome> {
  const { environment, change, dryRun } = performing
  return (await dryRunOf(change, environment, dryRun)) ?? carryOut(performing)
}

/** Makes the change, for who shows in another way what it would do. */
export async function carryOut({
  environment,
  change,
  settle,
  broken,
}: Omit<Performing, 'dryRun'>): Promise<RunOutcome> {
  await settle?.()
  let hasBegun = false
  try {
    return await withResumeHint(environment, change.hint ?? sameLineAgain(environment), async (began) => {
      const begins = () => {
        hasBegun = true
        began()
      }
      try {
        return await asked(change, environment, begins)
      } catch (error) {
        throw change.failed === undefined ? error : await change.failed(error)
      }
    })
  } catch (error) {
    if (hasBegun && error instanceof KvupError) await broken?.(error)
    throw error
  }
}

/** What the change would do now; it refuses what the run would refuse before it asks. Undefined where it is to be carried out. */
export async function dryRunOf(
  { procedure, limits, ensureFits }: Pick<Change, 'procedure' | 'limits' | 'ensureFits'>,
  environment: RunEnvironment,
  mode: DryRun = 'none',
): Promise<DryRunOutcome | undefined> {
  if (mode === 'none') return undefined
  const { cluster, journal, clock, signal } = environment
  const reading: ReadContext = { reader: cluster.reader, clock, journal }
  if ((namesSteps(limits) || ensureFits) && !(await nothingToDo(procedure, reading))) {
    if (namesSteps(limits)) ensureStepsExist(limits, await procedure.steps(reading))
    await ensureFits?.()
  }
  await sayWhereItEnds({ procedure, limits }, { reading, warn: (line) => environment.warn(line) })
  const steps = await dryRunProcedure(procedure, { cluster, clock, signal, journal, mode })
  return { is: 'dry-run', fields: { dryRun: mode, steps } }
}

async function asked(change: Change, environment: RunEnvironment, began: () => void): Promise<RunOutcome> {
  const { procedure, limits } = change
  const { cluster, clock, journal, signal } = environment
  const reading: ReadContext = { reader: cluster.reader, clock, journal }
  if (await nothingToDo(procedure, reading)) return { is: 'nothing-to-do' }
  // Asked before the question: nobody agrees to a run that then does not know its own step.
  if (namesSteps(limits)) ensureStepsExist(limits, await procedure.steps(reading))
  await change.ensureFits?.()
  const missing = await ensureRights(cluster.reviewer, change.rights)
  // Asked before the question: who agrees to a change would otherwise learn after it that another kvup is running.
  const remark = (text: string) => environment.emit({ kind: 'remark', at: clock.now().toISOString(), text })
  await environment.lock.ensureFree?.({ signal, remark })
  await change.gate(true)
  for (const warning of missing) environment.warn(warning)
  await change.announce()
  await sayWhereItEnds(change, { reading, warn: (line) => environment.warn(line) })
  if (!(await environment.prompt.confirm(change.question)))
    throw blocked('answered-no', 'Canceled. Nothing was changed.')
  await change.ensureFits?.()
  await change.prepare?.()
  await environment.measurement?.begin()
  signal.throwIfAborted()
  return runToTheEnd(change, environment, began)
}

async function runToTheEnd(
  change: Change,
  environment: RunEnvironment,
  began: () => void,
): Promise<RunOutcome> {
  const { procedure, limits, plan, writes, foreseen, ensureFits, title, onEvent, accepted = [] } = change
  const { cluster, measurement } = environment
  const context = cluster.address?.context
  const named = title !== undefined && { title: context === undefined ? title : `${title} on ${context}` }
  let stages: ReturnType<typeof inStages<StepSummary>> = []
  const running = {
    ...environment,
    placeOf(id: string) {
      const at = stages.findIndex((steps) => steps.some((step) => step.id === id))
      return at < 0 ? undefined : { step: at + 1, of: stages.length }
    },
    accepted: accepted.length === 0 ? [] : acceptedBy(accepted, await environment.user()),
    plan,
    writes,
    foreseen,
    emit(event: RunEvent) {
      if (event.kind === 'run-started') began()
      measurement?.hear(event)
      const shown = onEvent === undefined ? event : onEvent(event)
      if (shown.kind === 'run-started' || shown.kind === 'steps-known') stages = inStages(shown.steps)
      environment.emit(shown.kind === 'run-started' ? { ...shown, ...named } : shown)
    },
  }
  const lock = fitting(running.lock, ensureFits)
  const outcome = await runProcedure(procedure, { ...running, lock, limits })
  if (outcome.is !== 'stopped-before' || outcome.step.id !== change.restoresAt) return outcome
  return runProcedure(procedure, {
    ...running,
    // It is the same run, which has started: whoever reads its events would take it for another one.
    emit(event: RunEvent) {
      const { at } = event
      running.emit(event.kind === 'run-started' ? { kind: 'steps-known', at, steps: event.steps } : event)
    },
    limits: { timeoutMs: limits.timeoutMs },
  })
}

/** As it was typed: `--accept ID=reason`. */
type AcceptedRisk = Pick<TakenRisk, 'id' | 'reason'>

/** As they stand in a report. */
export async function takenRisks(
  accepted: readonly AcceptedRisk[],
  { who, user }: Pick<RunEnvironment, 'who' | 'user'>,
): Promise<readonly TakenRisk[]> {
  if (accepted.length === 0) return []
  const more = { by: who, ...filled({ user: await user() }) }
  return accepted.map((risk) => Object.assign({}, risk, more))
}

const acceptedBy = (accepted: readonly AcceptedRisk[], user: string | undefined) =>
  accepted.map(({ id, reason = '' }) => ({
    id,
    text: reason === '' ? 'accepted, no reason given' : `accepted: ${reason}`,
    ...filled({ user }),
  }))

/** Beforehand, so that nobody begins what his time is too short for, nor takes --until for the end of what the cluster does. Throws what the steps throw. */
export async function sayWhereItEnds(
  { procedure, limits: { deadline, until } }: Pick<Change, 'procedure' | 'limits'>,
  { reading, warn }: { reading: ReadContext; warn: (line: string) => void },
): Promise<void> {
  if (deadline === undefined && until === undefined) return
  const steps = await procedure.steps(reading)
  const on = until === undefined ? [] : goingOn(steps.slice(steps.findIndex(({ id }) => id === until) + 1))
  if (on.length > 0)
    warn(`behind ${until} (--until) the cluster goes on by itself: ${someOf(on, on.length, 5)}`)
  if (deadline === undefined) return
  const done = await doneSteps(procedure, reading)
  const toDo = steps.filter(({ id }) => !done.has(id))
  const past = pastDeadline(toDo, deadline, reading.clock.now().getTime())
  if (past === undefined) return
  const { step, takes, left, isFirst } = past
  const at = deadline.toISOString().replace(/\.\d+Z$/u, 'Z')
  const takesText = `about ${spanText(takes)}, and ${left > 0 ? spanText(left) : 'nothing'} is left by then`
  warn(
    isFirst
      ? `the time until ${at} (--deadline) is too short for the first step, ${step.title}: it takes ${takesText}; kvup does not start`
      : `the time until ${at} (--deadline) is too short for all of it: by the estimates it stops before ${step.title} (${step.id}), which takes ${takesText}`,
  )
}

/** Ids of the first steps that are behind us. */
export async function doneSteps(procedure: Procedure, reading: ReadContext): Promise<ReadonlySet<string>> {
  const done = new Set<string>()
  for (const step of await procedure.steps(reading)) {
    if ((await step.check(reading)).is !== 'done') break
    done.add(step.id)
  }
  return done
}

/** Whoever had the lock before us may have left another cluster than the one that was looked at. */
const fitting = (lock: Lock, ensureFits: Change['ensureFits']): Lock => ({
  hold: (run, queueing) =>
    lock.hold(async (held) => {
      await ensureFits?.()
      return run(held)
    }, queueing),
})

const namesSteps = ({ until, pauseBefore = [] }: RunLimits): boolean =>
  until !== undefined || pauseBefore.length > 0

/** What a change may not do without. */
export interface Rights {
  required: readonly Access[]
  optional?: readonly Access[]
  role: string
}

/**
 * Asks the server, before anything is written, whether we may do all of it. Throws `forbidden` (exit 7) that names every
 * required right that is missing; returns a warning per optional one.
 */
export async function ensureRights(reviewer: Reviewer, rights: Rights): Promise<readonly string[]> {
  const { required, optional = [], role } = rights
  const [missing, wanting] = await Promise.all([refused(reviewer, required), refused(reviewer, optional)])
  if (missing.length === 0) return wanting.map((access) => `not allowed to ${access}: going on without`)
  const who = (await reviewer.whoAmI().catch(() => undefined)) ?? 'this user'
  throw forbidden('forbidden', `${who} may not ${missing.join(', nor ')}. Nothing was changed`, {
    remedy: `kvup rbac ${role} | kubectl apply -f -      as somebody who may, then bind it to ${who}`,
  })
}

async function refused(reviewer: Reviewer, accesses: readonly Access[]): Promise<string[]> {
  const answers = await Promise.all(accesses.map((access) => reviewer.can(access)))
  return accesses.filter((_, index) => answers[index]?.allowed === false).map(accessText)
}

/** What every command that changes workloads or their settings takes. */
export interface ChangeOptions {
  accept: string[]
  timeout: string
  takeOver?: string
  dryRun?: DryRun
}

interface EarlyEnd {
  error: unknown
  /** False: it was refused, or interrupted, before anything was changed. */
  hasBegun: boolean
  /** ms in which the cluster may still be asked what is left behind; 0: it does not answer, or nobody waits. */
  readWithin: number
}

/** For the farewell to journal and lock, and together with what is read then: less than the 2 s in which an interrupted run has to leave. */
export const lastReads = { recordWithin: 900, allWithin: 1500 }

/** What is said of a run that ended early, besides its error. */
export interface ResumeHint {
  /** ms that journal and lock have once a person interrupts: less than the 2 s in which a command has to be gone. */
  recordWithin: number
  /** ms for that, and together with it for what is read then. */
  allWithin: number
  told(end: EarlyEnd): Promise<unknown>
}

type Leaving = Pick<RunEnvironment, 'world' | 'signal' | 'clock'>

/** What the run gives. One that ends early throws what the hint makes of its error; `run` calls `began` before its first write. */
export async function withResumeHint<T>(
  { signal, clock }: Pick<Leaving, 'signal' | 'clock'>,
  hint: ResumeHint,
  run: (began: () => void) => Promise<T>,
): Promise<T> {
  let hasBegun = false
  let isLeft = false
  const left = leftOf(hint.allWithin, { signal, clock })
  const leaving = { signal, clock, within: hint.recordWithin, left: () => (isLeft = true) }
  try {
    return await leavingSoon(
      run(() => (hasBegun = true)),
      leaving,
    )
  } catch (error) {
    throw await hint.told({ error, hasBegun, readWithin: isLeft ? 0 : left() })
  }
}

/** The same error with more to know and to type below it. */
export function withLines(
  error: KvupError,
  {
    notes = error.notes,
    remedy,
    left,
  }: { notes?: readonly string[]; remedy: readonly string[]; left?: LeftCluster | undefined },
): KvupError {
  const { object, exitCode: code, reason, message } = error
  return new KvupError(code, reason, message, { object, notes, remedy, cause: error, left })
}

const sameLineAgain = ({ world }: Leaving): ResumeHint => ({
  recordWithin: 1300,
  allWithin: 1300,
  async told({ error }) {
    if (!(error instanceof KvupError) || !retriedCodes.includes(error.exitCode)) return error
    return withLines(error, { remedy: [...error.remedy, resumeLine(world)] })
  },
})

/** What a line that is printed again does to VMs by the risks that are accepted in it, or by its flags. */
const harms: Readonly<Record<string, string>> = {
  'data-loss': 'VMs that it restarts lose the data in their pods',
  evictions: 'KubeVirt shuts VMs down',
  'vm-outages': 'VMs are down meanwhile',
  downgrade: 'KubeVirt does not support going back',
  'way-back': 'KubeVirt does not support going back',
  '--restart-unmigratable': 'VMs that cannot migrate are restarted',
}

/** `; KubeVirt shuts VMs down`: the harm that a line does is said in the same line, whoever typed it first. */
export function harmsOf(line: string): string {
  const words = wordsOf(line)
  const accepted = onlyFlag(words, '--accept').map((word) =>
    word.replace(/^--accept=/u, '').replaceAll("'", ''),
  )
  const ids = [...accepted.map((word) => word.split('=', 1)[0] ?? ''), ...words]
  return [...new Set(ids.flatMap((id) => harms[id] ?? []))].map((harm) => `; ${harm}`).join('')
}

/** The line that was typed, with what running it again does. */
export const resumeLine = ({ commandLine }: Pick<World, 'commandLine'>, does = 'goes on'): string =>
  `${commandLine}     ${does}${harmsOf(commandLine)}`

/** The line that goes on from where a run was told to stop: as it was typed, but for what made it stop, for it would stop there again. */
export function goesOn(commandLine: string): string {
  const line = withoutFlags(wordsOf(commandLine), {
    valued: ['--until', '--pause-before', '--deadline'],
  }).join(' ')
  return resumeLine({ commandLine: line }, 'goes on from here')
}

/** Each answer that arrives in `within` ms; undefined for those that fail or take longer. */
export async function readInTime<T extends readonly unknown[]>(
  clock: Clock,
  within: number,
  works: { readonly [K in keyof T]: Promise<T[K]> },
): Promise<{ [K in keyof T]: T[K] | undefined }> {
  const over = new AbortController()
  const sleep = ownClock(clock).sleep(within, over.signal)
  const giveUp = sleep.then(
    () => undefined,
    () => undefined,
  )
  const answers = works.map((work) => Promise.race([work.catch(() => undefined), giveUp]))
  const read = await Promise.all(answers)
  over.abort()
  return read as { [K in keyof T]: T[K] | undefined }
}

interface MissingValueFinding {
  id: 'saved-value-missing'
  level: 'blocker'
  summary: string
  objects: readonly string[]
  remedy: readonly string[]
}

interface Settling {
  prompt: Prompt
  isAccepted: boolean
  only?: string
  /** Throws `blocked` for what is left. */
  gate: (findings: readonly MissingValueFinding[]) => void
}

/**
 * Settings that read as kvup leaves them, and whose former value is on no object any more: a person on a terminal may confirm what the journal claims, `--accept saved-value-missing` leaves
 * them as they are. `--yes` confirms nothing, for whoever can write the journal would be obeyed. Throws what `gate` throws, with the lines that decide.
 */
export async function settleMissingValues(
  journal: Journal,
  { prompt, isAccepted, only, gate }: Settling,
): Promise<void> {
  const missing = (await journal.missing()).filter((one) => only === undefined || one.id === only)
  if (missing.length === 0 || isAccepted) return
  const left: MissingValue[] = []
  for (const one of missing) {
    const isConfirmed = one.claim && (await prompt.decide?.(`${missingText(one)}. Restore that value?`))
    if (one.claim && isConfirmed === true) journal.believe(one.claim)
    else left.push(one)
  }
  gate(missingValueFindings(left))
}

/** What speaks against going on. Pure. */
export const missingValueFindings = (missing: readonly MissingValue[]): readonly MissingValueFinding[] =>
  missing.map((one) => ({
    id: 'saved-value-missing',
    level: 'blocker',
    summary: missingText(one),
    objects: [nameOf(one)],
    remedy: remedyOf(one),
  }))

/** What is not known of it, and who says what, in a sentence. */
export function missingText(missing: MissingValue): string {
  const { why, claim } = missing
  const what = claim ? claim.path.slice(1).replaceAll('/', '.').replaceAll('~1', '/') : missing.id
  const note =
    why === 'missing'
      ? `the annotation with its former value is no longer on ${nameOf(missing)}`
      : `the annotation with its former value on ${nameOf(missing)} was changed and cannot be read`
  const claimText =
    claim === undefined ? '' : `; the journal (others can write it) has the value ${claimed(claim.was)}`
  return `${what} looks like a temporary change of kvup, but ${note}${claimText}`
}

const claimed = (was: NonNullable<MissingValue['claim']>['was']): string =>
  !was.present ? 'not set' : Array.isArray(was.value) ? was.value.join(', ') : JSON.stringify(was.value)

const nameOf = ({ object: { kind, name, namespace } }: MissingValue): string =>
  namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`

/** Setting the field by hand decides as well: it then reads otherwise than kvup leaves it. */
function remedyOf({ id: override, claim }: MissingValue): readonly string[] {
  const inWindow = claim !== undefined && isOfWindow(claim)
  if (override === 'workload-updates')
    return [
      `kvup workloads strategy set --methods ${methodsIn(claim)}     resumes automatic VM updates so`,
      `${inWindow ? restoringByName(override) : restoringLine(override)} --keep-current     leaves them off, and forgets it`,
    ]
  const leaves = inWindow
    ? `${restoringByName(override)} --keep-current     changes nothing, and forgets it`
    : 'add --accept saved-value-missing     changes nothing'
  return ['kvup history     shows what kvup changed, and when', leaves]
}

function methodsIn(claim: MissingValue['claim']): string {
  const value = claim?.was.present ? claim.was.value : undefined
  const safe = Array.isArray(value) && value.every((one) => one === 'LiveMigrate')
  return safe && value.length > 0 ? value.join(',') : 'LiveMigrate'
}

/** A person said that what it was is to be forgotten: then it is closed as any other, with whatever note is left of it. */
export function asOverride({ id: override, object, claim }: MissingValue, at: string): Override {
  if (claim !== undefined) return claim
  const [path = ''] = pathsOf(override)
  return { id: override, procedure: 'restore', object, path, was: { present: false }, by: 'unknown', at }
}
