import { withoutSpans } from '../lib/output/progress/progress-output.ts'
import { roleRemedy } from '../lib/output/kvup-words.ts'
import { Option } from 'commander'
import type { Context, Wire } from '../context.ts'
import { statusChanges, type StatusReport } from '../lib/status/status-report.ts'
import { missingFor, parseWaitCondition, type WaitCondition } from '../lib/status/wait-condition.ts'
import { vmTroubleLines } from '../lib/output/views/report-lines.ts'
import { type Clock, minutes, ownTicks, ticks } from '../lib/kube/clock.ts'
import { parseDuration, spanText } from '../lib/kube/duration.ts'
import { blocked, forbidden, isNotFound, type KvupError, timedOut } from '../lib/kube/errors.ts'
import { asksCluster, stalledOption, KvupCommand } from './command-options.ts'
import type { Reader } from '../lib/kube/cluster.ts'
import { resumeLine } from '../lib/engine/change.ts'
import { MachineConfigPools } from '../lib/kube/kinds/openshift-kinds.ts'
import { anyDegraded, poolsMissing } from '../lib/openshift/machine-config-pools.ts'
import { meaningOf, remarkOn } from '../lib/engine/run-session.ts'
import { newControllerLeads } from '../lib/kubevirt/lease-holders.ts'
import { countWorkloads, takeSnapshot } from '../lib/kubevirt/snapshot.ts'
import { countUnlabelled } from '../lib/vms/outdated-vms.ts'
import { unmovedVms } from '../lib/vms/vms-updated.ts'
import { ensurePlace } from '../lib/vms/vm.ts'
import { type WaitDocument, waitView } from '../lib/output/views/status.ts'

export interface WaitOptions {
  for: string
  timeout: string
  stalledAfter?: string
}

export function waitCommand(wire: Wire): KvupCommand {
  return new KvupCommand('wait')
    .addOption(
      new Option(
        '--for <condition>',
        'healthy, version=VERSION (healthy at it), workloads=0 (healthy, and no VM on an old virt-launcher) or pools-updated (every MachineConfigPool of OpenShift)',
      ).makeOptionMandatory(),
    )
    .addOption(new Option('--timeout <duration>', 'how long to wait at most').default('60m'))
    .addOption(stalledOption())
    .manual({
      examples: [
        ['kvup wait --for healthy', 'until every component runs what it should'],
        ['kvup wait --for version=v1.8.4 --timeout 90m', 'until it is healthy at that version'],
        ['kvup wait --for workloads=0 --timeout 8h', 'until no VM is left on an old virt-launcher'],
        ['kvup wait --for healthy --stalled-after 5m', 'end when it is stalled for 5 minutes'],
        ['kvup wait --for healthy -o json', 'print how it ended as JSON'],
      ],
      more: 'kvup wait only reads. Exit code 4 means a timeout or a stall: the last lines say what was\nmissing, and why.',
      codes: [...asksCluster, 'timedOut', 'interrupted', 'terminated'],
    })
    .action(wire(wait))
}

/** What was seen last. */
interface LastRead {
  report?: StatusReport | undefined
  snapshot?: true
  missing?: string | undefined
  unmoved?: readonly string[] | undefined
}

/** Exit 0 when it holds; `timedOut` with what was missing. Writes nothing and takes no lock. */
export async function wait(cx: Context, options: WaitOptions): Promise<void> {
  const condition = parseWaitCondition(options.for)
  const timeout = parseDuration(options.timeout)
  const stalledAfter = options.stalledAfter === undefined ? undefined : parseDuration(options.stalledAfter)
  const cluster = await cx.cluster()
  const { reader } = cluster
  await ensurePlace({ cluster }, { namespace: cx.flags?.namespace })
  const began = ownTicks(cx.clock)
  const lastRead: LastRead = {}
  const answer = () => cx.printer.result(documentOf(condition, lastRead, took(cx, began)), waitView)
  const limit = new WaitLimit(cx, { timeout, stalledAfter })
  try {
    await untilItHolds(condition, {
      reader,
      clock: cx.clock,
      signal: limit.signal,
      observed(report, missing, isStuck, unmoved) {
        // VMs that somebody moves by hand: a smaller number is a move.
        limit.observe(isStuck, unmoved && missing)
        observe(cx, condition, { report, missing })
        tell(cx, lastRead, { report, missing, unmoved })
      },
      remark: (line) => cx.printer.warn(line),
      told: (line) => cx.printer.note(line),
    })
    answer()
  } catch (error) {
    const over = limit.over(error)
    if (over === undefined) throw error
    // With -q the error says the same, and more.
    if (lastRead.snapshot && !isVerdictAlone(cx)) answer()
    throw over === 'stalled'
      ? stalledTooLong(cx, condition, lastRead, spanText(stalledAfter ?? 0))
      : tooLate(cx, condition, lastRead, timeout)
  } finally {
    limit.stop()
  }
}

