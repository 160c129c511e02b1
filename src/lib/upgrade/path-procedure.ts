import type { Procedure, ReadContext, RunLimits, Step, StepState } from '../engine/step.ts'
import type { HopFinding, Method } from '../releases/hop-findings.ts'
import { compareVersions, type Version, versionOf } from '../releases/release-versions.ts'
import { exitCode, KvupError } from '../kube/errors.ts'
import { minutes, seconds } from '../kube/clock.ts'
import { restoreWorkloadUpdates } from '../vms/pause-updates.ts'
import { unlessLeftPaused } from '../vms/update-guard.ts'
import { onKubeVirt } from '../vms/strategy/settings-owner.ts'
import { openOverride } from '../vms/update-methods.ts'
import { readRollout } from './upgrade-snapshot.ts'
import { isUpgradeName, upgradeName, type UpgradePlan, type UpgradeState } from './upgrade-plan.ts'
import { upgradeProcedure } from './upgrade-procedure.ts'
import type { ReleaseManifest } from './methods/operator-manifest.ts'
import { newControllerAtWork, settledFor } from './steps/component-rollout.ts'
import { stepsThatSet } from './step-traits.ts'
import { vmsFollow } from './steps/vms-follow.ts'
import type { KubernetesWindow } from '../releases/releases.ts'
import type { Entry, Override } from '../engine/journal.ts'

/** One minor of the path, as a plan of its own. */
export interface PathLeg {
  plan: UpgradePlan
  manifest: ReleaseManifest
  /** The version that the operator is when this minor is entered. */
  operatorVersion: string | undefined
}

interface Tools {
  who: string
  legs: readonly PathLeg[]
  /**
   * Looks again when the turn of that leg has come, judges it as an upgrade of its own, and prepares what its first write needs. Throws `blocked`
   * for what nobody accepted.
   */
  enter(leg: PathLeg): Promise<PathLeg>
  /** Told when a leg is entered: what is said of the run from then on is said of its plan. */
  entered(leg: PathLeg): void
  /** virt-operator is on the first of them already; else what the minor before it left open is brought to its end first. */
  hasBegun: boolean
  /** The path does not lead to its target: the release that is refused behind the last leg, and by what. */
  end?: { before: string; findings: readonly HopFinding[] }
}

/**
 * The steps of every minor one after the other, each behind a gate of its own and, unless VMs are not waited for, with a wait for them at the end.
 * Which minor it is at follows from what is installed: whoever runs it again plans the rest.
 */
export function pathProcedure(plan: UpgradePlan & { path: UpgradePath }, tools: Tools): Procedure {
  const name = upgradeName(plan.to.text)
  const rows = tools.legs.map((leg, index) => new Row(leg, { index, name, plan, tools }))
  const last = upgradeProcedure(
    { ...plan, ...(tools.legs.at(-1)?.plan ?? plan) },
    { who: tools.who, operatorVersion: undefined, manifest: noManifest },
  )
  return {
    name,
    between: { from: plan.from, to: plan.to.text },
    leads: ['upgrade path', plan.from ?? '', '→', tools.legs.map((leg) => leg.plan.to.text).join(' → ')].join(
      ' ',
    ),
    overrides: last.overrides ?? [],
    ...(last.leaves && { leaves: last.leaves }),
    reached: (cx) => last.reached(cx),
    async steps(cx) {
      const atWork = Math.max(
        0,
        rows.findLastIndex((row) => row.isOpen),
      )
      const steps: Step[] = []
      for (const [index, row] of rows.entries())
        steps.push(
          ...(await row.steps(cx, index < atWork ? 'behind' : index === atWork ? 'at-work' : 'ahead')),
        )
      return tools.end ? [...steps, endOfPath(tools.end)] : steps
    },
  }
}

/** A run that goes as far as it may does not end as if it had arrived. */
function endOfPath({ before, findings }: NonNullable<Tools['end']>): Step {
  const [first] = findings
  return {
    id: idIn('gate', before),
    title: `run the checks before ${before}`,
    patience: { every: 5 * seconds, atMost: minutes },
    estimate: 0,
    watches: [],
    risk: { undo: 'none', safeToLeave: 'always: automatic VM updates are resumed' },
    check: () =>
      Promise.resolve({
        is: 'blocked',
        reason: first?.id ?? 'manifest-missing',
        by: findings.map(({ summary }) => summary).join('; '),
        remedy: findings.flatMap(({ remedy }) => remedy),
      }),
  }
}

