import { dirname, isAbsolute, join } from 'node:path'
import type { Option } from 'commander'
import type { Context } from '../../context.ts'
import { configMapJournal } from '../../lib/engine/journal-config-map.ts'
import { leaseLock } from '../../lib/engine/lease.ts'
import { countedAlerts } from '../../lib/fleet/fleet-alerts.ts'
import { readFleetPlan, type SealedFleet } from '../../lib/fleet/fleet-plan.ts'
import { endedBy, type FleetReport, type FleetResult, isDone } from '../../lib/fleet/fleet-report.ts'
import { failedRow, type FleetRow, isWell } from '../../lib/fleet/fleet-rows.ts'
import { failuresOf, leftOf, soakLeft, stopOf } from '../../lib/fleet/fleet-rules.ts'
import { type FleetTrace, type FleetWave, traceOf } from '../../lib/fleet/fleet-waves.ts'
import { inParallel, withinTime } from '../../lib/fleet/in-parallel.ts'
import { fileTrouble } from '../../lib/kube/bounded-file.ts'
import { seconds, ticks } from '../../lib/kube/clock.ts'
import { parseDuration, spanText } from '../../lib/kube/duration.ts'
import { blocked, type ExitCode, exitCode, KvupError, locked, usageError } from '../../lib/kube/errors.ts'
import { shellWord, withoutFlags, wordsOf } from '../../lib/kube/shell-line.ts'
import { counted, someOf } from '../../lib/kube/text.ts'
import { fleetPlanView, fleetReportView } from '../../lib/output/views/fleet-plan.ts'
import type { PlanDocument } from '../../lib/upgrade/plan/plan-document.ts'
import { tellScreen } from '../run-change.ts'
import {
  type ClusterUpgrades,
  type ObservedCluster,
  observe,
  type PlannedMember,
  plannedOf,
  upgradesHere,
} from './cluster-upgrade.ts'
import { fleetPlanning } from '../fleet.ts'
import { savePlan } from '../upgrade/upgrade.ts'
import { type FleetPlanOptions, makeFleetPlan } from './fleet-plan.ts'
import { limitOf, linesFor, openFleet, type OpenMember, parallelOf, sameCluster } from './members.ts'

export interface FleetUpgradeOptions extends FleetPlanOptions {
  plan?: string
  only?: string
  parallel: string
  clusterTimeout: string
  timeout?: string
  replaceRun: readonly string[]
  viaJobs?: boolean
  image?: string
  jobNamespace: string
}

/** `kvup fleet upgrade --plan`: wave by wave, each cluster by its own sealed plan. What was done is read from the journals of the clusters, so that any machine with the same plan goes on. */
export async function fleetUpgrade(cx: Context, options: FleetUpgradeOptions): Promise<ExitCode> {
  // What is typed wrong is told before a plan is made.
  for (const limit of [options.timeout, options.clusterTimeout]) if (limit !== undefined) parseDuration(limit)
  if (options.plan === undefined) return planAndUpgrade(cx, options)
  const plan = await readPlan(cx, options.plan)
  if (cx.flags.output === 'argo-workflow') {
    cx.printer.result(plan, fleetPlanView)
    return exitCode.done
  }
  const run = new FleetRun(cx, plan, options, await upgradesBy(cx, plan, options))
  await run.open()
  run.ensureFree()
  if (!(await run.isAgreed())) throw blocked('answered-no', 'Canceled. Nothing was changed.')
  return run.carryOut()
}

/** By this process, or by Jobs. Throws `usage` for what no Job can run, before anything is asked. */
async function upgradesBy(cx: Context, plan: SealedFleet, options: FleetUpgradeOptions) {
  const { timeout, viaJobs, image, jobNamespace } = options
  const run = { cx, plan, ...(timeout !== undefined && { timeout }) }
  if (viaJobs) return (await import('./job-upgrade.ts')).upgradesByJobs(run, { image, jobNamespace })
  if (image !== undefined)
    throw usageError('contradiction', '--image is of Jobs: add --via-jobs', {
      remedy: `${cx.world.commandLine} --via-jobs`,
    })
  return upgradesHere(run)
}

