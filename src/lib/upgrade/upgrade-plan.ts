import type { HopFinding, Method } from '../releases/hop-findings.ts'
import { compareVersions, type Version, versionOf } from '../releases/release-versions.ts'
import type { MigrationsPolicy } from '../vms/migrations/migration-snapshot.ts'
import type { Owner } from '../vms/update-methods.ts'
import { type Downgrade, downgradeOf, isDowngrade, refuseClosedDowngrade, runningUpdate } from './rollback.ts'
import type { UpgradePath } from './path-procedure.ts'
import type { OlmGoal, OlmPart, OlmRequest } from './methods/olm-plan.ts'
import { atVersion } from '../kube/object.ts'
import type { CustomResourceDefinition } from '../kube/kinds/extension-kinds.ts'
import { KubeVirts } from '../kube/kinds/kubevirt-kinds.ts'
import type { Installation } from '../kubevirt/installation.ts'
import type { Known } from '../kube/known.ts'
import type { RolloutStatus } from '../kubevirt/rollout-status.ts'
import type { Override } from '../engine/journal.ts'
import type { Releases } from '../releases/releases.ts'
import { type Forecast, forecastText } from '../vms/forecast/vm-forecast.ts'
import { failuresTaken, leftPausedText } from '../vms/update-guard.ts'
import { upgradeFindings } from './upgrade-findings.ts'
import { commitsOf } from './methods/gitops.ts'
import { blocked, type KvupError, usageError } from '../kube/errors.ts'

/** What a person asked for, checked and with its defaults. Durations in ms. */
export interface UpgradeRequest {
  to: Version
  method: Method | 'auto'
  /** Borrow the workload update methods while the control plane moves. */
  hold: boolean
  /** End before they are given back. */
  leavePaused: boolean
  /** Afterwards wait until no VM is left but those that stay. */
  waitWorkloads: boolean
  migrations: MigrationsPolicy
  migrationsTimeoutMs: number
  /** Write nothing to what Helm or GitOps owns: say what to commit, wait and judge (night U8). */
  follow: boolean
  /** How long it has to stay settled. */
  stableMs: number
  imageRegistry?: string
  /** Releases between what is installed and `to`, one of each minor, as a person named them. */
  via?: readonly Version[]
  /** Between the steps of an upgrade path: wait for VMs to leave launchers that are too old for the next, or for nothing. Default `wait`. */
  between?: 'wait' | 'none'
  /** What only the method olm looks at. */
  olm: OlmRequest
}

/** What will be done, as data: it is printed, asked about, and the procedure is made from it. */
export interface UpgradePlan {
  owner: Owner
  /** As observed; undefined where nothing was ever installed completely. */
  from: string | undefined
  to: Version
  method: Method
  /** Everything runs the target already: only the end of the upgrade is left, such as settling and giving back. */
  isRest: boolean
  /** What happens to spec.imageTag when the operator is replaced (night U2). */
  tag: TagTreatment
  /** To what is installed now. */
  wayBack: Downgrade
  /** The workload update methods that will be borrowed; empty: none are set. */
  pausedMethods: readonly string[]
  request: UpgradeRequest
  findings: readonly HopFinding[]
  /** It goes back: VMs stay on their virt-launcher until they are restarted, and automatic VM updates stay paused. */
  goesBack?: true
  /** What a person should know before the question (night U5). */
  said: readonly string[]
  /** By the method olm. */
  olm?: OlmPart
  /** Where it goes over several minors: all else but `to` is of the first of them. */
  path?: UpgradePath
}

/**
 * `none`: no tag is set, or the method is image-tag. `lift`: it says what the operator would do anyway, so it is taken out,
 * and the new one put in at the end: one roll. `pin`: it keeps the old version while the operator is replaced: two rolls.
 */
export type TagTreatment =
  | { is: 'none' }
  | { is: 'lift'; tag: string; registry?: string }
  | { is: 'pin'; tag: string }

/** What the cluster looked like when the plan was made. */
export interface UpgradeState {
  installation: Installation
  rolloutStatus: RolloutStatus
  /** The workload update methods as they will be in the end: those that are borrowed count as set. */
  methods: readonly string[]
  /** Held because VMs came to harm: this is not given back by an upgrade (night W5). */
  pausedForHarm?: Pick<Override, 'at' | 'by'>
  /** The version that an earlier run of this line went back to, by what it saved. */
  wentBackTo?: string
  /** What they will do to all VMIs. */
  forecast: Forecast
  /** Those of KubeVirt; absent where it stands still and is not to go back. */
  crds?: Known<CustomResourceDefinition>
  /** By the method olm: where the operator is to end up. */
  olm?: OlmGoal
}