const noManifest: ReleaseManifest = {
  load: () => Promise.reject(new Error('this procedure has no step')),
}

interface Making {
  index: number
  /** Of the procedure. */
  name: string
  plan: UpgradePlan & { path: UpgradePath }
  tools: Tools
}

class Row {
  #leg: PathLeg
  readonly #making: Making
  #procedure: Procedure
  /** As they were listed last: behind us nothing of them changes, and ahead of us they are only a forecast. */
  #listed: readonly Step[] | undefined
  readonly #gate: Step | undefined
  #between: Step | undefined
  #before: readonly Step[] | undefined
  #refusedSince: number | undefined
  isOpen: boolean

  constructor(leg: PathLeg, making: Making) {
    this.#leg = leg
    this.#making = making
    this.isOpen = making.index === 0
    this.#procedure = this.#made()
    this.#gate = this.isOpen ? undefined : this.#makeGate()
  }

  async steps(cx: ReadContext, place: 'behind' | 'at-work' | 'ahead'): Promise<readonly Step[]> {
    this.#before ??= await this.#makeBefore(cx)
    this.#between ??= this.#makeBetween(cx.clock.now().getTime())
    if (this.#listed === undefined || place === 'at-work') this.#listed = await this.#procedure.steps(cx)
    const hop = this.#leg.plan.to.text
    const row = [
      ...this.#before,
      ...(this.#gate ? [this.#gate] : []),
      ...namedByHop(this.#listed, hop).map((step) => (place === 'ahead' ? this.#later(step) : step)),
      ...(this.#between ? ofHop([this.#between], hop) : []),
    ]
    return place === 'at-work' || this.#isAlone ? row : row.map((step) => this.#folded(step))
  }

  get #isAlone(): boolean {
    return this.#making.tools.legs.length === 1
  }

  get #part(): string {
    const { index, tools } = this.#making
    return `step ${index + 1} of ${tools.legs.length}: ${this.#leg.plan.to.text}`
  }

  #folded(step: Step): Step {
    return { ...step, part: this.#part }
  }

  #made(): Procedure {
    const { plan, manifest, operatorVersion } = this.#leg
    const { tools, name } = this.#making
    return upgradeProcedure(plan, { who: tools.who, operatorVersion, manifest, name, severalMinors: true })
  }

  /** What a dry run says of it, and what is shown before its turn: it is made anew then. */
  #later(step: Step): Step {
    const { tools, index } = this.#making
    const before = tools.legs[index - 1]?.plan.to.text ?? ''
    const changes = [...stepsThatSet('version'), 'pause-workload-updates']
    return {
      ...step,
      dependsOn: [
        ...(step.dependsOn ?? []),
        ...tools.legs.slice(0, index).flatMap((leg) => changes.map((id) => idIn(id, leg.plan.to.text))),
      ],
      check: () => Promise.resolve({ is: 'waiting', on: `KubeVirt ${before} first` }),
    }
  }

  #makeBetween(since: number): Step | undefined {
    const { plan, tools, index } = this.#making
    const next = tools.legs[index + 1]?.plan.to
    if (next === undefined || plan.path.between === 'none') return undefined
    const step = vmsFollow(plan.owner, { next, who: tools.who, since })
    return namedByHop([step], this.#leg.plan.to.text)[0]
  }

