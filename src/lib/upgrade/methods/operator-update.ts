import type { NotApplied, ReadContext, Step, StepContext, StepState, Waiting } from '../../engine/step.ts'
import { judgedPlan, offeredPlan, setChannel, withChannelRestored } from './install-plan-approval.ts'
import { planContents } from './install-plan-contents.ts'
import {
  type HopTools,
  hyperConvergedIn,
  isEntered,
  labelOf,
  readOperator,
  type OperatorHop,
  type OperatorRollSnapshot,
  platformNow,
  rollSnapshotWatches,
} from './operator-manifest.ts'
import { csvSucceeded, hyperConvergedAt, operandsRolled, planComplete } from './operator-rollout.ts'
import { condition, isRecord } from '../../kube/object.ts'
import {
  type CatalogSource,
  CatalogSources,
  type HyperConverged,
  HyperConvergeds,
  InstallPlans,
  OperatorConditions,
  Subscriptions,
} from '../../kube/kinds/operator-kinds.ts'
import { assessHyperConverged } from '../../openshift/hyperconverged.ts'
import { operatorConditionGate } from '../../openshift/platform-status.ts'
import { operatorMinor, operatorVersionOf, versionOfCsv } from '../../releases/release-versions.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import type { Reader } from '../../kube/cluster.ts'
import { whyUnknown } from '../../kube/known.ts'
import { showsCatalog, silentCatalog, unpackedNote } from '../../openshift/olm-status.ts'
import { ApiError } from '../../kube/errors.ts'
import { managerOf } from '../../kubevirt/installation.ts'
import { assessResolution, resolutionNote, type ResolutionStatus } from '../../openshift/olm-resolution.ts'

export type { HopTools, OperatorHop } from './operator-manifest.ts'

/**
 * One hop: the gate of night E1, the channel where it is another, exactly the right InstallPlan approved (night E4), and then
 * waited until everything that it brings is at work. Each step's id carries the version. Steps of a hop that is behind us are done.
 */
export function operatorHopSteps(hop: OperatorHop, tools: HopTools): readonly Step[] {
  const { channel, subscription } = hop
  const of = { procedure: tools.procedure, label: labelOf(hop) }
  const back = (step: Step) => (channel === undefined ? step : withChannelRestored(step, of, subscription))
  return [
    gate(hop, tools),
    ...(channel === undefined ? [] : [setChannel(hop, channel, tools)]),
    back(installPlan(hop, tools)),
    back(approve(hop, tools)),
    planComplete(hop),
    csvSucceeded(hop),
    hyperConvergedAt(hop, tools),
    operandsRolled(hop, tools),
  ]
}

/**
 * What an operator hop waits for (night E1): the platform stands still, HyperConverged is good in every condition, and the OperatorCondition of what is
 * installed does not forbid it. OLM itself looks at the last alone, and only when it is too late (ocp 1.8). What the platform says of its
 * own next minor is not waited for: it may wait for this very hop.
 */
function gate(hop: OperatorHop, tools: HopTools): Step {
  const { namespace } = hop.subscription
  return {
    id: `gate-${labelOf(hop)}`,
    title: `run the checks before ${hop.version}`,
    patience: { every: 10 * seconds, atMost: 60 * minutes },
    estimate: 5 * seconds,
    watches: [...rollSnapshotWatches(hop), { kind: HyperConvergeds, where: { namespace } }],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx): Promise<StepState> {
      const snapshot = await readOperator(cx.reader, hop)
      if (isEntered(snapshot, hop) || isApproved(snapshot, hop)) return { is: 'done' }
      return (await gateShut(cx, snapshot, { hop, tools })) ?? { is: 'done' }
    },
  }
}

function isApproved({ plan }: OperatorRollSnapshot, { csv }: OperatorHop): boolean {
  return plan?.spec?.approved === true && plan.spec.clusterServiceVersionNames?.includes(csv) === true
}

type GateWait = Extract<StepState, { is: 'waiting' }>

