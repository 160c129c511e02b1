import { vmNameOf } from '../../vms/vm.ts'
import type { CommandContext } from '../../kube/world.ts'
import type { Access, Reader } from '../../kube/cluster.ts'
import {
  type BrokenEusReport,
  brokenReport,
  type EusReportDocument,
  type ObservedWindow,
  observeWindow,
  reportOfWindow,
} from './window-report.ts'
import type { MeasureOptions } from '../../availability/measurement.ts'
import type { Procedure, RunLimits, RunMeasurement, RunOutcome } from '../../engine/step.ts'
import { standsStill } from '../steps/pool-steps.ts'
import { leftAsItIs, withParts } from '../window-status.ts'
import {
  type Change,
  type DryRun,
  lastReads,
  performChange,
  readInTime,
  type ResumeHint,
  resumeLine,
  type Rights,
  withLines,
} from '../../engine/change.ts'
import { stopOf } from '../../upgrade/upgrade-report.ts'
import { lostSince, RunCensus } from '../../vms/census/run-census.ts'
import { ApiError, approvalNeeded, type ExitCode, exitCode, KvupError, orElse } from '../../kube/errors.ts'
import type { WindowSnapshot } from './window-snapshot.ts'
import type { CensusCircumstances } from '../../vms/census/vm-census.ts'
import { armedByOthersText, ourRequest, readPlatform } from '../steps/cluster-version-status.ts'
import { harmlessText, valueText } from '../../kube/text.ts'
import { overrideId } from '../../vms/update-methods.ts'
import type { Override } from '../../engine/journal.ts'
import { whatOf } from '../../engine/overrides.ts'
import { spanText, parseDuration } from '../../kube/duration.ts'
import { accessOf } from '../../upgrade/roles.ts'
import { groupOf } from '../../kube/object.ts'
import { VirtualMachines } from '../../kube/kinds/kubevirt-kinds.ts'
import { vmsInOrder } from '../../vms/unblock/restore-vms.ts'
import type { VmRef } from '../../vms/unblock/vm-overrides.ts'
import { parseAccepted } from '../../releases/hop-findings.ts'
import { withoutFlags, wordsOf } from '../../kube/shell-line.ts'
import type { EusRequest } from '../window.ts'

/** What differs between running a window, aborting it and giving its settings back. */
export interface WindowWork {
  procedure: Procedure
  /** Throws `blocked` for what stands against it and nobody accepted. */
  gate: Change['gate']
  /** What was accepted by name. */
  accepted?: Change['accepted']
  question: string
  limits: RunLimits
  dryRun: DryRun | undefined
  /** What a run that came to its end is called. */
  end: 'done' | 'aborted' | 'restored'
  /** Shown before the question. */
  announce: Change['announce']
  /** Rights that this work needs besides those of a window. */
  alsoNeeds?: readonly Access[]
  ensureFits?: () => Promise<void>
  /** The uid of the sealed plan that is carried out. */
  sealed?: string
  /** What is measured beside it. */
  measurement?: RunMeasurement | undefined
  /** Told how far it got, where it had begun and ended early. */
  broken?: (report: BrokenEusReport) => void
}

/** Its exit code; throws `lost` (9) where VMs or volumes are, and nothing else is told by a code of its own. */
export function endOf(report: EusReportDocument, code: ExitCode): ExitCode {
  const { to, outcome } = report
  const failure = code === exitCode.done ? lostSince(report, doneText(to, outcome)) : undefined
  if (failure) throw failure
  return code
}

const doneText = (to: string, outcome: EusReportDocument['outcome']): string =>
  outcome === 'done' ? `platform and virtualization are at ${to}` : 'it is finished'

/** The same without a word of its end, for who goes on. */
export async function workOnWindow(
  cx: CommandContext,
  windowSnapshot: WindowSnapshot,
  work: WindowWork,
): Promise<{ report: EusReportDocument; code: ExitCode }> {
  const { environment, cluster, window, installation } = windowSnapshot
  const census = new RunCensus({
    namespace: installation.namespace,
    kubevirt: window.kubevirt.uid,
    who: cx.world.who,
    warn: (line) => environment.warn(line),
    eachRun: true,
  })
  const observed = observeWindow(cluster, environment.journal, {
    name: window.name,
    census,
    evicted: evictedBy(windowSnapshot),
  })
  try {
    const { measurement } = work
    const outcome = await performChange({
      environment: { ...environment, ...(measurement && { measurement }) },
      change: changeOf(cx, windowSnapshot, { work, observed, census }),
      dryRun: work.dryRun,
      broken: async () => work.broken?.(await brokenReport(windowSnapshot, observed)),
    })
    if (outcome.is === 'dry-run') {
      const { steps, dryRun } = outcome.fields
      const end = { outcome: 'dry-run', dryRun, steps: [], dryRunSteps: steps } as const
      return { report: await reportOfWindow(cx, windowSnapshot, end), code: exitCode.done }
    }
    const report = await ended(cx, windowSnapshot, { work, observed, outcome })
    await census.close(cluster, environment.lock, outcome.is === 'finished' ? 'over' : 'open')
    const late = outcome.is === 'stopped-before' && outcome.because === 'deadline'
    return { report, code: late ? exitCode.timedOut : exitCode.done }
  } finally {
    census.leave()
  }
}