/** Makes the plan and saves it before anything is asked: it is what any machine goes on with. Throws `usage` without a name for it, and where that file is there already. */
async function planAndUpgrade(cx: Context, options: FleetUpgradeOptions): Promise<ExitCode> {
  const { toFile } = options
  if (toFile === undefined)
    throw usageError('no-plan-file', 'name the file that the plan is saved to, or the plan itself', {
      remedy: [
        `${cx.world.commandLine} --to-file fleet-plan.yaml     makes a plan, saves it and carries it out`,
        'kvup fleet upgrade --plan FILE     carries out what kvup fleet plan saved',
      ],
    })
  const isThere = await cx.world.readText(toFile).then(
    () => true,
    () => false,
  )
  const line = carryingOutLine(cx.world.commandLine, toFile)
  if (isThere)
    throw usageError('plan-exists', `${toFile} is there already, and is not overwritten`, {
      remedy: `${line}     goes on with it, where it is the plan of this fleet`,
    })
  const sealed = await makeFleetPlan(cx, options)
  await savePlan(cx.world, toFile, sealed)
  return fleetUpgrade({ ...cx, world: { ...cx.world, commandLine: line } }, { ...options, plan: toFile })
}

const longsOf = (options: readonly Option[]): readonly string[] => options.flatMap(({ long }) => long ?? [])

/** The same line without what the plan holds. */
function carryingOutLine(typed: string, file: string): string {
  const held = fleetPlanning().filter(({ long }) => !kept.has(long ?? ''))
  const words = withoutFlags(wordsOf(typed), {
    alone: longsOf(held.filter(({ required, optional }) => !required && !optional)),
    valued: longsOf(held.filter(({ required, optional }) => required || optional)),
  })
  return [...words, '--plan', shellWord(file)].join(' ')
}

async function readPlan({ world }: Context, file: string): Promise<SealedFleet> {
  const text = await world.readText(file).catch((cause: unknown) => {
    throw usageError(
      'plan-missing',
      `cannot read the fleet plan ${shellWord(file)}: ${fileTrouble(cause, 'read')}`,
      {
        remedy: `make it with --to-file ${shellWord(file)} of kvup fleet plan`,
        cause,
      },
    )
  })
  const plan = readFleetPlan(text, file)
  const clusters = plan.clusters.map((one) =>
    one.kubeconfig === undefined || isAbsolute(one.kubeconfig)
      ? one
      : Object.assign({}, one, { kubeconfig: join(dirname(file), one.kubeconfig) }),
  )
  return { ...plan, clusters }
}

/** One process of a fleet run. Nothing that it knows outlives it: the next one asks the clusters. */
class FleetRun {
  readonly #cx: Context
  readonly #plan: SealedFleet
  readonly #options: FleetUpgradeOptions
  readonly #results = new Map<string, FleetResult>()
  readonly #traces = new Map<string, FleetTrace>()
  readonly #by: ClusterUpgrades
  /** Aborted when a rule ends the run: nothing is begun any more. */
  readonly #stopped = new AbortController()
  #open = new Map<string, OpenMember>()

  constructor(cx: Context, plan: SealedFleet, options: FleetUpgradeOptions, by: ClusterUpgrades) {
    this.#cx = cx
    this.#plan = plan
    this.#options = options
    this.#by = by
    const { only } = options
    if (only !== undefined && !plan.clusters.some(({ name }) => name === only))
      throw usageError('no-such-cluster', `${plan.file} has no cluster ${JSON.stringify(only)}`, {
        remedy: `name one of ${someOf(plan.clusters.map(({ name }) => name))}`,
      })
    for (const wave of plan.waves)
      for (const name of wave.clusters)
        this.#results.set(name, { ...this.#placeOf(name), wave: wave.wave, outcome: 'not-begun' })
  }