interface Going {
  hop: OperatorHop
  tools: HopTools
}

/** The first thing that is in the way; undefined where nothing is. Asked for at the gate, and once more right before the approval. */
async function gateShut(
  cx: Pick<ReadContext, 'reader'>,
  snapshot: OperatorRollSnapshot,
  going: Going,
): Promise<GateWait | undefined> {
  const { busy } = await platformNow(cx.reader)
  if (busy !== undefined)
    return {
      is: 'waiting',
      on: 'the platform update to end',
      trouble: busy,
      remedy: ['oc get clusterversion,clusteroperators,machineconfigpools'],
    }
  const { namespace } = going.hop.subscription
  const hco = await hyperConvergedIn(cx.reader, namespace)
  return unfit(hco, snapshot, going) ?? (await forbiddenByOperator(cx, snapshot, namespace))
}

function unfit(
  hco: HyperConverged,
  { subscription }: OperatorRollSnapshot,
  { hop, tools }: Going,
): GateWait | undefined {
  const { good, why } = assessHyperConverged(hco)
  if (good) return undefined
  const { name, namespace = '' } = hco.metadata
  const show = `kubectl -n ${namespace} describe hyperconverged.hco.kubevirt.io ${name}`
  const isRepair = isDegraded(hco) && isPatch(subscription.status?.installedCSV, hop.version)
  if (isRepair && tools.accepted.includes('hyperconverged-degraded')) return undefined
  const repair = `${tools.command} --accept hyperconverged-degraded     if this release repairs it`
  return {
    is: 'waiting',
    on: `HyperConverged ${name} to be healthy in every condition`,
    trouble: why.join('; '),
    remedy: isRepair ? [show, repair] : [show],
  }
}

const isDegraded = (hco: HyperConverged): boolean => condition(hco, 'Degraded')?.status === 'True'

/** Another release of the minor that is installed. */
function isPatch(installedCsv: string | undefined, to: string): boolean {
  const [installed, wanted] = [versionOfCsv(installedCsv), operatorVersionOf(to)]
  return installed !== undefined && wanted !== undefined && operatorMinor(installed) === operatorMinor(wanted)
}

/** It bears the name of the CSV that is installed; where there is none, OLM lets everything through (ocp 2.5). */
async function forbiddenByOperator(
  { reader }: Pick<ReadContext, 'reader'>,
  { subscription }: OperatorRollSnapshot,
  namespace: string,
): Promise<GateWait | undefined> {
  const name = subscription.status?.installedCSV
  if (name === undefined) return undefined
  const found = await reader.get(OperatorConditions, { name, namespace })
  if (found.is !== 'object') return undefined
  const said = operatorConditionGate(found.object)
  if (said.is === 'yes') return undefined
  return {
    is: 'waiting',
    on: `operatorconditions/${name} to let it be replaced`,
    trouble: `${said.reason}: ${said.message}`,
    remedy: [`kubectl -n ${namespace} get operatorconditions.operators.coreos.com ${name} -o yaml`],
  }
}

/**
 * The gate of the first hop, judged before anything is borrowed (night E1); the hop judges it again. An InstallPlan that waits and is not the one of
 * this hop stays in the way, whatever is changed (ocp 2.3 #3): it is told here, and not once workload updates are held.
 */
export function firstGate(hop: OperatorHop, tools: HopTools): Step {
  const ofHop = gate(hop, tools)
  return {
    ...ofHop,
    id: 'gate',
    title: `run the checks before ${hop.version}, before the first change`,
    check: async (cx) => (await wrongPlan(cx.reader, hop, tools)) ?? ofHop.check(cx),
  }
}

async function wrongPlan(reader: Reader, hop: OperatorHop, tools: HopTools): Promise<StepState | undefined> {
  const snapshot = await readOperator(reader, hop)
  const { plan } = snapshot
  const isOver = plan?.status?.phase === 'Complete'
  if (plan === undefined || isOver || isEntered(snapshot, hop)) return undefined
  const offered = await offeredPlan(reader, { snapshot, plan, hop, tools })
  return offered.is === 'wrong' ? offered.blocked : undefined
}

