import * as kube from '../kinds.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { between, control, type ControllerContext, seconds } from '../machinery/controller.ts'
import { msSince, type Olm } from './olm-context.ts'
import { groupOf, type Kind, type KubeObject } from '../../lib/kube/object.ts'
import { filesOf, isReference, type Reference } from './bundle-unpacker.ts'

/** A plan shows that it is Installing for so long before its first step, ms. */
const beginning = 1500
/** A step takes as long, ms: the 50 to 60 steps of HyperConverged were written within 13 to 61 s. */
const perStep = 250
/** An execution that fails is tried again for so long (ocp 2.2). */
const retried = 60_000
/** As many plans are kept in a namespace (ocp 2.2). */
const kept = 5
/** So long the kind of a new CRD is not served yet, as it was recorded, ms. */
const unserved = { least: 1500, most: 38_000 }

/** Until when the kinds of a plan's new CRDs are not served, ms of the clock, by the uid of the plan. */
type ApiWaits = Map<string, number>

/** Executes plans that are approved, and clears away the oldest. */
export function runInstallPlans(cx: Olm): Promise<void> {
  const waits: ApiWaits = new Map()
  return control(cx, [{ kind: kube.InstallPlans }], async () => {
    const again: number[] = []
    const plans = await cx.reader.list(kube.InstallPlans)
    for (const plan of plans) {
      const wait = await advance(cx, plan, waits)
      if (wait !== undefined) again.push(wait)
    }
    await clear(cx, plans)
    return again.length > 0 ? Math.min(...again) : undefined
  })
}

/** One phase further; the answer is in how many ms to look again. */
async function advance(cx: Olm, plan: kube.InstallPlan, waits: ApiWaits): Promise<number | undefined> {
  const phase = plan.status?.phase
  if (phase === 'RequiresApproval' && plan.spec?.approved === true) {
    await write(cx, plan, { phase: 'Installing', startTime: seconds(cx) })
    return beginning
  }
  if (phase !== 'Installing') return undefined
  const since = msSince(cx, plan.status?.startTime)
  if (plan.status?.startTime === undefined) {
    await write(cx, plan, { startTime: seconds(cx) })
    return beginning
  }
  if (since < beginning) return beginning - since
  const left = (waits.get(plan.metadata.uid ?? '') ?? 0) - cx.clock.now().getTime()
  return left > 0 ? left : execute(cx, plan, waits)
}

/**
 * Goes through the steps once, the CSV first, and tells of all of them at the end: until then its requirements are not met. Kinds of new CRDs are waited for with the CSV
 * and all else there.
 */
async function execute(cx: Olm, plan: kube.InstallPlan, waits: ApiWaits): Promise<number | undefined> {
  const done: kube.InstallStep[] = []
  const steps = plan.status?.plan ?? []
  try {
    const objects = await objectsIn(cx, steps)
    for (const step of steps) done.push(await carryOut(cx, step, objects))
  } catch (error) {
    if (!(error instanceof Refused || error instanceof ApiError)) throw error
    return await markFailed(cx, plan, { steps: [...done, ...steps.slice(done.length)], why: error.message })
  }
  if (done.some(({ status }) => status === waitingForApi)) {
    const wait = cx.faults.on.kindsServedAfter ?? between(cx.random, unserved.least, unserved.most)
    waits.set(plan.metadata.uid ?? '', cx.clock.now().getTime() + wait)
    await write(cx, plan, { message: null, plan: done })
    return wait
  }
  await write(cx, plan, {
    phase: 'Complete',
    message: null,
    plan: done,
    conditions: [installed(cx, { status: 'True' })],
  })
  return undefined
}

const waitingForApi = 'WaitingForApi'

async function carryOut(cx: Olm, step: kube.InstallStep, objects: ReadonlyMap<kube.InstallStep, KubeObject>) {
  if (step.status === waitingForApi) return { ...step, status: 'Created' }
  if (step.status !== 'Unknown') return step
  const { kind = '' } = step.resource ?? {}
  const { planFailed } = cx.faults.on
  if (planFailed !== undefined && kind !== kube.Csvs.kind) throw new Refused(planFailed)
  const object = objects.get(step)
  if (object === undefined) throw new Refused(`no object for the step of ${kind}`)
  const status = await applyObject(cx, object)
  await cx.clock.sleep(perStep, cx.signal)
  const isAwaited = kind === kube.CustomResourceDefinitions.kind && status === 'Created'
  return { ...step, status: isAwaited ? waitingForApi : status }
}

/** What the API server says to a step. */
class Refused extends Error {}