  /**
   * Whoever was cut off behind the last roll of a minor left VM updates paused, and VMs where they were: that is ended before the next one is begun. On a path that
   * begins here only VMs are asked for.
   */
  async #makeBefore(cx: ReadContext): Promise<readonly Step[]> {
    const { plan, tools, index } = this.#making
    const { owner, from = '', to, request } = this.#leg.plan
    if (index > 0 || tools.hasBegun) return []
    const isUnrestored = openOverride(await cx.journal.overrides(), owner.uid) !== undefined
    const settled = { version: from, title: 'verify' }
    const tail = isUnrestored
      ? [
          settledFor(owner, { ...settled, id: 'healthy', stableMs: request.stableMs }),
          newControllerAtWork(owner),
          unlessLeftPaused(restoreWorkloadUpdates(onKubeVirt(owner)), owner),
          settledFor(owner, { ...settled, id: 'healthy-again', stableMs: 0 }),
        ]
      : []
    const since = cx.clock.now().getTime()
    const follow = plan.path.between === 'wait' ? [vmsFollow(owner, { next: to, who: tools.who, since })] : []
    return namedByHop([...tail, ...follow], from)
  }

  /** Between two minors everything is looked at anew: what was known at the beginning is hours old. */
  #makeGate(): Step {
    const { tools } = this.#making
    const { text } = this.#leg.plan.to
    const [gate] = ofHop(
      [
        {
          id: idIn('gate', text),
          title: `run the checks before ${text}`,
          patience: { every: 10 * seconds, atMost: 15 * minutes },
          estimate: 5 * seconds,
          watches: [],
          risk: { undo: 'none', safeToLeave: 'always: automatic VM updates are resumed' },
          check: async (cx) =>
            this.isOpen
              ? { is: 'done' }
              : ((await this.#shut(cx)) ?? this.#open(tools, cx.clock.now().getTime())),
        },
      ],
      text,
    )
    if (gate === undefined) throw new Error('a row without a gate')
    return gate
  }

  /** Why its turn has not come; undefined: it has. */
  async #shut(cx: ReadContext): Promise<StepState | undefined> {
    const { owner, from = '', to } = this.#leg.plan
    const { rolloutStatus } = await readRollout(cx, owner)
    const at = rolloutStatus.observed.version
    const goal = rolloutStatus.target.version
    if (isBefore(goal, from))
      return {
        is: 'blocked',
        reason: 'changed-by-hand',
        by: `virt-operator goes back to ${goal}, but this run left ${from}: someone restored the earlier one before ${to.text} started`,
        remedy: ['run the same command again     plans the rest again', 'kvup status'],
      }
    if (at !== from && isBefore(at, from)) return { is: 'waiting', on: `KubeVirt ${from} first` }
    if (at !== from)
      return {
        is: 'blocked',
        reason: 'changed-by-hand',
        by: `KubeVirt is at ${at ?? 'no version'}, but this run left ${from}: someone else upgraded it before ${to.text} started`,
        remedy: ['run the same command again     plans the rest again', 'kvup status'],
      }
    if (rolloutStatus.verdict !== 'Healthy' && rolloutStatus.target.version === from)
      return { is: 'waiting', on: rolloutStatus.waitingFor ?? 'KubeVirt to be healthy' }
    return undefined
  }

  /** Right behind a roll an APIService or a Lease may need a moment: a refusal counts once it has lasted. */
  async #open(tools: Tools, now: number): Promise<StepState> {
    try {
      this.#leg = await tools.enter(this.#leg)
    } catch (error) {
      if (!(error instanceof KvupError) || error.exitCode !== exitCode.blocked) throw error
      this.#refusedSince ??= now
      if (now - this.#refusedSince >= minutes) throw error
      return {
        is: 'waiting',
        on: `the checks before ${this.#leg.plan.to.text} to pass`,
        trouble: error.message,
        remedy: error.remedy,
      }
    }
    this.#procedure = this.#made()
    this.#listed = undefined
    this.isOpen = true
    tools.entered(this.#leg)
    return { is: 'done' }
  }
}

function isBefore(at: string | undefined, other: string): boolean {
  const [a, b] = [versionOf(at), versionOf(other)]
  return a !== undefined && b !== undefined && compareVersions(a, b) < 0
}

/** One minor of an upgrade path, as far as it can be told beforehand. */
export interface PathStep {
  from: string
  to: string
  method: Method
  /** By the operator manifest: where it comes from, and its checksum (hexadecimal) where it was read. */
  manifest?: { origin: string; sha256?: string }
  /** Minors of Kubernetes that this release supports. */
  kubernetes?: KubernetesWindow
  /** What speaks against this step, worked out from how the cluster is now; it is judged again when its turn comes. */
  findings: readonly HopFinding[]
  /** What KubeVirt does with the VMs once they are outdated, in words. */
  vms: string
}

/** Several minors in one run, the target last. */
export interface UpgradePath {
  /** Those up to what stands against going on: none is in here that would be refused. */
  steps: readonly PathStep[]
  /** All releases that the plan goes through, those behind included: what the ids of its steps end in. */
  hops: readonly string[]
  /** `wait`: between steps automatic VM updates are resumed and waited for; `none`: the next step does not wait for VMs. */
  between: 'wait' | 'none'
  /** Why it does not lead to the target: the step that is refused, and by what. */
  ends?: { before: string; why: string }
}

/**
 * The cluster as it will be once a planned step is done, for the plan of the next one: versions, the operator and the tag are another, all else
 * stays. Pure.
 */
