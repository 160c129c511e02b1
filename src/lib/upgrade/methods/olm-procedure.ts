import { olmUpgradeName, type UpgradePlan } from '../upgrade-plan.ts'
import { assessHyperConverged } from '../../openshift/hyperconverged.ts'
import { type Procedure, type ReadContext, rememberSteps, type Step } from '../../engine/step.ts'
import type { Releases } from '../../releases/releases.ts'
import { pauseWorkloadUpdates, restoreSteps } from '../../vms/pause-updates.ts'
import { isGuards, unlessLeftPaused } from '../../vms/update-guard.ts'
import { migrationsInFlight } from '../../vms/migrations/migration-snapshot.ts'
import { onHyperConverged } from '../../vms/strategy/settings-owner.ts'
import { overrideId as workloadUpdatesOverride } from '../../vms/update-methods.ts'
import { areWorkloadsMoved, workloadsMoved } from '../../vms/vms-updated.ts'
import { ofHop } from '../path-procedure.ts'
import { readRollout } from '../upgrade-snapshot.ts'
import {
  newControllerAtWork,
  onceRolled,
  Patience,
  pausedWhileRolling,
  settledFor,
} from '../steps/component-rollout.ts'
import {
  hyperConvergedIn,
  isBetween,
  labelOf,
  type OperatorHop,
  type OperatorRollSnapshot,
  readOperator,
} from './operator-manifest.ts'
import type { OlmPart } from './olm-plan.ts'
import { firstGate, operatorHopSteps } from './operator-update.ts'
import {
  compareOperatorVersions,
  operatorVersionOf,
  stemOf,
  versionOfCsv,
} from '../../releases/release-versions.ts'
import { type GuessedHop, guessHops } from './olm-operator.ts'

/** A plan whose method is olm. */
type OlmPlan = UpgradePlan & { olm: OlmPart }

export const isOlmPlan = (plan: UpgradePlan): plan is OlmPlan => plan.olm !== undefined

interface Tools {
  who: string
  releases: Pick<Releases, 'hyperconverged'>
}

/**
 * The order of contract "Order of the end of an upgrade", around one row of steps per hop of the operator, behind a gate that is judged before
 * anything is borrowed. The settings of workload updates are
 * those of HyperConverged.
 */
export function olmProcedure(plan: OlmPlan, tools: Tools): Procedure {
  const name = olmUpgradeName(plan.olm.to)
  const remembered = rememberSteps()
  const patience = new Patience()
  const hops = new HopsNow(plan.olm, plan.request.stableMs)
  return {
    name,
    between: { from: plan.olm.from, to: plan.olm.to },
    overrides: plan.request.leavePaused ? [] : [workloadUpdatesOverride],
    leaves: isGuards,
    reached: async (cx) => (await isAtTarget(plan, cx)) && (await areMovedIfWanted(plan, cx)),
    steps: async (cx) => remembered(await stepsNow({ plan, tools, name, hops, patience }, cx)),
  }
}

async function isAtTarget({ olm, owner }: OlmPlan, cx: ReadContext): Promise<boolean> {
  const [{ subscription }, hco] = await Promise.all([
    readOperator(cx.reader, olm),
    hyperConvergedIn(cx.reader, olm.subscription.namespace),
  ])
  const { good, operatorVersion } = assessHyperConverged(hco)
  const isThere = subscription.status?.installedCSV === olm.csv && operatorVersion === olm.to && good
  const { rolloutStatus } = await readRollout(cx, owner, () => isThere)
  return isThere && rolloutStatus.verdict === 'Healthy'
}

async function areMovedIfWanted({ owner, request, olm }: OlmPlan, cx: ReadContext): Promise<boolean> {
  if (!request.waitWorkloads) return true
  const controller = await newControllerAtWork(owner).check(cx)
  return controller.is === 'done' && areWorkloadsMoved(cx, owner, olm.hyperconverged)
}

interface Making {
  plan: OlmPlan
  tools: Tools
  name: string
  hops: HopsNow
  patience: Patience
}