async function markFailed(
  cx: Olm,
  plan: kube.InstallPlan,
  { steps, why }: { steps: kube.InstallStep[]; why: string },
): Promise<number | undefined> {
  if (msSince(cx, plan.status?.startTime) < retried) {
    await write(cx, plan, { message: `retrying execution due to error: ${why}`, plan: steps })
    return 5000
  }
  const refused = installed(cx, { status: 'False', reason: 'InstallComponentFailed', message: why })
  await write(cx, plan, { phase: 'Failed', message: why, plan: steps, conditions: [refused] })
  return undefined
}

function installed(cx: Olm, outcome: { status: 'True' | 'False'; reason?: string; message?: string }) {
  const at = seconds(cx)
  return { type: 'Installed', ...outcome, lastTransitionTime: at, lastUpdateTime: at }
}

type Status = {
  [K in keyof NonNullable<kube.InstallPlan['status']>]?: NonNullable<kube.InstallPlan['status']>[K] | null
}

async function write(cx: Olm, plan: kube.InstallPlan, status: Status): Promise<void> {
  const before = { ...plan.status } as Record<string, unknown>
  if (Object.entries(status).every(([name, value]) => before[name] === value)) return
  await cx.writer.mergePatch(kube.InstallPlans, plan.metadata, { status }, 'status')
}

async function clear(cx: Olm, plans: readonly kube.InstallPlan[]): Promise<void> {
  const namespaces = new Set(plans.map(({ metadata }) => metadata.namespace))
  for (const namespace of namespaces) {
    const here = plans.filter(({ metadata }) => metadata.namespace === namespace)
    const inOrder = here.toSorted((a, b) => (b.spec?.generation ?? 0) - (a.spec?.generation ?? 0))
    for (const { metadata } of inOrder.slice(kept)) await cx.writer.delete(kube.InstallPlans, metadata)
  }
}

const kinds: readonly Kind[] = [
  kube.Csvs,
  kube.CustomResourceDefinitions,
  kube.ServiceAccounts,
  kube.ClusterRoles,
  kube.ClusterRoleBindings,
  kube.Roles,
  kube.RoleBindings,
]

/** A kind that bundles have and OLM applies; undefined for others. */
const appliedKind = ({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Kind | undefined =>
  kinds.find((known) => known.kind === kind && groupOf(known) === groupOf({ apiVersion }))

/** How it was found, in the words of a plan's step. */
type Applied = 'Created' | 'Present' | 'UnsupportedResource'

/**
 * Creates it, or writes it over what is there: a CustomResourceDefinition as a whole, so that the conversion stanza goes which its operator
 * had put in (ocp 1.9). A CSV that is there stays as it is.
 */
async function applyObject({ reader, writer }: ControllerContext, object: KubeObject): Promise<Applied> {
  const kind = appliedKind(object)
  if (kind === undefined) return 'UnsupportedResource'
  const ref = object.metadata
  const found = await reader.get(kind, ref)
  if (found.is !== 'object') {
    await writer.create(kind, object)
    return 'Created'
  }
  if (kind === kube.Csvs) return 'Present'
  if ('spec' in object) {
    await writer.jsonPatch(kind, ref, [{ op: 'replace', path: '/spec', value: object.spec }])
  } else if (kind !== kube.ServiceAccounts) {
    const { metadata, ...rest } = object
    const { labels } = metadata
    await writer.mergePatch(kind, ref, { ...rest, ...(labels && { metadata: { labels } }) })
  }
  return 'Present'
}

/** The object of each step. Throws Refused where a ConfigMap that one refers to is gone. */
async function objectsIn({ reader }: Pick<ControllerContext, 'reader'>, steps: readonly kube.InstallStep[]) {
  const bundles = new Map<string, KubeObject[]>()
  const objects = new Map<kube.InstallStep, KubeObject>()
  for (const step of steps) {
    const { kind, name, manifest = '{}' } = step.resource ?? {}
    const given = JSON.parse(manifest) as KubeObject | Reference
    const bundle = isReference(given) ? (bundles.get(given.name) ?? (await filesIn(reader, given))) : [given]
    if (isReference(given)) bundles.set(given.name, bundle)
    const object = bundle.find((one) => one.kind === kind && one.metadata.name === name)
    if (object !== undefined) objects.set(step, object)
  }
  return objects
}

async function filesIn(reader: ControllerContext['reader'], of: Reference): Promise<KubeObject[]> {
  const files = await filesOf(reader, of)
  if (files === undefined) throw new Refused(`configmaps "${of.name}" not found`)
  return files
}