export function observedAfter(
  upgradeState: UpgradeState,
  { to, method, tag, request }: UpgradePlan,
): UpgradeState {
  const { installation, rolloutStatus } = upgradeState
  const { kubevirt, operator } = installation
  const version = to.text
  const byManifest = method === 'operator-manifest'
  const registry = request.imageRegistry ?? rolloutStatus.observed.registry
  const hasTag = method === 'image-tag' || tag.is !== 'none'
  const reached = { version, id: `planned ${version}`, ...(registry !== undefined && { registry }) }
  return {
    ...upgradeState,
    installation: {
      ...installation,
      ...(hasTag && { imageTag: version }),
      ...(operator && byManifest && { operator: { ...operator, version } }),
      kubevirt: {
        ...kubevirt,
        status: {
          ...kubevirt.status,
          observedKubeVirtVersion: version,
          targetKubeVirtVersion: version,
          ...(byManifest && { operatorVersion: version }),
        },
      },
    },
    rolloutStatus: {
      ...rolloutStatus,
      verdict: 'Healthy',
      why: [],
      observed: reached,
      target: reached,
      operator: rolloutStatus.operator && { ...rolloutStatus.operator, ...(byManifest && { version }) },
    },
  }
}

/** Releases that the next minor may be entered with already: what virt-operator is at work on, and what it is itself. */
export function enteredNow({
  rolloutStatus,
  installation,
}: Pick<UpgradeState, 'rolloutStatus' | 'installation'>): readonly string[] {
  const { observed, target } = rolloutStatus
  return [target.version, installation.operator?.version]
    .filter((text) => text !== undefined)
    .filter((text) => text !== observed.version)
}

interface LeftBehind {
  entries: readonly Entry[]
  overrides: readonly Override[]
  /** Uid of the KubeVirt. */
  kubevirt: string
}

/**
 * Whether a run over several minors to that release was begun and has not come to its end: by the value that it saved on the KubeVirt, which only
 * who may change the KubeVirt can write. Where none is saved, by the journal.
 */
export function isPathUnderWay(
  { text }: Pick<Version, 'text'>,
  { entries, overrides, kubevirt }: LeftBehind,
): boolean {
  const name = upgradeName(text)
  const saved = openOverride(overrides, kubevirt)
  if (saved?.procedure === name) return saved.severalMinors === true
  // Whoever goes on to another release resumes it all the same, where the journal shows that it began and that no upgrade has finished since.
  if (saved?.severalMinors) {
    const began = entries.findLastIndex(
      ({ procedure, what }) => procedure === saved.procedure && what === 'started',
    )
    const isOver = entries
      .slice(began)
      .some(({ procedure, what }) => isUpgradeName(procedure) && what === 'finished')
    if (began !== -1 && !isOver) return true
  }
  const last = entries.findLast(
    ({ procedure, what }) => procedure === name && (what === 'started' || what === 'finished'),
  )
  return last?.what === 'started' && last.text.startsWith('upgrade path ')
}

/** What the ids of the steps of a hop end in, of which a run has several: `virt-handler-v1.7.4`. */
export const idIn = (id: string, hop: string): string => `${id}-${hop}`

/** The id without the hop that it ends in. */
export function idWithout(id: string, hops: readonly string[]): string {
  const hop = hops.find((one) => id.endsWith(`-${one}`))
  return hop === undefined ? id : id.slice(0, -hop.length - 1)
}

/** Limits that were typed for a path: at its last release no step is named by it any more. By OLM ids keep theirs. */
export function limitsAtEnd(limits: RunLimits, { path, olm, to }: UpgradePlan): RunLimits {
  if (path !== undefined || olm !== undefined) return limits
  const here = (id: string) => idWithout(id, [to.text])
  const { until, pauseBefore } = limits
  return { ...limits, until: until && here(until), pauseBefore: pauseBefore?.map(here) }
}

/** Steps as the row of one hop: the time of the run counts for each hop anew. By OLM a hop is a release of the operator, else a minor of KubeVirt. */
export const ofHop = (steps: readonly Step[], hop: string): readonly Step[] =>
  steps.map((step) => ({ ...step, hop }))

/** The same, where the ids do not name the hop yet: they and what they build on are named by it. */
const namedByHop = (steps: readonly Step[], hop: string): readonly Step[] =>
  ofHop(
    steps.map((step) => ({
      ...step,
      id: idIn(step.id, hop),
      ...(step.dependsOn && { dependsOn: step.dependsOn.map((id) => idIn(id, hop)) }),
    })),
    hop,
  )