/**
 * Waits until the Subscription names an InstallPlan that may be approved, or that somebody approved already. Where OLM stands at a resolution of which the ground is
 * gone, it has OLM resolve again, once for each CSV that went.
 */
function installPlan(hop: OperatorHop, tools: HopTools): Step {
  const { namespace, name } = hop.subscription
  const again = new ResolveAgain(hop, tools)
  return {
    id: `install-plan-${labelOf(hop)}`,
    title: `wait for the InstallPlan of ${hop.version}`,
    patience: { every: 5 * seconds, atMost: 60 * minutes },
    estimate: 1 * minutes,
    watches: rollSnapshotWatches(hop),
    dependsOn: [`set-channel-${labelOf(hop)}`],
    risk: { undo: 'none', safeToLeave: 'always' },
    hurries: true,
    repeats: { atMost: 20, parallel: 1 },
    shows: `kubectl -n ${namespace} get subscription.operators.coreos.com ${name} -o yaml --show-managed-fields`,
    async check(cx) {
      const snapshot = await readOperator(cx.reader, hop)
      if (isEntered(snapshot, hop)) return { is: 'done' }
      return (await again.state(cx, snapshot)) ?? planState(cx, snapshot, { hop, tools })
    },
    apply: (cx) => again.ask(cx),
  }
}

const againAnnotation = 'kvup.io/resolve-again'

/** Answers to a write that is not let through; a conflict may pass. */
const lasting: ReadonlySet<number> = new Set([400, 403, 409, 422])
const mostTries = 3

/** OLM answered within 3 s where it was seen. */
const answeredWithin = 2 * minutes

/**
 * OLM resolves a namespace at an event of a Subscription, an InstallPlan or a catalog, or after 15 minutes; that the CSV which was in the way went is none. An annotation
 * on HyperConverged's own Subscription is one; where GitOps or Helm owns that, nothing is written. It only hurries: who may not write it waits for OLM.
 */
class ResolveAgain {
  readonly #hop: OperatorHop
  readonly #procedure: string

  constructor(hop: OperatorHop, { procedure }: Pick<HopTools, 'procedure'>) {
    this.#hop = hop
    this.#procedure = procedure
  }

