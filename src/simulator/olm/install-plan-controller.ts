import { gunzipSync, gzipSync } from 'node:zlib'
import {
  type CatalogSource,
  ClusterServiceVersions,
  type InstallPlan,
  InstallPlans,
  type InstallStep,
} from '../../lib/kube/kinds/operator-kinds.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { between, control, type ControllerContext, templateHash } from '../machinery/controller.ts'
import { msSince, type OlmContext, seconds } from './olm-context.ts'
import { condition, groupOf, type Kind, type KubeObject } from '../../lib/kube/object.ts'
import { type Job, Jobs } from '../../lib/kube/kinds/workload-kinds.ts'
import {
  ClusterRoleBindings,
  ClusterRoles,
  CustomResourceDefinitions,
  RoleBindings,
  Roles,
  ServiceAccounts,
} from '../../lib/kube/kinds/extension-kinds.ts'
import { type ConfigMap, ConfigMaps } from '../../lib/kube/kinds/core-kinds.ts'
import { versionOf } from '../api/kinds/sim-kind.ts'
import {
  bundleFiles,
  bundleObjects,
  isServiceVersion,
  permissionsOf,
  type Release,
} from './operator-bundle.ts'
import type { OlmShape } from './olm-shape.ts'

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
export function runInstallPlans(cx: OlmContext): Promise<void> {
  const waits: ApiWaits = new Map()
  return control(cx, [{ kind: InstallPlans }], async () => {
    const again: number[] = []
    const plans = await cx.reader.list(InstallPlans)
    for (const plan of plans) {
      const wait = await advance(cx, plan, waits)
      if (wait !== undefined) again.push(wait)
    }
    await clear(cx, plans)
    return again.length > 0 ? Math.min(...again) : undefined
  })
}