async function stepsNow(
  { plan, tools, name, hops, patience }: Making,
  cx: ReadContext,
): Promise<readonly Step[]> {
  const { owner, olm, request } = plan
  const [snapshot, hco] = await Promise.all([
    readOperator(cx.reader, olm),
    hyperConvergedIn(cx.reader, olm.subscription.namespace),
  ])
  const settings = onHyperConverged(olm.hyperconverged, owner, olm.accepted)
  const watching = { who: tools.who, follow: false, since: cx.clock.now().getTime() }
  const { operatorVersion, good } = assessHyperConverged(hco)
  const ahead = hops.all({ ...snapshot, operandsAt: operatorVersion, good })
  const { accepted } = olm
  const { command } = request.olm
  const hopTools = { kubevirt: owner, accepted, releases: tools.releases, procedure: name, command }
  const pauseTools = { who: tools.who, procedure: name }
  const rolling = { owner, patience, stableMs: request.stableMs }
  const paused = (step: Step) =>
    request.hold && !request.leavePaused
      ? pausedWhileRolling(step, { ...rolling, settings, pauseTools })
      : step
  return [
    ...ahead.slice(0, 1).map((hop) => firstGate(hop, hopTools)),
    ...(request.hold ? [pauseWorkloadUpdates(settings, pauseTools)] : []),
    ...(request.migrations === 'ignore' || operatorVersion === olm.to
      ? []
      : [migrationsInFlight(request.migrations, request.migrationsTimeoutMs)]),
    ...ahead.flatMap((hop) => ofHop(operatorHopSteps(hop, hopTools), labelOf(hop))),
    settledFor(owner, { id: 'healthy', title: 'verify', stableMs: request.stableMs, patience }),
    newControllerAtWork(owner, patience),
    ...(request.leavePaused
      ? []
      : restoreSteps(settings, { resumes: plan.pausedMethods.length > 0 }).map((step) =>
          unlessLeftPaused(onceRolled(step, rolling), owner, settings),
        )),
    paused(settledFor(owner, { id: 'healthy-again', title: 'verify again', stableMs: 0, patience })),
    ...(request.waitWorkloads && !request.leavePaused
      ? [paused(workloadsMoved(owner, { ...watching, settings }))]
      : []),
  ]
}

/** What the hops are worked out from, at one look. */
export interface HopsSnapshot extends OperatorRollSnapshot {
  /** status.versions[operator] of HyperConverged. */
  operandsAt: string | undefined
  /** Every condition of HyperConverged is as it must be. */
  good: boolean
}

/**
 * The hops that are left, in their order: one that is installed and not yet done, one that OLM offers already, then those that were planned. Each
 * run keeps those that it has gone, and calls a hop that was begun before another one came first by another label. Asked at every step anew.
 */
export class HopsNow {
  readonly #part: OlmPart
  readonly #settleMs: number
  readonly #gone: OperatorHop[] = []
  readonly #beforeAtFirst = new Map<string, string>()

  constructor(part: OlmPart, stableMs: number) {
    this.#part = part
    this.#settleMs = stableMs
  }

