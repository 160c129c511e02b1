import { gunzipSync, gzipSync } from 'node:zlib'
import {
  type CatalogSource,
  ClusterServiceVersions,
  type InstallPlan,
  InstallPlans,
  type InstallStep,
} from '../../lib/kube/kinds/operator-kinds.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { control, type ControllerContext, templateHash } from '../machinery/controller.ts'
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

/** A plan shows that it is Installing for so long before its objects are there, ms. */
const executing = 2000
/** So long after its CSVs the other objects of a plan are there, ms: until then their requirements are not met. */
const behindFirst = 4000
/** An execution that fails is tried again for so long (ocp 2.2). */
const retried = 60_000
/** As many plans are kept in a namespace (ocp 2.2). */
const kept = 5

/** Executes plans that are approved, and clears away the oldest. */
export function runInstallPlans(cx: OlmContext): Promise<void> {
  return control(cx, [{ kind: InstallPlans }], async () => {
    const again: number[] = []
    const plans = await cx.reader.list(InstallPlans)
    for (const plan of plans) {
      const wait = await advance(cx, plan)
      if (wait !== undefined) again.push(wait)
    }
    await clear(cx, plans)
    return again.length > 0 ? Math.min(...again) : undefined
  })
}

/** One phase further; the answer is in how many ms to look again. */
async function advance(cx: OlmContext, plan: InstallPlan): Promise<number | undefined> {
  const phase = plan.status?.phase
  if (phase === 'RequiresApproval' && plan.spec?.approved === true) {
    await write(cx, plan, { phase: 'Installing', startTime: seconds(cx) })
    return executing
  }
  if (phase !== 'Installing') return undefined
  const since = msSince(cx, plan.status?.startTime)
  if (plan.status?.startTime === undefined) {
    await write(cx, plan, { startTime: seconds(cx) })
    return executing
  }
  if (since < executing) return executing - since
  return execute(cx, plan, since)
}

async function execute(cx: OlmContext, plan: InstallPlan, since: number): Promise<number | undefined> {
  try {
    await writeFirst(cx, plan)
    if (cx.faults.on.planFailed !== undefined) throw new Refused(cx.faults.on.planFailed)
    if (since < executing + behindFirst) return executing + behindFirst - since
    const steps: InstallStep[] = []
    for (const step of plan.status?.plan ?? [])
      steps.push(step.status === 'Created' ? step : { ...step, status: await applyStep(cx, step) })
    await write(cx, plan, {
      phase: 'Complete',
      message: null,
      plan: steps,
      conditions: [installed(cx, { status: 'True' })],
    })
    return undefined
  } catch (error) {
    if (!(error instanceof Refused || error instanceof ApiError)) throw error
    return await markFailed(cx, plan, { since, why: error.message })
  }
}

/** The CSVs are the first steps of a plan: they are there when another step is refused. */
async function writeFirst(cx: OlmContext, plan: InstallPlan): Promise<void> {
  const steps = plan.status?.plan ?? []
  if (!steps.some(isFirst)) return
  const after: InstallStep[] = []
  for (const step of steps) after.push(isFirst(step) ? { ...step, status: await applyStep(cx, step) } : step)
  await write(cx, plan, { plan: after })
}

const isFirst = ({ resource, status }: InstallStep): boolean =>
  resource?.kind === ClusterServiceVersions.kind && status === 'Unknown'

/** What the API server says to a step. */
class Refused extends Error {}

async function applyStep(cx: OlmContext, step: InstallStep): Promise<string> {
  return applyObject(cx, await objectOf(cx, step))
}

async function markFailed(
  cx: OlmContext,
  plan: InstallPlan,
  { since, why }: { since: number; why: string },
): Promise<number | undefined> {
  if (since < retried) {
    await write(cx, plan, { message: `retrying execution due to error: ${why}` })
    return 5000
  }
  const refused = installed(cx, { status: 'False', reason: 'InstallComponentFailed', message: why })
  await write(cx, plan, { phase: 'Failed', message: why, conditions: [refused] })
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

/** The object that a step is to apply. Throws Refused where the ConfigMap that it refers to is gone. */
async function objectOf(
  { reader }: Pick<ControllerContext, 'reader'>,
  { resource }: InstallStep,
): Promise<KubeObject> {
  const manifest = JSON.parse(resource?.manifest ?? '{}') as KubeObject | Reference
  if (!('namespace' in manifest)) return manifest
  const { name: of, namespace } = manifest
  const found = await reader.get(ConfigMaps, { name: of, namespace })
  const files = found.is === 'object' ? Object.values(found.object.binaryData ?? {}).map(unpacked) : []
  const { kind = '', name = '' } = resource ?? {}
  const all = [...files, ...files.filter(isServiceVersion).flatMap(permissionsOf)]
  const object = all.find((one) => one.kind === kind && one.metadata.name === name)
  if (object === undefined) throw new Refused(`configmaps "${of}" not found`)
  return object
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
