import type { Access, Cluster, Reviewer } from '../lib/kube/cluster.ts'
import { type Accepting, type Finding, passGate } from '../lib/checks/check-definition.ts'
import type { Prompt } from '../lib/output/printer.ts'
import {
  ensureStepsExist,
  nothingToDo,
  type Procedure,
  type ReadContext,
  type RunContext,
  type RunEvent,
  type RunLimits,
  type RunOutcome,
} from '../lib/engine/step.ts'
import { type Journal, type KnowsOverrides, type Override, remembering } from '../lib/engine/journal.ts'
import { leaseLock, type Lock } from '../lib/engine/lease.ts'
import { runProcedure } from '../lib/engine/runner.ts'
import type { Clock } from '../lib/kube/clock.ts'
import { blocked, forbidden, type KvupError, lost } from '../lib/kube/errors.ts'
import type { AcceptedRisk } from '../lib/checks/check-run.ts'
import type { Context } from '../context.ts'
import { configMapJournal } from '../lib/engine/journal-config-map.ts'
import { isOfWindow, type MissingValue, pathsOf } from '../lib/engine/overrides.ts'
import { counted, someOf } from '../lib/kube/text.ts'
import type { Change } from '../lib/vms/census/vm-census.ts'
import type { ComparedWith } from '../lib/vms/census/run-census.ts'

/** What is to be done, and what stands against it. */
export interface Work {
  procedure: Procedure
  findings: readonly Finding[]
  accepted: readonly AcceptedRisk[]
  /** Where `--accept` is not for this command line: a sealed plan says which risks are taken. */
  accepting?: Accepting
  rights: { required: readonly Access[]; optional: readonly Access[]; role: string }
  question: string
  limits: RunLimits
  /** The cluster is still the one that the plan was made for; throws `drifted` otherwise. Asked before the question, after it, and once the lock is ours. */
  ensureFits?(): Promise<void>
  /** After the answer and before the lock: what may only happen once a person agreed (a download, a saved file). */
  prepare?(): Promise<void>
}

/** The world as a changing command needs it. */
export interface RunEnvironment {
  cluster: Cluster
  clock: Clock
  journal: Journal & Partial<KnowsOverrides>
  lock: Lock
  prompt: Prompt
  signal: AbortSignal
  who: string
  emit(event: RunEvent): void
  warn(line: string): void
  /** Shown between the gate and the question: what will be done. */
  announce(): void
  /** The uid of the sealed plan that is carried out. */
  plan?: string | undefined
  /** Compares what a step writes with that plan. */
  writes?: RunContext['writes']
}

/**
 * The way that every changing command goes: nothing to do? → does the plan fit → rights → findings → question → preparation → lock and
 * run. Throws `drifted` (5), `forbidden` (7) before the first write, `blocked` for a finding or a no (3), and what `runProcedure` throws.
 */
export async function carryOut(work: Work, environment: RunEnvironment): Promise<RunOutcome> {
  const { cluster, clock, journal, signal } = environment
  const reading: ReadContext = { reader: cluster.reader, clock, journal }
  if (await nothingToDo(work.procedure, reading)) return { is: 'nothing-to-do' }
  if (namesSteps(work.limits)) ensureStepsExist(work.limits, await work.procedure.steps(reading))
  await work.ensureFits?.()
  const missing = await ensureRights(cluster.reviewer, work.rights)
  passGate(work.findings, work.accepted, work.accepting)
  for (const warning of missing) environment.warn(warning)
  environment.announce()
  if (!(await environment.prompt.confirm(work.question))) throw blocked('answered-no', 'nothing was changed')
  await work.ensureFits?.()
  await work.prepare?.()
  signal.throwIfAborted()
  return runProcedure(work.procedure, {
    ...environment,
    lock: fitting(environment.lock, work),
    limits: work.limits,
  })
}

/** Whoever had the lock before us may have left another cluster than the one that was looked at. */
const fitting = (lock: Lock, work: Work): Lock => ({
  hold: (run, queueing) =>
    lock.hold(async (held) => {
      await work.ensureFits?.()
      return run(held)
    }, queueing),
})