  all(snapshot: HopsSnapshot): readonly OperatorHop[] {
    const left = hopsLeft(this.#part, snapshot)
    const begun = begunIn(snapshot)
    const hops = left.map((hop, index) =>
      this.#asHop(hop, left[index - 1]?.csv ?? begunBefore(begun, hop.csv)),
    )
    const behind = this.#gone.filter(({ csv }) => !left.some((hop) => hop.csv === csv))
    const [next] = hops
    if (next !== undefined && !this.#gone.some(({ csv }) => csv === next.csv)) this.#gone.push(next)
    return [...behind, ...hops]
  }

  #asHop({ csv, version, channel }: GuessedHop, before: string): OperatorHop {
    const known = this.#gone.find((hop) => hop.csv === csv)
    const first = this.#beforeAtFirst.get(csv) ?? before
    this.#beforeAtFirst.set(csv, first)
    const anew = before !== '' && first !== before
    const { package: name, subscription, approveAlso, certain } = this.#part
    const label = anew ? `${version}-after-${versionOfCsv(before)?.text ?? before}` : version
    if (known?.label === label) return known
    return {
      package: name,
      subscription,
      csv,
      version,
      label,
      ...(channel !== undefined && { channel }),
      mayPassOthers: !certain,
      approveAlso,
      stableMs: this.#settleMs,
    }
  }
}

/**
 * The CSV that OLM installs or has installed. A Subscription names it up to 14 s after it was made, when its InstallPlan may be Complete: until then it names the one that
 * is being replaced, of which nothing is left to be done.
 */
function begunIn({ subscription, csvs }: HopsSnapshot): string {
  let newest = subscription.status?.installedCSV ?? ''
  for (const _ of csvs) {
    const next = csvs.find(({ spec }) => newest !== '' && spec?.replaces === newest)
    if (next === undefined || stemOf(next.metadata.name) !== stemOf(newest)) return newest
    newest = next.metadata.name
  }
  return newest
}

/** A hop that is installed already came after something that is not known any more. */
const begunBefore = (installed: string, csv: string): string => (installed === csv ? '' : installed)

/** Pure. */
function hopsLeft(part: OlmPart, snapshot: HopsSnapshot): readonly GuessedHop[] {
  const installed = begunIn(snapshot)
  const now = asHop(installed)
  const begun = now !== undefined && isDone(snapshot, now, part) ? undefined : now
  const offered = asHop(offeredBetween(snapshot, installed, part))
  const before = [begun, offered].filter((hop) => hop !== undefined)
  return [...before, ...planned(part, before.at(-1)?.csv ?? installed, snapshot.subscription.spec?.channel)]
}

function asHop(csv: string | undefined): GuessedHop | undefined {
  const version = versionOfCsv(csv)
  return csv === undefined || version === undefined ? undefined : { csv, version: version.text }
}

function isSettled({ csvs, operandsAt }: HopsSnapshot, { csv, version }: GuessedHop): boolean {
  const found = csvs.find(({ metadata }) => metadata.name === csv)
  const at = operatorVersionOf(operandsAt)?.text
  return found?.status?.phase === 'Succeeded' && (at === undefined || at === version)
}

/** A release may be said while its operands are still made: at once on a fresh installation (ocp 9.7). Before another hop the gate of that one asks. */
function isDone(snapshot: HopsSnapshot, hop: GuessedHop, end: OlmPart): boolean {
  return isSettled(snapshot, hop) && (snapshot.good || hop.csv !== end.csv)
}

const over: ReadonlySet<string> = new Set(['Complete', 'Failed'])

/**
 * What the referenced InstallPlan holds of this operator, where that lies on the way: between what is installed and the end, and where a catalog file
 * says which releases lead there, one of these. Nobody knows whether another leads on.
 */
function offeredBetween(
  { plan }: HopsSnapshot,
  installed: string,
  { csv, certain, hops }: OlmPart,
): string | undefined {
  if (plan === undefined || over.has(plan.status?.phase ?? '')) return undefined
  const own = plan.spec?.clusterServiceVersionNames?.find((name) => stemOf(name) === stemOf(csv))
  const isOnPath = !certain || hops.some((hop) => hop.csv === own)
  return isOnPath && isBetween(own, installed, csv) ? own : undefined
}

/** From a catalog file those that are left; else guessed from where it stands. */
function planned(part: OlmPart, from: string, channel: string | undefined): readonly GuessedHop[] {
  const begin = versionOfCsv(from)
  const end = operatorVersionOf(part.to)
  if (begin === undefined || end === undefined || compareOperatorVersions(begin, end) >= 0) return []
  if (part.certain) return part.hops.filter(({ version }) => isLater(version, begin.text))
  const csvNamed = (version: string) => `${stemOf(part.csv)}.v${version}`
  return guessHops(part.offered, { from: begin, channel, to: end, csvNamed })
}

function isLater(version: string, than: string): boolean {
  const [a, b] = [operatorVersionOf(version), operatorVersionOf(than)]
  return a !== undefined && b !== undefined && compareOperatorVersions(a, b) > 0
}