/** One phase further; the answer is in how many ms to look again. */
async function advance(cx: OlmContext, plan: InstallPlan, waits: ApiWaits): Promise<number | undefined> {
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
async function execute(cx: OlmContext, plan: InstallPlan, waits: ApiWaits): Promise<number | undefined> {
  const done: InstallStep[] = []
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

async function carryOut(
  cx: OlmContext,
  step: InstallStep,
  objects: ReadonlyMap<InstallStep, KubeObject>,
): Promise<InstallStep> {
  if (step.status === waitingForApi) return { ...step, status: 'Created' }
  if (step.status !== 'Unknown') return step
  const { kind = '' } = step.resource ?? {}
  const { planFailed } = cx.faults.on
  if (planFailed !== undefined && kind !== ClusterServiceVersions.kind) throw new Refused(planFailed)
  const object = objects.get(step)
  if (object === undefined) throw new Refused(`no object for the step of ${kind}`)
  const status = await applyObject(cx, object)
  await cx.clock.sleep(perStep, cx.signal)
  const isAwaited = kind === CustomResourceDefinitions.kind && status === 'Created'
  return { ...step, status: isAwaited ? waitingForApi : status }
}

/** What the API server says to a step. */
class Refused extends Error {}

async function markFailed(
  cx: OlmContext,
  plan: InstallPlan,
  { steps, why }: { steps: InstallStep[]; why: string },
): Promise<number | undefined> {
  if (msSince(cx, plan.status?.startTime) < retried) {
    await write(cx, plan, { message: `retrying execution due to error: ${why}`, plan: steps })
    return 5000
  }
  const refused = installed(cx, { status: 'False', reason: 'InstallComponentFailed', message: why })
  await write(cx, plan, { phase: 'Failed', message: why, plan: steps, conditions: [refused] })
  return undefined
}

function installed(
  cx: OlmContext,
  outcome: { status: 'True' | 'False'; reason?: string; message?: string },
): NonNullable<NonNullable<InstallPlan['status']>['conditions']>[number] {
  const at = seconds(cx)
  return { type: 'Installed', ...outcome, lastTransitionTime: at, lastUpdateTime: at }
}

type Status = {
  [K in keyof NonNullable<InstallPlan['status']>]?: NonNullable<InstallPlan['status']>[K] | null
}

async function write(cx: OlmContext, plan: InstallPlan, status: Status): Promise<void> {
  const before = { ...plan.status } as Record<string, unknown>
  if (Object.entries(status).every(([name, value]) => before[name] === value)) return
  await cx.writer.mergePatch(InstallPlans, plan.metadata, { status }, 'status')
}

/** Those of the lowest generations go first, whatever became of them. */
async function clear(cx: OlmContext, plans: readonly InstallPlan[]): Promise<void> {
  const namespaces = new Set(plans.map(({ metadata }) => metadata.namespace))
  for (const namespace of namespaces) {
    const here = plans.filter(({ metadata }) => metadata.namespace === namespace)
    const inOrder = here.toSorted((a, b) => (b.spec?.generation ?? 0) - (a.spec?.generation ?? 0))
    for (const { metadata } of inOrder.slice(kept)) await cx.writer.delete(InstallPlans, metadata)
  }
}

const kinds: readonly Kind[] = [
  ClusterServiceVersions,
  CustomResourceDefinitions,
  ServiceAccounts,
  ClusterRoles,
  ClusterRoleBindings,
  Roles,
  RoleBindings,
]

/** A kind that bundles have and OLM applies; undefined for others. */
function appliedKind({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Kind | undefined {
  return kinds.find((known) => known.kind === kind && groupOf(known) === groupOf({ apiVersion }))
}

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
  if (kind === ClusterServiceVersions) return 'Present'
  if ('spec' in object) {
    await writer.jsonPatch(kind, ref, [{ op: 'replace', path: '/spec', value: object.spec }])
  } else if (kind !== ServiceAccounts) {
    const { metadata, ...rest } = object
    const { labels } = metadata
    await writer.mergePatch(kind, ref, { ...rest, ...(labels && { metadata: { labels } }) })
  }
  return 'Present'
}

/** Where the objects of a bundle lie that was unpacked, as a step refers to it (ocp 2.2). */
interface Reference {
  kind: 'ConfigMap'
  name: string
  namespace: string
  catalogSourceName: string
  catalogSourceNamespace: string
  replaces: string
}

/** What a plan does for one release. */
export function stepsOf(release: Release, shape: OlmShape): InstallStep[] {
  const { source, sourceNamespace, manifests = 'referenced' } = shape
  const reference = JSON.stringify(referenceTo(release, shape))
  return bundleObjects(release, shape).map((object) => ({
    resolving: release.entry.name,
    resource: {
      group: groupOf(object),
      version: versionOf(object.apiVersion),
      kind: object.kind,
      name: object.metadata.name,
      sourceName: source,
      sourceNamespace,
      manifest: manifests === 'referenced' ? reference : JSON.stringify(object),
    },
    status: 'Unknown',
  }))
}

/** Bears the hash of the bundle's image, as its Job does. */
function unpackedName({ package: name, entry }: Pick<Release, 'package' | 'entry'>): string {
  return templateHash({ bundle: `${name}@${entry.version}` }).repeat(6)
}

function referenceTo(release: Release, { source, sourceNamespace }: OlmShape): Reference {
  return {
    kind: 'ConfigMap',
    name: unpackedName(release),
    namespace: sourceNamespace,
    catalogSourceName: source,
    catalogSourceNamespace: sourceNamespace,
    replaces: release.replaces ?? '',
  }
}

/** The ConfigMap that an unpacked bundle is kept in: a file for each object, gzipped and in base64, which the API encodes once more. */
export function unpackedBundle(release: Release, shape: OlmShape): ConfigMap {
  const { apiVersion, kind } = ConfigMaps
  const files = bundleFiles(release, shape).map((object) => [fileOf(object), packed(JSON.stringify(object))])
  return {
    apiVersion,
    kind,
    metadata: {
      name: unpackedName(release),
      namespace: shape.sourceNamespace,
      labels: { 'olm.managed': 'true', 'operatorframework.io/bundle-unpack-ref': unpackedName(release) },
    },
    binaryData: Object.fromEntries(files) as Record<string, string>,
  }
}

const fileOf = ({ kind, metadata }: KubeObject): string =>
  `${kind.toLowerCase()}_${metadata.name.replaceAll(':', '_')}.yaml`

const packed = (text: string): string => Buffer.from(gzipSync(text).toString('base64')).toString('base64')

function unpacked(text: string): KubeObject {
  const inner = Buffer.from(Buffer.from(text, 'base64').toString(), 'base64')
  return JSON.parse(gunzipSync(inner).toString()) as KubeObject
}

/** The object of each step. Throws Refused where a ConfigMap that one refers to is gone. */
async function objectsIn(
  { reader }: Pick<ControllerContext, 'reader'>,
  steps: readonly InstallStep[],
): Promise<Map<InstallStep, KubeObject>> {
  const bundles = new Map<string, KubeObject[]>()
  const objects = new Map<InstallStep, KubeObject>()
  for (const step of steps) {
    const { kind, name, manifest = '{}' } = step.resource ?? {}
    const given = JSON.parse(manifest) as KubeObject | Reference
    const bundle =
      'namespace' in given ? (bundles.get(given.name) ?? (await filesOf(reader, given))) : [given]
    if ('namespace' in given) bundles.set(given.name, bundle)
    const object = bundle.find((one) => one.kind === kind && one.metadata.name === name)
    if (object !== undefined) objects.set(step, object)
  }
  return objects
}

async function filesOf(
  reader: ControllerContext['reader'],
  { name, namespace }: Reference,
): Promise<KubeObject[]> {
  const found = await reader.get(ConfigMaps, { name, namespace })
  if (found.is !== 'object') throw new Refused(`configmaps "${name}" not found`)
  const files = Object.values(found.object.binaryData ?? {}).map(unpacked)
  return [...files, ...files.filter(isServiceVersion).flatMap(permissionsOf)]
}

/** A bundle's image is unpacked in so many ms. */
const unpacking = 4000
/** Then it is given up (ocp 2.2). */
const deadline = 600_000

type Unpacked = { is: 'done' } | { is: 'under-way'; again: number } | { is: 'failed'; why: string }

/** How the unpacking of these releases stands that began at `since`; puts its result where steps refer to it. */
export async function unpack(
  cx: OlmContext,
  releases: readonly Release[],
  { since, source }: { since: string | undefined; source: CatalogSource },
): Promise<Unpacked> {
  for (const release of releases) {
    const why = await failureOf(cx, release)
    if (why !== undefined) return { is: 'failed', why }
  }
  const passed = since === undefined ? 0 : msSince(cx, since)
  const says = cx.faults.on.bundleUnpackFailed
  if (says !== undefined && passed >= deadline) return giveUp(cx, releases, says)
  if (says !== undefined) return { is: 'under-way', again: 5000 }
  if (passed < unpacking) return { is: 'under-way', again: unpacking - passed }
  for (const release of releases) await keep(cx, release, source)
  return { is: 'done' }
}

async function keep(cx: OlmContext, release: Release, source: CatalogSource): Promise<void> {
  const { metadata, ...bundle } = unpackedBundle(release, cx.shape)
  const found = await cx.reader.get(ConfigMaps, metadata)
  if (found.is !== 'absent') return
  const { name, uid = '' } = source.metadata
  const ownerReferences = [{ apiVersion: source.apiVersion, kind: source.kind, name, uid, controller: false }]
  await cx.writer.create(ConfigMaps, { ...bundle, metadata: { ...metadata, ownerReferences } })
}

/** A Job that failed is not tried again while it is there. */
async function failureOf(cx: OlmContext, release: Release): Promise<string | undefined> {
  const found = await cx.reader.get(Jobs, {
    name: unpackedName(release),
    namespace: cx.shape.sourceNamespace,
  })
  const failed = found.is === 'object' ? condition(found.object, 'Failed') : undefined
  if (failed?.status !== 'True') return undefined
  return `bundle unpacking failed. Reason: ${failed.reason}, and Message: ${failed.message}`
}

async function giveUp(cx: OlmContext, releases: readonly Release[], says: string): Promise<Unpacked> {
  for (const release of releases) {
    const { metadata } = await cx.writer.create(Jobs, jobOf(cx, release))
    const failed = {
      type: 'Failed',
      status: 'True',
      reason: 'DeadlineExceeded',
      message: `Job was active longer than specified deadline: ${says}`,
      lastTransitionTime: seconds(cx),
    } as const
    await cx.writer.mergePatch(Jobs, metadata, { status: { conditions: [failed] } }, 'status')
  }
  return { is: 'under-way', again: 0 }
}

function jobOf({ shape }: OlmContext, release: Release): Job {
  const name = unpackedName(release)
  const containers = [
    { name: 'extract', image: `registry.redhat.io/${release.package}-bundle:v${release.entry.version}` },
  ]
  return {
    apiVersion: Jobs.apiVersion,
    kind: Jobs.kind,
    metadata: {
      name,
      namespace: shape.sourceNamespace,
      labels: { 'olm.managed': 'true', 'operatorframework.io/bundle-unpack-ref': name },
    },
    spec: { backoffLimit: 3, template: { spec: { restartPolicy: 'Never', containers } } },
  }
}