/** Pure. Throws `blocked` where somebody else owns the installation: nothing that kvup writes there would last. */
export function makePlan(asked: UpgradeRequest, upgradeState: UpgradeState, releases: Releases): UpgradePlan {
  const { installation, rolloutStatus } = upgradeState
  refuseForeignOwner(installation, asked)
  if (upgradeState.olm) return makeOlmPlan(asked, { ...upgradeState, olm: upgradeState.olm }, releases)
  const wentBack = upgradeState.wentBackTo === asked.to.text
  const isBack = wentBack || isDowngrade(rolloutStatus, asked.to)
  // No VM migrates to an older virt-launcher: KubeVirt would try it without end.
  const staysPaused = asked.hold && isBack && (wentBack || (upgradeState.forecast.counts.restart ?? 0) > 0)
  const request = staysPaused ? { ...asked, leavePaused: true } : asked
  refuseClosedDowngrade(request.to, upgradeState, releases)
  const method = chooseMethod(request.method, installation, request.to)
  const tag = tagTreatment(method, installation, request.to)
  const isRest = runsTarget({ to: request.to, method, request }, rolloutStatus)
  const plan = {
    owner: ownerOf(installation),
    from: rolloutStatus.observed.version,
    to: request.to,
    method,
    isRest,
    tag,
    wayBack: downgradeOf(request.to, upgradeState, releases),
    pausedMethods: request.hold ? upgradeState.methods : [],
    request,
    findings: upgradeFindings({ ...upgradeState, request, method, tag, releases }),
    ...(isBack && { goesBack: true as const }),
    said: [
      ...(isRest ? [] : beforehand(request.to.text, isBack)),
      ...(isBack ? afterGoingBack(request, upgradeState) : []),
      ...(staysPaused ? [] : afterwards(request, upgradeState)),
    ],
  }
  return request.follow
    ? { ...plan, said: [...plan.said, ...commitsOf(plan).map((line, i) => `commit ${i + 1}: ${line}`)] }
    : plan
}

/** HyperConverged decides which KubeVirt is installed: the versions of the plan are those that its target brings. */
function makeOlmPlan(
  asked: UpgradeRequest,
  observed: UpgradeState & { olm: OlmGoal },
  releases: Releases,
): UpgradePlan {
  const { installation, rolloutStatus, olm } = observed
  const request = { ...asked, to: olm.to }
  const method = 'olm'
  const tag = { is: 'none' } as const
  return {
    owner: ownerOf(installation),
    from: rolloutStatus.observed.version,
    to: olm.to,
    method,
    isRest: olm.isThere,
    tag,
    wayBack: { is: 'closed', why: 'OLM does not downgrade', later: [] },
    pausedMethods: request.hold ? observed.methods : [],
    request,
    findings: [...upgradeFindings({ ...observed, request, method, tag, releases }), ...olm.findings],
    said: [
      ...(olm.isThere ? [] : beforehand(olm.part.kubevirt ?? `HyperConverged ${olm.part.to}`)),
      ...olm.said,
      ...afterwards(request, observed),
    ],
    olm: olm.part,
  }
}

/** The KubeVirt CR that every step writes to, tied to its uid. */
export function ownerOf({ apiVersion, name, namespace, uid }: Installation): Owner {
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  return { kind: atVersion(KubeVirts, version), ref: { name, namespace }, uid }
}

/** Said before the question, since nobody can undo it (night U5). */
const beforehand = (to: string, isBack = false): readonly string[] => [
  'consoles and VNC sessions drop once, when virt-api is replaced; VMs keep running',
  isBack
    ? `virt-api is replaced first: APIs that ${to} does not have then fail`
    : `APIs that are new in ${to} fail until virt-api is replaced`,
]

/** Giving the methods back makes VMs move: said before the question (contract "Temporary changes"). */
function afterwards(request: UpgradeRequest, upgradeState: UpgradeState): readonly string[] {
  const { methods, forecast, pausedForHarm } = upgradeState
  if (pausedForHarm) return [leftPausedText(pausedForHarm)]
  const moves = Object.values(forecast.counts).some((count) => count > 0)
  if (request.leavePaused || methods.length === 0 || !moves) return []
  return [
    `Afterwards KubeVirt ${forecastText(forecast)}${canaryText(request, upgradeState)}`,
    ...(request.waitWorkloads ? [guarded(request)] : []),
  ]
}