  #placeOf(name: string): Pick<FleetResult, 'name' | 'context' | 'uid' | 'from'> {
    const { context, uid, plan } = this.#clusterOf(name)
    return { name, context, uid, ...(plan.from !== undefined && { from: plan.from }) }
  }

  #clusterOf(name: string): PlannedMember {
    return plannedOf(this.#plan, name)
  }

  /** Every cluster is asked who it is, and what its journal says. Throws `usage` where a context leads to another cluster than the plan is of. */
  async open(): Promise<void> {
    const members = this.#plan.clusters.map(({ name, context, kubeconfig, windows }) => ({
      name,
      context,
      ...(kubeconfig !== undefined && { kubeconfig }),
      windows,
      accept: [],
    }))
    const { open, failed } = await openFleet(this.#cx, members, this.#options)
    for (const row of failed) this.#failed(row)
    for (const { member, place } of open) {
      const { uid } = this.#clusterOf(member.name)
      // Each is another cluster by the plan: two that are one now are not the ones that were planned.
      const [context] = [...(place.uid === uid ? [] : [member.context]), ...(place.also ?? [])]
      if (context === undefined) continue
      throw usageError(
        'another-cluster',
        `context ${context} leads to another cluster than ${this.#plan.file} was made for: the uid of its kube-system is ${place.uid}${place.uid === uid ? `, which is cluster ${member.name}` : `, planned was ${uid}`}`,
        {
          remedy: 'use the kubeconfig that the plan was made with: --kubeconfig FILE',
        },
      )
    }
    this.#open = new Map(open.map((one) => [one.member.name, one]))
    await this.#readTraces([...this.#open.keys()])
  }

  /** The look at each of them that is open, within its time; where it fails that is told of the cluster. Gives what came of the others. */
  async #each<R>(
    names: readonly string[],
    read: (one: OpenMember) => Promise<R>,
    failed = ({ member }: OpenMember, error: KvupError) => this.#note(member.name, endedBy(error)),
  ): Promise<ReadonlyMap<string, R>> {
    const { parallel, clusterTimeout } = this.#options
    const ms = parseDuration(clusterTimeout)
    const found = new Map<string, R>()
    await inParallel(names, parallelOf(parallel), async (name) => {
      const one = this.#open.get(name)
      if (one === undefined) return
      try {
        found.set(name, await withinTime(read(one), limitOf(this.#cx, ms)))
      } catch (error) {
        if (!(error instanceof KvupError) || this.#cx.signal.aborted) throw error
        failed(one, error)
      }
    })
    return found
  }

  /** What the journals say now. One that cannot be read is a failure of its cluster. Gives those that were read. */
  async #readTraces(names: readonly string[]): Promise<readonly string[]> {
    const entriesOf = async (one: OpenMember) => (await this.#journalOf(one)).entries()
    const read = await this.#each(names, entriesOf, ({ place }, error) =>
      this.#failed(failedRow(place, error)),
    )
    for (const [name, entries] of read) this.#traces.set(name, traceOf(entries, this.#plan.seal.uid))
    return names.filter((name) => read.has(name))
  }

  #failed({ name, error }: Pick<FleetRow, 'name' | 'error'>): void {
    const result = this.#results.get(name)
    if (result) this.#results.set(name, { ...result, outcome: 'unreachable', ...(error && { error }) })
  }

  async #journalOf(one: OpenMember) {
    const { cx } = one
    const { namespace } = this.#clusterOf(one.member.name).plan.kubevirt
    return configMapJournal(await sameCluster(one), { namespace, who: cx.world.who, clock: cx.clock })
  }

  /** Throws `locked` where another fleet run has begun on one of these clusters and is not over. */
  ensureFree(): void {
    const { uid } = this.#plan.seal
    const { replaceRun } = this.#options
    const others = [...this.#traces].flatMap(([name, { last }]) =>
      last === undefined || last.isOver || last.uid === uid || replaceRun.includes(last.uid)
        ? []
        : [{ name, last }],
    )
    for (const { name, last } of others.slice(0, 1)) {
      const uids = [...new Set(others.map((one) => one.last.uid))]
      throw locked(
        'another-fleet-run',
        `cluster ${name} belongs to fleet run ${last.uid}, which is not over: wave ${last.wave}, last by ${last.by} at ${last.at}`,
        {
          notes: ['its own plan goes on with it: kvup fleet upgrade --plan with the file of that run'],
          remedy: `${[this.#cx.world.commandLine, ...uids.map((one) => `--replace-run ${shellWord(one)}`)].join(' ')}     gives ${uids.length === 1 ? 'that run' : 'those runs'} up`,
        },
      )
    }
  }

  async isAgreed(): Promise<boolean> {
    const { to, waves, clusters, file } = this.#plan
    tellScreen(this.#cx.printer, (paint) => [
      ...fleetPlanView.text(this.#plan, paint, { columns: Infinity, wide: false }),
      ...([...this.#traces].filter(([, { hasBegun }]) => hasBegun).length > 0
        ? [
            `goes on: ${counted([...this.#traces.values()].filter(({ doneAt }) => doneAt !== undefined).length, 'cluster')} done already`,
          ]
        : []),
      ...this.#by.before,
    ])
    return this.#cx.prompt.confirm(
      `Upgrade ${counted(clusters.length, 'cluster')} to ${to} in ${counted(waves.length, 'wave')}, as ${file} has it?`,
      this.#cx.world.commandLine,
    )
  }

  async carryOut(): Promise<ExitCode> {
    const { waves } = this.#plan
    const { only } = this.#options
    try {
      for (const [index, wave] of waves.entries()) {
        const names = only === undefined ? wave.clusters : wave.clusters.filter((name) => name === only)
        // Of one cluster alone the waves before it are looked at, and not carried out.
        if (names.length === 0) {
          this.#noteDone(wave)
          continue
        }
        await this.#gate(waves.slice(0, index), wave)
        await this.#runWave(wave, names)
        this.#ensureGoesOn(wave)
        if (only !== undefined) break
      }
      if (only === undefined) await this.#end()
    } catch (error) {
      this.#tell()
      throw this.#cx.signal.aborted ? this.#interrupted(error) : error
    }
    this.#tell()
    this.#ensureAllDone()
    return exitCode.done
  }

  /** Throws where clusters failed, no more than were allowed, or one was left: the run came to its end, and is not well. */
  #ensureAllDone(): void {
    const all = this.#all
    const failures = failuresOf(all)
    const left = failures.length > 0 ? failures : leftOf(all, this.#options.only)
    const [first] = left
    if (first === undefined) return
    const what = failures.length > 0 ? 'failed' : 'not begun'
    const { code = exitCode.blocked, reason = 'fleet-stopped', message } = first.error ?? {}
    throw new KvupError(
      code as ExitCode,
      reason,
      `${counted(left.length, 'cluster')} of ${all.length} ${what}: ${someOf(left.map(({ name }) => name))}${message === undefined ? '' : `: ${message}`}`,
      {
        remedy: this.#linesAfter(first),
      },
    )
  }

  #interrupted(error: unknown): unknown {
    if (!(error instanceof KvupError)) return error
    const { commandLine } = this.#cx.world
    const cut = this.#all.filter(({ outcome, began }) => outcome === 'interrupted' && began !== undefined)
    const back = cut.flatMap((one) =>
      (one.error?.remedy ?? []).filter((line) => !line.startsWith(commandLine)),
    )
    return new KvupError(error.exitCode, error.reason, error.message, {
      notes: [
        ...(cut.length > 0
          ? [
              `${someOf(cut.map(({ name }) => name))}: upgrades that have begun; what is changed for a time is restored by the same line`,
            ]
          : []),
        ...(this.#options.viaJobs ? ['Jobs that have begun go on by themselves, with their rights'] : []),
      ],
      remedy: [`${commandLine}     goes on, from any machine`, ...new Set(back)],
      cause: error,
    })
  }

  /** What an earlier process did, by the journals. */
  #noteDone(wave: FleetWave): void {
    for (const name of wave.clusters)
      if (this.#traces.get(name)?.doneAt !== undefined) this.#note(name, { outcome: 'done' })
  }

  /** When it began and ended, also where another process did that. */
  #timed(result: FleetResult): FleetResult {
    const { beganAt, endedAt } = this.#traces.get(result.name) ?? {}
    return { ...(beganAt && { began: beganAt }), ...(endedAt && beganAt && { ended: endedAt }), ...result }
  }

  #note(name: string, told: Partial<FleetResult>): void {
    const before = this.#results.get(name)
    const { error } = told
    // A file for the plan of one cluster alone there is none.
    const alone = `${this.#plan.file}, cluster `
    const lines = error?.remedy?.map((line) =>
      line.includes(alone) ? 'kvup fleet plan --help     shows how a new plan is made' : line,
    )
    const remedy = lines && linesFor(this.#clusterOf(name), lines)
    if (before)
      this.#results.set(name, { ...before, ...told, ...(error && remedy && { error: { ...error, remedy } }) })
  }

  get #all(): readonly FleetResult[] {
    return [...this.#results.values()]
  }

  /** The rule that ends the run here; then nothing waits for its window any more. */
  #stop(): ReturnType<typeof stopOf> {
    const stop = stopOf(this.#all, this.#plan.stopAfter)
    if (stop !== undefined) this.#stopped.abort(new Error('the fleet run stopped'))
    return stop
  }

  /** Throws where a rule ends the run here. */
  #ensureGoesOn(wave: FleetWave): void {
    this.#cx.signal.throwIfAborted()
    const stop = this.#stop()
    if (stop === undefined) return
    const { what, worst } = stop
    const left = this.#all.filter(({ outcome }) => outcome === 'not-begun').length
    const { code = exitCode.blocked, reason = 'fleet-stopped', message = '' } = worst.error ?? {}
    throw new KvupError(
      code as ExitCode,
      reason,
      `the fleet run stopped ${wave.wave === worst.wave ? 'in' : 'before'} ${waveText(wave)}: ${what} on ${worst.name}: ${message}; ${counted(left, 'cluster')} not begun`,
      {
        remedy: this.#linesAfter(worst),
      },
    )
  }

  /** What to type after this cluster failed. */
  #linesAfter({ name, error }: FleetResult): readonly string[] {
    const { commandLine } = this.#cx.world
    return [
      ...linesFor(this.#clusterOf(name), ['kvup status     shows it']),
      ...(error?.remedy ?? []).filter((line) => !line.startsWith(commandLine)),
      `${commandLine}     goes on, once that is mended`,
    ]
  }

  /** A wave begins only when every cluster of the earlier ones answers, is done, has soaked, and is still well. */
  async #gate(earlier: readonly FleetWave[], wave: FleetWave): Promise<void> {
    const names = earlier.flatMap(({ clusters }) => clusters)
    if (names.length === 0) return
    const done = names.filter(
      (name) =>
        this.#traces.get(name)?.doneAt !== undefined ||
        isDone(this.#results.get(name) ?? { outcome: 'not-begun' }),
    )
    // One that has no part in this run, for it was there before, is as good as done.
    const others = names.filter(
      (name) => !done.includes(name) && this.#results.get(name)?.outcome === 'not-begun',
    )
    await this.#ensureWell(others, 'earlier-wave')
    this.#ensureTurn(wave)
    // Of one whose journal does not answer nobody knows whether it has soaked.
    const read = await this.#readTraces(done)
    await this.#soak(read, wave)
    await this.#ensureWell(read)
    await this.#ensureQuiet(read)
    this.#ensureGoesOn(wave)
  }

  /** Of one cluster alone: throws `blocked` where others come before it. They are no failures, for nothing was tried. */
  #ensureTurn(wave: FleetWave): void {
    const { only } = this.#options
    if (only === undefined) return
    const before = this.#all.filter(({ error }) => error?.reason === 'earlier-wave')
    if (before.length === 0) return
    for (const { error: _, ...one } of before) this.#results.set(one.name, { ...one, outcome: 'not-begun' })
    const words = withoutFlags(wordsOf(this.#cx.world.commandLine), { valued: ['--only'] })
    throw blocked(
      'earlier-wave',
      `${only} is of ${waveText(wave)}, and ${someOf(before.map(({ name }) => name))} of an earlier wave ${before.length === 1 ? 'is' : 'are'} not done`,
      { remedy: `${words.join(' ')}     begins with the first wave` },
    )
  }

  /** What this process saw itself before what a journal says, which others can write. */
  #doneAt(name: string): number | undefined {
    const { outcome, ended } = this.#results.get(name) ?? {}
    if (outcome === 'done' && ended !== undefined) return Date.parse(ended)
    const { doneAt } = this.#traces.get(name) ?? {}
    const { plan } = this.#clusterOf(name)
    // It was to be upgraded and it is: when, nobody wrote down. So all of the soak is ahead.
    if (doneAt === undefined && outcome === 'nothing-to-do' && plan.pending && ended !== undefined)
      return Date.parse(ended)
    return doneAt
  }

  async #soak(names: readonly string[], wave: FleetWave): Promise<void> {
    const { soakSeconds } = this.#plan
    let isTold = false
    await Promise.all(
      names.map(async (name) => {
        const doneAt = this.#doneAt(name)
        const one = this.#open.get(name)
        if (doneAt === undefined || one === undefined) return
        const left = soakLeft(doneAt, { now: one.cx.clock.now().getTime(), soakSeconds })
        if (left <= 0) return
        if (!isTold)
          this.#cx.printer.note(
            `${waveText(wave)} begins in ${spanText(left)} at the earliest: the clusters before it soak for ${spanText(soakSeconds * seconds)}`,
          )
        isTold = true
        await one.cx.clock.sleep(left, this.#cx.signal)
      }),
    )
  }

  #observed(names: readonly string[]): Promise<ReadonlyMap<string, ObservedCluster>> {
    return this.#each(names, (one) => observe({ cx: this.#cx, plan: this.#plan }, one))
  }

  /** Those that were done, or are of an earlier wave: as the plan wants them, and well. */
  async #ensureWell(names: readonly string[], reason: LostReason = 'not-healthy'): Promise<void> {
    for (const [name, observed] of await this.#observed(names)) this.#judge(name, observed, reason)
  }

  #judge(name: string, { row, isReached }: ObservedCluster, reason: LostReason): void {
    const { outcome } = this.#results.get(name) ?? { outcome: 'not-begun' }
    if (isReached && isWell(row))
      return this.#note(name, { outcome: outcome === 'nothing-to-do' ? outcome : 'done' })
    const what = reason === 'not-healthy' ? 'it was done, and now' : 'it is of an earlier wave and not done'
    const why = row.why === undefined ? '' : `: ${row.why}`
    const message = `${what}: ${row.version ?? 'no version'}, ${row.state}${why}`
    this.#note(name, { outcome: 'failed', error: { code: exitCode.blocked, reason, message } })
  }

  /** By the rule of the plan: an alert that is new in one of these, or that nobody can tell, is a failure there. */
  async #ensureQuiet(names: readonly string[]): Promise<void> {
    const { alerts } = this.#plan
    if (alerts === undefined) return
    const done = names.filter((name) => isDone(this.#results.get(name) ?? { outcome: 'not-begun' }))
    const read = async (one: OpenMember) => countedAlerts((await sameCluster(one)).reader, alerts)
    for (const [name, fired] of await this.#each(done, read)) {
      const { firing: before = [] } = plannedOf(this.#plan, name)
      const found = 'firing' in fired ? fired.firing.filter((alert) => !before.includes(alert)) : []
      if ('firing' in fired && found.length === 0) continue
      const [reason, message] =
        'why' in fired
          ? ['alerts-not-read', `its alerts cannot be read: ${fired.why}`]
          : ['alert-firing', `alerts that are new since the plan was made: ${someOf(found)}`]
      this.#note(name, { outcome: 'failed', error: { code: exitCode.blocked, reason, message } })
    }
  }

  async #runWave(wave: FleetWave, names: readonly string[]): Promise<void> {
    // Since the last look somebody may have begun here, with this plan or with another.
    const read = await this.#readTraces(names)
    this.ensureFree()
    const told = read.filter((name) => this.#traces.get(name)?.doneAt !== undefined)
    // A journal says so as well where somebody forged it, or went back.
    const done = [...(await this.#observed(told))].filter(([, { isReached }]) => isReached)
    for (const [name, observed] of done) this.#judge(name, observed, 'not-healthy')
    const reached = new Set(done.map(([name]) => name))
    const left = read.filter((name) => !reached.has(name) && this.#isNotBegun(name))
    await this.#tidy([...reached], wave)
    if (left.length > 0) this.#cx.printer.note(`${waveText(wave)}: ${someOf(left, left.length, 5)}`)
    await inParallel(left, parallelOf(this.#options.parallel), (name) => this.#runCluster(name, wave))
  }

  /** Not one that did not answer before: that stays a failure of this run. */
  #isNotBegun(name: string): boolean {
    return this.#results.get(name)?.outcome === 'not-begun'
  }

  async #runCluster(name: string, wave: FleetWave): Promise<void> {
    const one = this.#open.get(name)
    if (one === undefined || this.#stop() !== undefined || this.#cx.signal.aborted) return
    let began = ticks(one.cx.clock)
    const told = await this.#by.upgrade(one, wave, {
      stopped: this.#stopped.signal,
      begins: () => {
        began = ticks(one.cx.clock)
        this.#note(name, { began: this.#traces.get(name)?.beganAt ?? one.cx.clock.now().toISOString() })
      },
    })
    if (told.outcome === 'not-begun') return
    const took = Math.round((ticks(one.cx.clock) - began) / seconds)
    this.#note(name, { ...told, ended: one.cx.clock.now().toISOString(), seconds: took })
    this.#stop()
    this.#cx.printer.note(`${name}: ${told.outcome}${told.error ? `: ${told.error.message}` : ''}`)
  }

  /** What an earlier process left in clusters that are done. */
  async #tidy(names: readonly string[], wave: FleetWave): Promise<void> {
    await inParallel(names, parallelOf(this.#options.parallel), async (name) => {
      const one = this.#open.get(name)
      if (one) await this.#by.tidy?.(one, wave)
    })
  }

  /** Each cluster that had a part is told that the fleet run is over: it is free for another one. What cannot be told is a warning. */
  async #end(): Promise<void> {
    const { uid } = this.#plan.seal
    const all = this.#all
    await this.#readTraces([...this.#open.keys()])
    await inParallel([...this.#open.values()], parallelOf(this.#options.parallel), async (one) => {
      const { last, hasBegun = false } = this.#traces.get(one.member.name) ?? {}
      if (!hasBegun || last?.isOver) return
      try {
        await this.#close(
          one,
          `fleet run ${uid} is over: ${all.filter(isDone).length} of ${counted(all.length, 'cluster')} done`,
        )
      } catch (error) {
        if (!(error instanceof KvupError)) throw error
        this.#cx.printer.warn(
          `${one.member.name}: the end of the fleet run could not be written down: ${error.message}`,
        )
      }
    })
  }

  async #close(one: OpenMember, text: string): Promise<void> {
    const { member, cx } = one
    const { plan }: { plan: PlanDocument } = this.#clusterOf(member.name)
    const { namespace } = plan.kubevirt
    const cluster = await sameCluster(one)
    const { clock, signal, world } = cx
    const lock = leaseLock(cluster, { namespace, holder: world, clock })
    const journal = configMapJournal(cluster, { namespace, who: world.who, clock })
    const wave = this.#results.get(member.name)?.wave ?? 0
    await lock.hold(
      (held) =>
        journal.under(held).record({
          at: clock.now().toISOString(),
          by: world.who,
          procedure: `upgrade to ${plan.to}`,
          step: 'fleet',
          what: 'closed',
          text,
          fleet: { uid: this.#plan.seal.uid, wave, over: true },
        }),
      { signal },
    )
  }

  #tell(): void {
    const document: FleetReport = {
      apiVersion: 'kvup.io/v1alpha1',
      kind: 'FleetReport',
      fleet: this.#plan.seal.uid,
      to: this.#plan.to,
      items: this.#all.map((result) => this.#timed(result)),
    }
    this.#cx.printer.result(document, fleetReportView)
    for (const { over } of this.#open.values()) over.abort(new Error('the fleet run has ended'))
  }
}

/** Why a cluster that counted on is not as the plan wants it. */
type LostReason = 'not-healthy' | 'earlier-wave'

/** What a plan does not hold: how many are asked at a time, and how long. */
const kept: ReadonlySet<string> = new Set(['--parallel', '--cluster-timeout'])

const waveText = ({ wave }: FleetWave): string => (wave === 0 ? 'the canary wave' : `wave ${wave}`)