  /** By the CSV that went: what a hop is called differs between runs that continue each other. */
  #key(csv: string): string {
    return `${this.#procedure}/resolve-again/${this.#hop.subscription.uid}/${csv}`
  }

  /** Undefined where OLM does not stand at a stale resolution. */
  async state(cx: ReadContext, snapshot: OperatorRollSnapshot): Promise<StepState | undefined> {
    const now = cx.clock.now()
    const found = staleResolution(snapshot, now)
    if (found === undefined || untilResolved(snapshot, this.#hop, now)?.is !== 'waiting') return undefined
    const { namespace, name } = this.#hop.subscription
    const on = 'OLM to check the namespace again'
    const why = resolutionNote(found) ?? ''
    const show = `kubectl -n ${namespace} describe subscription.operators.coreos.com ${name}`
    const manager = managerOf(snapshot.subscription)
    const alone = (because: string): StepState => ({
      is: 'waiting',
      on: `${on}, which takes up to 15m: ${because}`,
      trouble: why,
      remedy: [show],
    })
    if (manager?.kind === 'gitops' || manager?.kind === 'helm')
      return alone(
        `its Subscription belongs to ${manager.owner ?? manager.kind}, and kvup writes nothing there`,
      )
    const { at: asked, refused } = await this.#asked(cx, found.csv)
    if (refused) return alone(`kvup could not annotate subscription ${name}`)
    if (asked === undefined)
      return {
        is: 'todo',
        change: `annotate subscription ${name} with ${againAnnotation}, so that OLM checks the namespace again: it has not since ${found.csv} went`,
      }
    const passed = now.getTime() - asked
    if (passed >= 0 && passed < answeredWithin) return { is: 'waiting', on, trouble: why, remedy: [show] }
    return {
      is: 'stalled',
      on,
      why: `${why}, nor after kvup annotated subscription ${name}`,
      remedy: [
        show,
        'kubectl get pods -A -l app=catalog-operator     shows whether the resolver of OLM runs',
      ],
    }
  }

  async #asked(
    { journal }: Pick<ReadContext, 'journal'>,
    csv: string,
  ): Promise<{ at?: number; refused: boolean }> {
    const kept = await journal.kept(this.#key(csv))
    const { at, refused } = isRecord(kept) ? kept : {}
    return { ...(typeof at === 'string' && { at: Date.parse(at) }), refused: refused === true }
  }

  /** Once more where somebody wrote the Subscription since it was read; then, and where it may not be written, it is left to OLM. */
  async ask(cx: StepContext): Promise<NotApplied | undefined> {
    for (let tries = 1; ; tries++) {
      const snapshot = await readOperator(cx.reader, this.#hop)
      const found = staleResolution(snapshot, cx.clock.now())
      if (found === undefined) return { notApplied: 'OLM has checked again meanwhile' }
      const key = this.#key(found.csv)
      try {
        return await this.#annotate(cx, snapshot, key)
      } catch (error) {
        if (!(error instanceof ApiError) || !lasting.has(error.status)) throw error
        if (error.status !== 403 && tries < mostTries) continue
        await cx.journal.keep(key, { at: cx.clock.now().toISOString(), refused: true })
        return { notApplied: `the annotation was refused, so OLM checks by itself: ${error.message}` }
      }
    }
  }

  async #annotate(
    { writer, journal, clock }: StepContext,
    snapshot: OperatorRollSnapshot,
    key: string,
  ): Promise<undefined> {
    const at = clock.now().toISOString()
    const { resourceVersion, annotations } = snapshot.subscription.metadata
    const { namespace, name } = this.#hop.subscription
    await writer.jsonPatch(Subscriptions, { namespace, name }, [
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      annotations === undefined
        ? { op: 'add', path: '/metadata/annotations', value: { [againAnnotation]: at } }
        : {
            op: 'add',
            path: `/metadata/annotations/${againAnnotation.replaceAll('/', '~1')}`,
            value: at,
          },
    ])
    await journal.keep(key, { at })
  }
}

function resolutionOf({ subscription, csvs }: OperatorRollSnapshot, now: Date): ResolutionStatus | undefined {
  return assessResolution(subscription, { known: true, items: csvs }, now)
}

function staleResolution(
  snapshot: OperatorRollSnapshot,
  now: Date,
): Extract<ResolutionStatus, { is: 'stale' }> | undefined {
  const found = resolutionOf(snapshot, now)
  return found?.is === 'stale' ? found : undefined
}

/** Where the InstallPlan of a hop stands, as long as its CSV is not there. `done`: it is right, or approved already. */
async function planState(
  { reader, clock }: ReadContext,
  snapshot: OperatorRollSnapshot,
  { hop, tools }: { hop: OperatorHop; tools: HopTools },
): Promise<StepState> {
  const { plan } = snapshot
  const waiting = untilResolved(snapshot, hop, clock.now())
  if (plan === undefined || waiting !== undefined)
    return (
      (waiting?.is === 'stalled' ? undefined : await silentState(reader, snapshot)) ??
      waiting ?? {
        is: 'waiting',
        on: `OLM to create an InstallPlan for ${hop.csv}`,
      }
    )
  const offered = await offeredPlan(reader, { snapshot, plan, hop, tools })
  if (offered.is === 'first') return { is: 'done', note: `OLM installs ${offered.csv} first` }
  if (offered.is === 'wrong') return offered.blocked
  if (offered.is === 'not-yet')
    return { is: 'waiting', on: `InstallPlan ${plan.metadata.name}: ${offered.why}` }
  return { is: 'done' }
}

/** A catalog that does not answer: nothing is resolved from it. Undefined where it answers, and where it may not be read. */
async function silentState(
  reader: Reader,
  { subscription: { spec = {} } }: OperatorRollSnapshot,
): Promise<StepState | undefined> {
  const ref = { name: spec.source ?? '', namespace: spec.sourceNamespace ?? '' }
  try {
    const found = await reader.get(CatalogSources, ref)
    const why = found.is === 'object' && isBroken(found.object) ? silentCatalog(found.object) : undefined
    return why === undefined
      ? undefined
      : { is: 'stalled', on: 'the catalog to answer', why, remedy: [showsCatalog(ref)] }
  } catch (error) {
    if (whyUnknown(error) === undefined) throw error
    return undefined
  }
}

/** Not one that is being connected. */
const isBroken = ({ status }: CatalogSource): boolean =>
  ['TRANSIENT_FAILURE', 'SHUTDOWN'].includes(status?.connectionState?.lastObservedState ?? '')

/**
 * Sets `spec.approved` of exactly the right InstallPlan behind a gate that is open still (night E1), tied to the very revision that was judged: whoever writes it in between
 * makes kvup judge again (ocp 2.3 #5). There is no way back: OLM does not downgrade.
 */
function approve(hop: OperatorHop, tools: HopTools): Step {
  return {
    id: `approve-${labelOf(hop)}`,
    title: `approve ${hop.version}`,
    patience: { every: 5 * seconds, atMost: 60 * minutes },
    estimate: 2 * seconds,
    watches: rollSnapshotWatches(hop),
    dependsOn: [`set-channel-${labelOf(hop)}`],
    risk: { undo: 'none: OLM does not downgrade', safeToLeave: 'OLM continues by itself' },
    shows: `kubectl -n ${hop.subscription.namespace} get installplans -o yaml --show-managed-fields`,
    async check({ reader, clock }): Promise<StepState> {
      const snapshot = await readOperator(reader, hop)
      if (isEntered(snapshot, hop)) return { is: 'done' }
      const { plan } = snapshot
      const waiting = untilResolved(snapshot, hop, clock.now())
      if (plan === undefined || waiting !== undefined)
        return waiting ?? { is: 'waiting', on: `OLM to create an InstallPlan for ${hop.csv}` }
      const { verdict, blocked } = await judgedPlan(reader, { snapshot, plan, hop, tools })
      if (blocked !== undefined) return blocked
      if (verdict.is === 'joined') return { is: 'done', note: `InstallPlan ${plan.metadata.name} approved` }
      if (verdict.is === 'not-yet') return { is: 'waiting', on: `${plan.metadata.name}: ${verdict.why}` }
      // For its InstallPlan it may have waited long behind the gate.
      const shut = await gateShut({ reader }, snapshot, { hop, tools })
      if (shut) return shut
      const { lines, hidden } = await planContents(reader, plan, snapshot.csvs)
      const held = await judgedPlan(reader, { snapshot, plan, hop, tools, hidden })
      if (held.blocked !== undefined) return held.blocked
      return { is: 'todo', change: `approve ${plan.metadata.name}: ${lines.join('; ')}` }
    },
    apply: (cx) => approveNow(cx, hop, tools),
  }
}

async function approveNow(
  { reader, writer }: StepContext,
  hop: OperatorHop,
  tools: HopTools,
): Promise<NotApplied | undefined> {
  const snapshot = await readOperator(reader, hop)
  const { plan } = snapshot
  if (isEntered(snapshot, hop)) return { notApplied: 'someone else approved it meanwhile' }
  if (plan === undefined)
    throw new ApiError(409, 'Conflict', 'the Subscription no longer names an InstallPlan')
  const { verdict } = await judgedPlan(reader, { snapshot, plan, hop, tools })
  if (verdict.is === 'joined') return { notApplied: 'someone else approved it meanwhile' }
  if (verdict.is !== 'right') throw new ApiError(409, 'Conflict', verdict.why)
  const shut = await gateShut({ reader }, snapshot, { hop, tools })
  if (shut) throw new ApiError(409, 'Conflict', shut.trouble ?? shut.on)
  const { name, namespace, resourceVersion } = plan.metadata
  await writer.jsonPatch(InstallPlans, { name, namespace }, [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'test', path: '/spec/approved', value: false },
    { op: 'replace', path: '/spec/approved', value: true },
  ])
  return undefined
}