/** Once updates resume KubeVirt moves all of them: whoever wants to try one first has to say so before. */
const canaryText = (
  { hold, waitWorkloads }: UpgradeRequest,
  { methods, forecast: { counts } }: UpgradeState,
): string =>
  hold && !waitWorkloads && methods.includes('LiveMigrate') && counts.migrates > 1
    ? ' (not with --leave-paused)'
    : ''

/** No text of going forward: what runs a newer virt-launcher stays on it until it is restarted (night U4). */
function afterGoingBack(
  { hold, leavePaused, to }: UpgradeRequest,
  { methods, forecast: { counts }, pausedForHarm }: UpgradeState,
): readonly string[] {
  const { restart = 0 } = counts
  const vms = restart === 1 ? '1 VM runs' : `${restart} VMs run`
  const needs = `${vms} a newer virt-launcher than ${to.text}: a migration to an older one fails, ${restart === 1 ? 'it needs' : 'each needs'} a restart`
  return [
    ...(restart > 0 ? [needs] : []),
    ...(pausedForHarm && leavePaused ? [leftPausedText(pausedForHarm)] : []),
    ...(leavePaused && methods.length > 0 && !pausedForHarm
      ? [
          'automatic VM updates are still paused at the end; kvup workloads resume-updates resumes them, once no VM runs a newer virt-launcher',
        ]
      : []),
    ...(!hold && methods.length > 0 && restart > 0
      ? ['automatic VM updates are not paused: KubeVirt retries these migrations forever']
      : []),
  ]
}

/** What may be written while it is waited for VMs (night W5). */
const guarded = ({ follow }: UpgradeRequest): string =>
  `if ${failuresTaken} of them fail for one reason, or one VM runs twice, ` +
  (follow ? 'kvup stops and shows what to commit' : 'kvup pauses automatic VM updates again and stops')

/**
 * `auto`: OLM where a HyperConverged owns KubeVirt; the tag only where the CR has one and the operator is new enough; the manifest everywhere else. imageRegistry alone
 * is not a tag: the operands follow the operator then (night U3).
 */
export function chooseMethod(
  asked: Method | 'auto',
  { imageTag, operator, manager }: Installation,
  to: Version,
): Method {
  if (asked !== 'auto') return asked
  if (manager.kind === 'hyperconverged') return 'olm'
  const runs = versionOf(operator?.version)
  const newEnough = runs !== undefined && compareVersions(runs, to) >= 0
  const unpinned = operator?.pinned.length === 0
  return imageTag !== undefined && newEnough && unpinned ? 'image-tag' : 'operator-manifest'
}

/** What to do with a tag that is set while the operator is replaced (night U2). */
function tagTreatment(
  method: Method,
  { imageTag, imageRegistry, operator }: Installation,
  to: Version,
): TagTreatment {
  if (method !== 'operator-manifest' || imageTag === undefined) return { is: 'none' }
  const asOperator =
    imageTag === operator?.version && (imageRegistry === undefined || imageRegistry === operator?.registry)
  if (asOperator)
    return { is: 'lift', tag: imageTag, ...(imageRegistry !== undefined && { registry: imageRegistry }) }
  return imageTag === to.text ? { is: 'none' } : { is: 'pin', tag: imageTag }
}

type Asked = Pick<UpgradeRequest, 'follow' | 'method' | 'olm'>

/** Throws `blocked` where somebody else sets back what this method writes, or where its owner is not the one that the method is for. */
function refuseForeignOwner(installation: Installation, asked: Asked): void {
  const { kind } = installation.manager
  if (kind === 'hyperconverged') {
    if (!isByOlm(asked)) throw ofHyperConverged(installation, asked)
    return
  }
  if (kind === 'olm') throw ofOlm(installation)
  if (asked.method === 'olm') throw ofNoHyperConverged(installation, asked)
  const foreign = kind === 'helm' || kind === 'gitops'
  if (asked.follow && !foreign)
    throw usageError(
      'nobody-to-follow',
      '--follow is for a KubeVirt that Helm or GitOps owns; kvup upgrades this one itself',
    )
}

const isByOlm = ({ method, follow }: Asked): boolean => (method === 'auto' || method === 'olm') && !follow

const nameOf = ({ name, namespace }: Installation): string => `kubevirts/${name} in namespace ${namespace}`

