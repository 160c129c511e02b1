import * as kube from '../kinds.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { type ControllerContext, seconds } from '../machinery/controller.ts'
import { type Phases, runPhases } from '../machinery/phases.ts'
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
/** What failed is tried again so soon, ms. */
const betweenTries = 5000
/** So long the kind of a new CRD is not served yet, as it was recorded, ms. */
const unserved = { least: 1500, most: 38_000 }

const isInstalling = ({ status }: kube.InstallPlan): boolean => status?.phase === 'Installing'
const started = ({ status }: kube.InstallPlan): string | undefined => status?.startTime

/** Executes plans that are approved, and clears away the oldest. */
export const runInstallPlans = (cx: Olm): Promise<void> => runPhases(cx, plans(cx), [], (_plan, all) => all)

const plans = (cx: Olm): Phases<kube.InstallPlan, readonly kube.InstallPlan[]> => ({
  kind: kube.InstallPlans,
  phases: [
    {
      when: (plan, all) => newerThan(plan, all) >= kept,
      write: ({ metadata }) => cx.writer.delete(kube.InstallPlans, metadata),
    },
    {
      when: ({ spec, status }) => status?.phase === 'RequiresApproval' && spec?.approved === true,
      write: () => ({ phase: 'Installing', startTime: seconds(cx) }),
    },
    {
      when: (plan) => isInstalling(plan) && started(plan) === undefined,
      write: () => ({ startTime: seconds(cx) }),
    },
    {
      when: (plan) => isInstalling(plan) && stepsIn(plan).some(isAwaited),
      after: () => cx.faults.on.kindsServedAfter ?? unserved,
      write: (plan) => execute(cx, plan),
    },
    {
      when: 'Installing',
      since: started,
      after: beginning,
      write: (plan) => execute(cx, plan),
      again: betweenTries,
    },
  ],
})

/** How many plans of its namespace are newer. */
function newerThan({ metadata, spec }: kube.InstallPlan, all: readonly kube.InstallPlan[]): number {
  const { generation: own = 0 } = spec ?? {}
  const here = all.filter((one) => one.metadata.namespace === metadata.namespace)
  return here.filter((one) => (one.spec?.generation ?? 0) > own).length
}

const stepsIn = ({ status }: kube.InstallPlan): readonly kube.InstallStep[] => status?.plan ?? []

/**
 * Goes through the steps once, the CSV first, and tells of all of them at the end: until then its requirements are not met. Kinds of new CRDs are waited for with the CSV
 * and all else there.
 */
async function execute(cx: Olm, plan: kube.InstallPlan): Promise<object> {
  const done: kube.InstallStep[] = []
  const steps = stepsIn(plan)
  try {
    const objects = await objectsIn(cx, steps)
    for (const step of steps) done.push(await carryOut(cx, step, objects))
  } catch (error) {
    if (!(error instanceof Refused || error instanceof ApiError)) throw error
    return failed(cx, plan, { plan: [...done, ...steps.slice(done.length)], message: error.message })
  }
  if (done.some(isAwaited)) return { message: null, plan: done }
  return { phase: 'Complete', message: null, plan: done, conditions: [installed(cx, { status: 'True' })] }
}

const waitingForApi = 'WaitingForApi'
const isAwaited = ({ status }: kube.InstallStep): boolean => status === waitingForApi

async function carryOut(cx: Olm, step: kube.InstallStep, objects: ReadonlyMap<kube.InstallStep, KubeObject>) {
  if (isAwaited(step)) return { ...step, status: 'Created' }
  if (step.status !== 'Unknown') return step
  const { kind = '' } = step.resource ?? {}
  const { planFailed } = cx.faults.on
  if (planFailed !== undefined && kind !== kube.Csvs.kind) throw new Refused(planFailed)
  const object = objects.get(step)
  if (object === undefined) throw new Refused(`no object for the step of ${kind}`)
  const status = await applyObject(cx, object)
  await cx.clock.sleep(perStep, cx.signal)
  const isNewKind = kind === kube.CustomResourceDefinitions.kind && status === 'Created'
  return { ...step, status: isNewKind ? waitingForApi : status }
}

/** What the API server says to a step. */
class Refused extends Error {}

/** It is tried again for a while, and then given up. */
function failed(cx: Olm, plan: kube.InstallPlan, now: { plan: kube.InstallStep[]; message: string }): object {
  const { message } = now
  if (msSince(cx, started(plan)) < retried)
    return { ...now, message: `retrying execution due to error: ${message}` }
  const refused = installed(cx, { status: 'False', reason: 'InstallComponentFailed', message })
  return { ...now, phase: 'Failed', conditions: [refused] }
}

function installed(cx: Olm, outcome: { status: 'True' | 'False'; reason?: string; message?: string }) {
  const at = seconds(cx)
  return { type: 'Installed', ...outcome, lastTransitionTime: at, lastUpdateTime: at }
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