/** Undefined where OLM has resolved something that is still to be done; else what it waits for (ocp 2.1). */
function untilResolved(snapshot: OperatorRollSnapshot, hop: OperatorHop, now: Date): Waiting | undefined {
  const { subscription, plan } = snapshot
  const resolution = resolutionOf(snapshot, now)
  const trouble = troubleOf(snapshot, hop, resolution)
  if (trouble !== undefined) return trouble
  const over = plan === undefined || plan.status?.phase === 'Complete'
  if (!over) return undefined
  const { channel, source } = subscription.spec ?? {}
  const { state } = subscription.status ?? {}
  if (resolution?.is === 'passing')
    return { is: 'waiting', on: `OLM to replace ${resolution.csv} by ${resolution.by}` }
  return {
    is: 'waiting',
    on: `OLM to create an InstallPlan for ${hop.csv} in channel ${channel ?? 'none'} of catalog ${source ?? 'none'}`,
    ...(state === 'AtLatestKnown' && {
      trouble:
        'the Subscription reports that it is at the latest release; OLM polls a catalog every 10 to 15 minutes',
    }),
    remedy: [
      `kubectl -n ${hop.subscription.namespace} get subscription.operators.coreos.com ${hop.subscription.name} -o yaml`,
      `kubectl get packagemanifest ${hop.package} -o yaml`,
    ],
  }
}