function ofHyperConverged(installation: Installation, { olm }: Asked): KvupError {
  const object = nameOf(installation)
  const owner = `HyperConverged ${installation.manager.name ?? ''}`.trimEnd()
  return blocked(
    'managed-by-hyperconverged',
    `${object} belongs to ${owner}: its operator reverts changes to KubeVirt`,
    {
      object,
      remedy: [
        `kvup upgrade --to ${olm.typed} --method olm     approves its InstallPlan, and waits`,
        'kvup status shows how far it is',
      ],
    },
  )
}

function ofOlm(installation: Installation): KvupError {
  const object = nameOf(installation)
  const owner = `ClusterServiceVersion ${installation.manager.name ?? ''}`.trimEnd()
  return blocked('managed-by-olm', `virt-operator belongs to ${owner}: OLM reverts changes to it`, {
    object,
    remedy: 'upgrade through OLM: approve the InstallPlan of its Subscription',
  })
}

function ofNoHyperConverged(installation: Installation, { olm }: Asked): KvupError {
  const object = nameOf(installation)
  return blocked(
    'no-hyperconverged',
    `${object} belongs to no HyperConverged, so the method olm does not apply`,
    { object, remedy: `kvup upgrade --to ${olm.typed}     uses the right method` },
  )
}

type Goal = Pick<UpgradePlan, 'to' | 'method' | 'request'>

/** The operator says that it finished the target: its version, from the registry asked for, and by the manifest method its own too. */
export function isInstalled(
  { to, method, request }: Goal,
  { observed, operator }: Pick<RolloutStatus, 'observed' | 'operator'>,
): boolean {
  const operatorThere = method === 'image-tag' || operator?.version === to.text
  const registry = request.imageRegistry ?? observed.registry
  return observed.version === to.text && operatorThere && observed.registry === registry
}

/** Every component runs it as well, and nothing else is aimed at: of the upgrade only its end is left. Not so on the way back. */
function runsTarget(
  goal: Goal,
  rolloutStatus: Pick<RolloutStatus, 'observed' | 'operator' | 'target' | 'components'>,
): boolean {
  const { target, components } = rolloutStatus
  const rolled = components.every(({ state }) => state === 'current' || state === 'absent')
  return isInstalled(goal, rolloutStatus) && target.version === goal.to.text && rolled
}

/**
 * Whether the way of a plan was entered already, or gone to its end: something is borrowed for it, its first write is made, or virt-operator is on
 * it. Pure; `overrides` are the open ones.
 */
export function hasBegun(
  plan: UpgradePlan,
  { rolloutStatus, installation }: UpgradeState,
  overrides: readonly Override[],
): boolean {
  const { to, owner } = plan
  // Where nothing moves, what another run or `kvup workloads pause-updates` has left borrowed is no beginning of this one.
  const names = plan.olm ? [olmUpgradeName(plan.olm.to)] : [upgradeName(to.text)]
  const own = isMoving.has(rolloutStatus.verdict)
    ? overrides
    : overrides.filter((override) => names.includes(override.procedure))
  if (plan.olm) return own.length > 0 || plan.isRest || plan.olm.isUnderWay
  const isThere = rolloutStatus.observed.version === to.text && rolloutStatus.verdict === 'Healthy'
  return (
    isThere ||
    runningUpdate(rolloutStatus, to) !== 'none' ||
    (isMoving.has(rolloutStatus.verdict) && isAskedFor(plan, installation)) ||
    own.some(({ object }) => object.uid === owner.uid)
  )
}

const isMoving: ReadonlySet<string> = new Set(['Updating', 'Stalled'])

/** The write that starts the update is made; where it moves already, virt-operator has not taken it up yet. */
const isAskedFor = (
  { method, to }: UpgradePlan,
  { imageTag, operator }: UpgradeState['installation'],
): boolean => (method === 'image-tag' ? imageTag === to.text : operator?.version === to.text)

/** By which the journal and the notes on objects know the upgrade to a release of KubeVirt. */
export const upgradeName = (to: string): string => `upgrade to ${to}`

/** The same of a release of the operator of HyperConverged. */
export const olmUpgradeName = (to: string): string => `upgrade HyperConverged to ${to}`

/** Whether that procedure is an upgrade, to whatever release. */
export const isUpgradeName = (procedure: string): boolean =>
  /^upgrade (?:HyperConverged )?to /u.test(procedure)