/** Nodes are drained here: who asks for no migration goes down with them. Where outages were accepted by name, all may. */
const evictedBy = ({ planned: { accepted } }: WindowSnapshot): CensusCircumstances['evicted'] =>
  accepted.some(({ id }) => id === 'vm-outages') ? 'everybody' : 'drained'

/** What a person calls the run: `EUS upgrade 4.18 → 4.20`, or what else is done to it. */
const titleOf = ({ name }: Procedure, { window }: WindowSnapshot): string =>
  name === window.name ? `EUS upgrade ${window.began} → ${window.to}` : name

interface Running {
  work: WindowWork
  observed: ObservedWindow
  census: RunCensus
}

function changeOf(
  cx: CommandContext,
  windowSnapshot: WindowSnapshot,
  { work, observed, census }: Running,
): Change {
  const {
    procedure,
    gate,
    accepted = [],
    question,
    limits,
    announce,
    ensureFits,
    sealed,
    alsoNeeds = [],
    dryRun,
  } = work
  const rights = windowRights(windowSnapshot)
  const isDry = dryRun !== undefined && dryRun !== 'none'
  return {
    procedure: isDry ? procedure : census.around(procedure),
    gate,
    accepted,
    rights: { ...rights, required: [...rights.required, ...alsoNeeds] },
    announce,
    question,
    title: titleOf(procedure, windowSnapshot),
    limits,
    async prepare() {
      await census.prepare(windowSnapshot.cluster.reviewer)
      await observed.before()
    },
    onEvent(event) {
      observed.event(event)
      if (event.kind === 'step-done' && event.note?.startsWith(standsStill))
        cx.printer.warn(`${event.step.title}: ${event.note}`)
      return withParts(event)
    },
    hint: windowHint(cx, windowSnapshot),
    plan: sealed,
    ...(ensureFits && { ensureFits }),
  }
}

async function ended(
  cx: CommandContext,
  windowSnapshot: WindowSnapshot,
  { work, observed, outcome }: Omit<Running, 'census'> & { outcome: RunOutcome },
): Promise<EusReportDocument> {
  if (outcome.is === 'nothing-to-do') {
    const notes =
      work.end === 'done' || windowSnapshot.open !== undefined ? [] : ['no EUS upgrade is running']
    return reportOfWindow(cx, windowSnapshot, { outcome: 'nothing-to-do', steps: [], notes })
  }
  const seconds = Math.round(outcome.tookMs / 1000)
  const after = await observed.after()
  const common = { steps: observed.steps, seconds, ...after }
  if (outcome.is === 'finished') {
    const notes = work.end === 'restored' ? [] : await leftOver(windowSnapshot)
    return reportOfWindow(cx, windowSnapshot, { outcome: work.end, ...common, notes })
  }
  const stoppedBefore = stopOf(outcome)
  return reportOfWindow(cx, windowSnapshot, { outcome: 'stopped-before', ...common, stoppedBefore })
}

/** Nobody waits for these any more: it is said that they are so. */
async function leftOver({ cluster, window }: WindowSnapshot): Promise<readonly string[]> {
  return orElse(leftAsItIs(cluster.reader, window.kubevirt), ({ message }) => [
    `kvup could not read what is still paused: ${message}`,
  ])
}

/** A run that ends early says what is borrowed, what is armed, and which line goes on. Before it began nothing was changed, and a refusal has its own remedy. */
const windowHint = (cx: CommandContext, windowSnapshot: WindowSnapshot): ResumeHint => ({
  ...lastReads,
  async told({ error, hasBegun, readWithin }) {
    if (!hasBegun || !(error instanceof KvupError)) return error
    const left =
      readWithin > 0 ? await leftBehind(cx, windowSnapshot, readWithin) : overriddenLines(cx, windowSnapshot)
    return withLines(error, {
      notes: [...error.notes, ...left],
      remedy: [...error.remedy, ...sameLine(cx, error), 'kvup eus status'],
    })
  },
})

/** The line that was typed goes on, but for one that ends at the same place again; what was not waited for long enough is waited for anew. */
function sameLine({ world }: CommandContext, { reason }: KvupError): readonly string[] {
  if (reason === approvalNeeded) return []
  const anew = reason === 'timed-out' || reason === 'stalled' ? ', and waits again' : ''
  return [resumeLine(world, `continues${anew}`)]
}