/** What OLM says is in the way; none of it mends itself for long. */
function troubleOf(
  { subscription, plan, csvs }: OperatorRollSnapshot,
  hop: OperatorHop,
  resolution: ResolutionStatus | undefined,
): Waiting | undefined {
  const { namespace, name } = hop.subscription
  const show = `kubectl -n ${namespace} describe subscription.operators.coreos.com ${name}`
  for (const [type, on, remedy] of troubles) {
    const found = condition(subscription, type)
    if (found?.status !== 'True' || (type === 'ResolutionFailed' && resolution?.is !== 'failed')) continue
    if (type === 'BundleUnpackFailed' && unpackedNote(subscription, plan, csvs) !== undefined) continue
    const why = `${type}: ${found.message ?? found.reason ?? 'no message'}${type === 'ResolutionFailed' ? stuckText(resolution) : ''}`
    const since = found.lastTransitionTime
    return { is: 'stalled', on, why, remedy: [show, ...remedy(subscription)], ...(since && { since }) }
  }
  return undefined
}

const stuckText = (resolution: ResolutionStatus | undefined): string =>
  resolution?.is === 'failed' && resolution.stuck !== undefined ? `; ${resolution.stuck} is stuck` : ''

/** What causes others comes first. */
const troubles: readonly (readonly [
  type: string,
  on: string,
  remedy: (subscription: OperatorRollSnapshot['subscription']) => readonly string[],
])[] = [
  [
    'CatalogSourcesUnhealthy',
    'OLM to find the pod of the catalog',
    ({ spec }) => [showsCatalog({ name: spec?.source ?? '', namespace: spec?.sourceNamespace ?? '' })],
  ],
  ['ResolutionFailed', 'OLM to resolve the namespace', () => []],
  [
    'BundleUnpackFailed',
    'OLM to unpack the bundle',
    ({ spec }) => [
      `kubectl -n ${spec?.sourceNamespace ?? 'openshift-marketplace'} get jobs,configmaps     the failed Job and its ConfigMap have to go, then OLM tries again`,
    ],
  ],
]