const isVerdictAlone = ({ flags }: Context): boolean =>
  flags?.quiet === true && (flags.output === 'table' || flags.output === 'wide')

const took = ({ clock }: Context, began: number) => Math.round((ownTicks(clock) - began) / 1000)

/** Ends the wait at the end of the command's time, by its clock, or of a stall that lasts too long; and with the command. */
class WaitLimit {
  readonly #clock: Clock
  readonly #stalledAfter: number | undefined
  readonly #late = new AbortController()
  readonly #stuck = new AbortController()
  readonly #done = new AbortController()
  #moved: AbortController | undefined
  #what: string | undefined
  readonly signal: AbortSignal

  constructor(
    { clock, signal }: Context,
    { timeout, stalledAfter }: { timeout: number; stalledAfter: number | undefined },
  ) {
    this.#clock = clock
    this.#stalledAfter = stalledAfter
    this.signal = AbortSignal.any([signal, this.#late.signal, this.#stuck.signal])
    this.#endAfter(timeout, this.#late, this.#done.signal)
  }

  /** Told at each look: a stall that heals begins anew, and one in which `what` is waited for is another. */
  observe(isStuck: boolean, what?: string): void {
    if (!isStuck || what !== this.#what) {
      this.#moved?.abort()
      this.#moved = undefined
    }
    this.#what = what
    if (isStuck && this.#stalledAfter !== undefined && this.#moved === undefined) {
      this.#moved = new AbortController()
      const idle = AbortSignal.any([this.#done.signal, this.#moved.signal])
      this.#endAfter(this.#stalledAfter, this.#stuck, idle)
    }
  }

  /** Which limit threw this. */
  over(error: unknown): 'late' | 'stalled' | undefined {
    if (error === this.#late.signal.reason) return 'late'
    return error === this.#stuck.signal.reason ? 'stalled' : undefined
  }

  stop(): void {
    this.#done.abort()
  }

  #endAfter(ms: number, end: AbortController, unless: AbortSignal): void {
    this.#clock.sleep(ms, unless).then(
      () => end.abort(),
      () => undefined,
    )
  }
}

/** As an event: what the document has of it, as it is now. */
function observe({ printer, clock }: Context, { text }: WaitCondition, { report, missing }: LastRead): void {
  const { verdict, observed, why = [] } = report ?? {}
  printer.observe?.({
    kind: 'wait-observed',
    at: clock.now().toISOString(),
    for: text,
    ...(verdict && { verdict }),
    ...(observed?.version && { version: observed.version }),
    ...(missing !== undefined && { waitingFor: missing }),
    ...(why.length > 0 && { why }),
  })
}

/** Only what is new: reports also differ in what nobody waits for. */
function tell({ printer }: Context, lastRead: LastRead, { report, missing, unmoved }: LastRead): void {
  const [known, now] = [sentences(lastRead).map(withoutSpans), sentences({ report, missing, unmoved })]
  Object.assign(lastRead, { report, missing, unmoved, snapshot: true })
  for (const line of now) if (!known.includes(withoutSpans(line))) printer.note(line)
}

function sentences({ report, missing, unmoved = [] }: LastRead): readonly string[] {
  if (missing === undefined) return []
  const { troubled } = report?.workloads ?? {}
  const vms = troubled ? vmTroubleLines(troubled) : []
  return [
    `waiting for ${missing}`,
    ...(report?.why ?? []).map(({ sentence }) => sentence),
    ...unmoved,
    ...vms,
  ]
}

function documentOf(
  condition: WaitCondition,
  { report, missing }: LastRead,
  tookSeconds: number,
): WaitDocument {
  const { verdict, observed, why = [], remarks = [], workloads: { troubled } = {} } = report ?? {}
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'Wait',
    for: condition.text,
    met: missing === undefined,
    ...(missing === undefined && { outcome: 'done' as const }),
    ...(verdict && { verdict }),
    ...(observed?.version && { version: observed.version }),
    tookSeconds,
    ...(missing !== undefined && { waitingFor: missing }),
    ...(why.length > 0 && { why }),
    ...(remarks.length > 0 && { remarks }),
    ...(troubled && troubled.count > 0 && { vms: troubled }),
  }
}

/** Exit 4, with the cause, what helps against it, and the line that waits again. */
function tooLate(
  { world }: Context,
  condition: WaitCondition,
  { report, missing, unmoved }: LastRead,
  timeout: number,
): KvupError {
  const why = report?.why ?? []
  const what = missing ?? 'an answer of the cluster'
  return timedOut(
    'wait-timed-out',
    `${condition.text} is not met after ${spanText(timeout)}: still waiting for ${what}`,
    {
      notes: [...why.map(({ sentence }) => sentence), ...(unmoved ?? [])],
      remedy: [
        ...new Set(why.flatMap(({ commands }) => commands)),
        ...helpFor(condition, report),
        resumeLine(world, 'waits again'),
      ],
    },
  )
}

/** What brings a condition about that does not come by waiting, or shows why it does not. */
function helpFor(condition: WaitCondition, report: StatusReport | undefined): readonly string[] {
  const isHealthy = report?.verdict === 'Healthy'
  if (condition.is === 'version' && isHealthy)
    return [`kvup upgrade --to ${condition.version}     starts that upgrade`]
  if (condition.is === 'workloads' && isHealthy)
    return [
      'kvup workloads outdated     shows which VMs, and why they have not moved',
      'kvup workloads update --canary 1     moves them, one first',
    ]
  return ['kvup status     shows more']
}

/** Exit 4, with the line that waits again. */
function stalledTooLong(
  { world }: Context,
  condition: WaitCondition,
  { report, missing, unmoved }: LastRead,
  limit: string,
): KvupError {
  const why = report?.why ?? []
  return timedOut(
    'stalled',
    `${condition.text} is not met: stalled for ${limit} (--stalled-after), waiting for ${missing ?? 'KubeVirt'}`,
    {
      notes: [...why.map(({ sentence }) => sentence), ...(unmoved ?? [])],
      remedy: [
        ...new Set(why.flatMap(({ commands }) => commands)),
        ...(unmoved ? helpFor(condition, report) : []),
        resumeLine(world, 'waits again'),
      ],
    },
  )
}

export interface Waiting {
  reader: Reader
  clock: Clock
  signal: AbortSignal
  /**
   * Told at every look that differs; `missing` is undefined where the condition holds, the report where KubeVirt is not asked about. `isStuck`: waiting alone does not
   * mend it; `unmoved`: why nobody moves the VMs that are waited for.
   */
  observed(
    report: StatusReport | undefined,
    missing: string | undefined,
    isStuck: boolean,
    unmoved?: readonly string[],
  ): void
  /** Told what the wait goes on in spite of. */
  remark(line: string): void
  /** Told before a wait that is not for a change. */
  told?(line: string): void
}

/** Between two looks where no change tells us, ms. */
const readAgain = 5000

/**
 * Ends when the condition holds; throws the signal's reason, and what makes waiting useless. A server that is away for a
 * while is waited for, but not before it has answered once.
 */
export async function untilItHolds(condition: WaitCondition, waiting: Waiting): Promise<void> {
  const { clock, signal } = waiting
  const before: Before = { answered: false }
  for (;;) {
    try {
      const holds =
        condition.is === 'pools' ? poolsStay(waiting, before) : holdsNow(condition, waiting, before)
      if (await holds) return
    } catch (error) {
      if (!before.answered || meaningOf(error) !== 'retry') throw error
      waiting.remark(remarkOn(error))
    }
    await clock.sleep(readAgain, signal)
  }
}

interface Before {
  answered: boolean
  /** When the condition held for the first time but for what cannot be seen yet, ms. */
  heldAt?: number
}

/** For how long a doubt is waited for behind what KubeVirt says, ms. */
const doubtsAtMost = 2 * minutes

function isOver(before: Before, clock: Clock): boolean {
  const now = ticks(clock)
  before.heldAt ??= now
  return now - before.heldAt >= doubtsAtMost
}

/** Pools are few and take minutes: they are listed again. */
async function poolsStay(waiting: Waiting, before: Before): Promise<boolean> {
  const pools = await waiting.reader.list(MachineConfigPools).catch((error: unknown) => {
    throw isNotFound(error) ? noPools() : error
  })
  before.answered = true
  const missing = poolsMissing(pools)
  waiting.observed(undefined, missing, anyDegraded(pools))
  return missing === undefined
}

function noPools(): Error {
  return blocked('no-pools', 'this cluster has no MachineConfigPools: they are of OpenShift and OKD', {
    remedy: 'kubectl get nodes',
  })
}

const stuck: ReadonlySet<StatusReport['verdict']> = new Set(['Stalled', 'Degraded'])

/** Follows until a look has all that is asked; then false where that look alone does not prove it. */
async function holdsNow(condition: WaitCondition, waiting: Waiting, before: Before) {
  const { reader, clock } = waiting
  for await (const report of statusChanges(waiting)) {
    before.answered = true
    refuseHopeless(condition, report)
    const missing = missingFor(condition, report)
    const unseen =
      missing === undefined && condition.is === 'workloads'
        ? await outdatedUnseen(reader, clock, { isOver: isOver(before, clock) })
        : undefined
    const isLeft = condition.is === 'workloads' && report.verdict === 'Healthy' && missing !== undefined
    const unmoved = isLeft ? await unmovedVms(reader, clock) : undefined
    waiting.observed(report, missing ?? unseen, unmoved !== undefined || stuck.has(report.verdict), unmoved)
    if (missing === undefined) return unseen === undefined
  }
  return false
}

function refuseHopeless(condition: WaitCondition, { installation, next, workloads }: StatusReport): void {
  if (!installation)
    throw blocked('no-kubevirt-cr', 'there is no KubeVirt resource to wait for', {
      remedy: next ?? [],
    })
  if (condition.is === 'workloads' && workloads.outdated.labelled === undefined)
    throw forbidden('instances-not-readable', 'kvup may not read the VMIs', {
      remedy: roleRemedy('kvup-view'),
    })
}

/**
 * Why "no VMI is labelled outdated" does not say yet that none is (lab 10, 15); undefined when it does. Lists all VMIs. Throws
 * `forbidden` where it cannot be told, now or later. Who leads is a doubt: another release may elect otherwise, so it is asked about only while the patience
 * lasts; VMIs that are not labelled are counted ones, and waited for.
 */
export async function outdatedUnseen(
  reader: Reader,
  clock: Clock,
  patience: { isOver: boolean },
): Promise<string | undefined> {
  const snapshot = await takeSnapshot(reader, ['pods', 'leases'], clock)
  const leads = newControllerLeads(snapshot)
  if (leads === undefined)
    throw forbidden('leader-not-known', 'kvup cannot see which virt-controller leads', {
      notes: ['kvup counts outdated VMs only once one of the new version leads'],
      remedy: roleRemedy('kvup-view'),
    })
  if (!leads && !patience.isOver) return 'a virt-controller of the new version to take its Lease'
  const left = await countUnlabelled(reader, snapshot)
  if (left > 0) return `virt-controller to label ${left} outdated VMIs`
  // Last: what was labelled since the look that asked for this counts.
  const { outdated } = await countWorkloads(reader)
  return outdated === 0 ? undefined : `${outdated} VMIs that are labelled outdated now`
}