/** Asked before the question: nobody agrees to a run that then does not know its own step. */
function namesSteps({ until, pauseBefore = [] }: RunLimits): boolean {
  return until !== undefined || pauseBefore.length > 0
}

/** Journal, lock and the rest of what a changing command works with, in KubeVirt's namespace. */
export function environmentOf(
  { clock, printer, prompt, signal, world }: Context,
  cluster: Cluster,
  { namespace, takeOver }: { namespace: string; takeOver?: string | undefined },
): Omit<RunEnvironment, 'announce'> {
  return {
    cluster,
    clock,
    prompt,
    signal,
    who: world.who,
    journal: remembering(
      configMapJournal(cluster, {
        namespace,
        who: world.who,
        clock,
        warn: (line) => printer.warn(line),
      }),
    ),
    lock: leaseLock(cluster, { namespace, holder: world, clock, takeOver }),
    emit: (event) => printer.event(event),
    warn: (line) => printer.warn(line),
  }
}

interface Rights {
  required: readonly Access[]
  /** What can be done without: events, logs. */
  optional?: readonly Access[]
  /** Of `kvup rbac ROLE`. */
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
  const who = await reviewer.whoAmI().catch(() => undefined)
  throw forbidden(
    'forbidden',
    `${who ?? 'this user'} may not ${missing.join(', nor ')}. Nothing was changed`,
    {
      remedy: `kvup rbac ${role} | kubectl apply -f -      as somebody who may, then bind it to ${who ?? 'this user'}`,
    },
  )
}

async function refused(reviewer: Reviewer, accesses: readonly Access[]): Promise<string[]> {
  const answers = await Promise.all(accesses.map((access) => reviewer.can(access)))
  return accesses.filter((_, index) => answers[index]?.allowed === false).map(inWords)
}

/** `patch kubevirts.kubevirt.io in namespace kubevirt` */
function inWords({ verb, group, resource, subresource, namespace, name }: Access): string {
  const kind = `${resource}${group === '' ? '' : `.${group}`}${subresource ? `/${subresource}` : ''}`
  return `${verb} ${kind}${name ? ` "${name}"` : ''}${namespace ? ` in namespace ${namespace}` : ''}`
}

/**
 * Settings that read as kvup leaves them, and whose former value is on no object any more: a person on a terminal may confirm what the journal claims, `--accept saved-value-missing` leaves
 * them as they are. `--yes` confirms nothing, for whoever can write the journal would be obeyed. Throws `blocked` (exit 3) with the lines that decide.
 */
export async function settleMissingValues(
  journal: Journal,
  { prompt, accepted, only }: { prompt: Prompt; accepted: readonly AcceptedRisk[]; only?: string },
): Promise<void> {
  const missing = (await journal.missing()).filter((one) => only === undefined || one.id === only)
  if (missing.length === 0 || accepted.some((risk) => risk.id === 'saved-value-missing')) return
  const left: MissingValue[] = []
  for (const one of missing) {
    const isConfirmed =
      one.claim && (await prompt.decide?.(`${missingText(one)}. Is that true, and shall it be restored?`))
    if (one.claim && isConfirmed === true) journal.believe(one.claim)
    else left.push(one)
  }
  passGate(missingValueFindings(left), accepted)
}

/** What speaks against going on. Pure. */
export function missingValueFindings(missing: readonly MissingValue[]): readonly Finding[] {
  return missing.map((one) => ({
    id: 'saved-value-missing',
    level: 'blocker',
    summary: missingText(one),
    objects: [nameOf(one)],
    remedy: remedyOf(one),
  }))
}

/** What is not known of it, and who says what, in a sentence. */
export function missingText(missing: MissingValue): string {
  const { why, claim } = missing
  const what = claim ? fieldOf(claim.path) : missing.id
  const note =
    why === 'missing'
      ? `the note of its former value is not on ${nameOf(missing)} any more`
      : `the note of its former value on ${nameOf(missing)} was changed and cannot be read`
  const said =
    claim === undefined ? '' : `; the journal, which others can write, says that it was ${claimed(claim.was)}`
  return `${what} reads as kvup leaves it for a time, and ${note}${said}`
}