async function leftBehind(
  cx: CommandContext,
  windowSnapshot: WindowSnapshot,
  readWithin: number,
): Promise<readonly string[]> {
  const { clock } = cx
  const { environment, cluster, window } = windowSnapshot
  const [overrides, platform] = await readInTime(clock, readWithin, [
    environment.journal.overrides(),
    readPlatform(cluster.reader),
  ])
  return [
    ...overriddenLines(cx, windowSnapshot, overrides),
    ...(platform === undefined ? [] : await armedLine(window.name, platform, overrides ?? [])),
  ]
}

/** Where nobody could be asked: what this run borrowed and read itself. */
function overriddenLines(
  { clock }: CommandContext,
  { environment }: WindowSnapshot,
  asked?: readonly Override[],
): readonly string[] {
  const overrides = asked ?? environment.journal.known?.()
  if (overrides === undefined) return ['kvup could not read the temporary changes']
  const now = clock.now().getTime()
  const lines = overrides.map((override) => overrideLine(override, now))
  return asked ? lines : [...lines, 'the API server does not answer: kvup shows what this run knows']
}

async function armedLine(
  name: string,
  platform: Awaited<ReturnType<typeof readPlatform>>,
  overrides: readonly Override[],
): Promise<readonly string[]> {
  const { armed } = platform.platformStatus
  if (armed === undefined) return []
  if (!(await ourRequest({ overrides: async () => overrides }, name, platform)))
    return [armedByOthersText(armed)]
  return [
    `the platform update to ${armed.version ?? armed.image} is requested but not started: it starts by itself; kvup eus abort withdraws it`,
  ]
}

function overrideLine({ id, at, was, harmless = 'for now' }: Override, now: number): string {
  const age = spanText(now - Date.parse(at))
  if (id !== overrideId) return `temporary change ${age} ago: ${whatOf(id)}; ${harmlessText(harmless)}`
  const before = was.present ? ` (was ${valueText(was.value)})` : ''
  return `Paused by kvup ${age} ago: automatic VM updates${before}. CPU, memory and volume changes wait until resumed`
}

/** What this window needs before its first write: health checks only where there are some. */
function windowRights({
  installation,
  planned: { plan },
}: Pick<WindowSnapshot, 'installation' | 'planned'>): Rights {
  const kinds = new Set(plan.healthChecks.map(({ kind }) => `${kind.toLowerCase()}s`))
  const isNeeded = ({ resource, verb }: Access) => kinds.has(resource) && verb !== 'watch'
  const all = accessOf('kvup-eus', installation.namespace)
  return {
    required: all.filter(({ access, optional }) => !optional || isNeeded(access)).map(({ access }) => access),
    optional: [],
    role: 'kvup-eus',
  }
}

/** VMs of all namespaces that `kvup workloads unblock` lent something. Where they may not be read, a warning says so. */
export async function vmsToRestore(
  { printer }: Pick<CommandContext, 'printer'>,
  reader: Reader,
): Promise<readonly VmRef[]> {
  try {
    return await vmsInOrder(reader)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    printer.warn(`kvup does not know whether VMs have temporary changes: ${error.message}`)
    return []
  }
}

/** What giving it back takes. */
export function vmsAccess(vms: readonly VmRef[]): readonly Access[] {
  const { plural: resource } = VirtualMachines
  return vms.length === 0 ? [] : [{ verb: 'patch', group: groupOf(VirtualMachines), resource }]
}

const toldAtMost = 20

/** Said before the question. */
export function vmsText(vms: readonly VmRef[]): readonly string[] {
  if (vms.length === 0) return []
  const names = vms.slice(0, toldAtMost).map(vmNameOf)
  const more = vms.length > toldAtMost ? `, and ${vms.length - toldAtMost} more` : ''
  return [`Restored last, after the pools: the settings of unblocked VMs ${names.join(', ')}${more}`]
}

export interface EusPlanningOptions {
  to?: string
  graphFile?: string
  catalogFile?: string
  releases?: string
  accept: readonly string[]
}

/** As commander hands them over. */
export interface EusRunOptions extends EusPlanningOptions, MeasureOptions {
  plan?: string
  approve?: boolean
  approveAlso: string[]
  approval?: 'Manual' | 'Automatic'
  poolOrder: string[]
  leaveRequested?: boolean
  stableFor: string
  timeout: string
  stalledAfter?: string
  deadline?: string
  until?: string
  pauseBefore: string[]
  dryRun?: DryRun
  takeOver?: string
}

/** `commandLine`: as it was typed. A sealed plan takes no other risk than it was made with, so that a line with one more goes without it. */
export function requestOf(options: EusRunOptions, commandLine: string): EusRequest {
  return {
    accepted: parseAccepted(options.accept).map(({ id }) => id),
    approve: options.approve ?? false,
    approveAlso: options.approveAlso,
    ...(options.approval !== undefined && { approval: options.approval }),
    poolOrder: options.poolOrder,
    leaveRequested: options.leaveRequested ?? false,
    stableMs: parseDuration(options.stableFor),
    command: withoutFlags(wordsOf(commandLine), { valued: ['--plan'] }).join(' '),
  }
}