function claimed(was: NonNullable<MissingValue['claim']>['was']): string {
  if (!was.present) return 'not set'
  return Array.isArray(was.value) ? was.value.join(', ') : JSON.stringify(was.value)
}

const fieldOf = (path: string): string => path.slice(1).replaceAll('/', '.').replaceAll('~1', '/')

const nameOf = ({ object: { kind, name, namespace } }: MissingValue): string =>
  namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`

/** Setting the field by hand decides as well: it then reads otherwise than kvup leaves it. */
function remedyOf({ id: loan, claim }: MissingValue): readonly string[] {
  const inWindow = claim !== undefined && isOfWindow(claim)
  if (loan === 'workload-updates')
    return [
      `kvup workloads strategy set --methods ${methodsIn(claim)}     resumes automatic VM updates so`,
      `${inWindow ? `kvup eus restore ${loan}` : 'kvup workloads restore'} --keep-current     leaves them off, and forgets it`,
    ]
  const leaves = inWindow
    ? `kvup eus restore ${loan} --keep-current     leaves it as it is, and forgets it`
    : 'add --accept saved-value-missing     leaves it as it is'
  return [leaves, 'kvup history     shows what kvup changed, and when']
}

function methodsIn(claim: MissingValue['claim']): string {
  const value = claim?.was.present ? claim.was.value : undefined
  const safe = Array.isArray(value) && value.every((one) => one === 'LiveMigrate')
  return safe && value.length > 0 ? value.join(',') : 'LiveMigrate'
}

/** A person said that what it was is to be forgotten: then it is closed as any other, with whatever note is left of it. */
export function asOverride({ id: loan, object, claim }: MissingValue, at: string): Override {
  if (claim !== undefined) return claim
  const [path = ''] = pathsOf(loan)
  return { id: loan, procedure: 'restore', object, path, was: { present: false }, by: 'unknown', at }
}

/** Exit 9 where VMs or volumes were lost; undefined otherwise. `done`: what the run did all the same, `KubeVirt v1.8.4 is installed`. */
export function lostSince(
  { changes = [], comparedWith }: { changes?: readonly Change[]; comparedWith?: ComparedWith },
  done: string,
): KvupError | undefined {
  const all = changes.filter((change) => change.lost)
  if (all.length === 0) return undefined
  const volumes = all.filter(isVolume)
  const machines = all.filter((change) => !isVolume(change))
  const parts = [
    ...(machines.length > 0
      ? [
          `${counted(machines.length, 'VM', ['lost its instance', 'lost their instances'])}: ${named(machines)}`,
        ]
      : []),
    ...(volumes.length > 0
      ? [`${counted(volumes.length, 'volume', ['was', 'were'])} lost: ${named(volumes)}`]
      : []),
  ]
  return lost('workloads-lost', `${done}, but ${parts.join('; ')}`, {
    notes: [
      'No owner is seen to have done it.',
      // What is asked for is seen while a run lives.
      ...(comparedWith?.resumed === true
        ? ['A restart that was asked for while no kvup ran leaves no trace and counts as lost.']
        : []),
    ],
    remedy: all.slice(0, 3).flatMap(linesFor),
  })
}

const isVolume = ({ kind }: Change): boolean => kind === 'PersistentVolumeClaim' || kind === 'DataVolume'

const named = (changes: readonly Change[]): string =>
  someOf(changes.map(({ namespace, name, what }) => `${namespace}/${name} (${what})`))

function linesFor({ kind, namespace, name, what }: Change): string[] {
  const events = `kubectl -n ${namespace} get events --field-selector involvedObject.name=${name}     says what happened to it`
  const starts = kind === 'VirtualMachine' && (what === 'stopped' || what === 'failed')
  return starts ? [events, `virtctl -n ${namespace} start ${name}     starts it again`] : [events]
}
