import * as kube from '../kinds.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Kind, KubeObject, Metadata } from '../../lib/kube/object.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import {
  configText,
  type DeploymentConfig,
  DeploymentFailure,
  imageOf,
  isAtLeast,
  type Operator,
  type Pass,
} from './virt-operator-context.ts'
import { customResources } from './kubevirt-crds.ts'
import { fillTemplate } from '../placeholders.ts'
import table from './release-objects.json' with { type: 'json' }
import { between, type ControllerContext, foundIn, made, nameSuffix } from '../machinery/controller.ts'
import { gzipSync } from 'node:zlib'

/** An object that the operator keeps as its install strategy has it. */
interface Managed {
  readonly kind: Kind
  readonly object: KubeObject
}

/** Creates it, or writes it again where its stamps are of another deployment or generation of the CR, or somebody edited it. */
export async function ensure(cx: Operator, pass: Pass, { kind, object }: Managed): Promise<boolean> {
  const { labels, annotations } = podStamps(pass.config)
  const metadata: Metadata = {
    ...object.metadata,
    labels: { 'kubevirt.io': '', ...object.metadata.labels, ...labels },
    annotations: {
      ...object.metadata.annotations,
      ...annotations,
      [generationStamp]: String(pass.generation),
    },
  }
  const wanted = { ...object, metadata }
  const found = await cx.reader.get(kind, object.metadata)
  if (found.is === 'unserved') return false
  const what = `${kind.kind} ${object.metadata.name}`
  if (found.is === 'absent') {
    await written(`create ${what}`, cx.writer.create(kind, wanted))
    return true
  }
  if (hasStamps(found.object, pass.config, pass.generation) && contains(found.object, object)) return false
  await written(`patch ${what}`, cx.writer.mergePatch(kind, object.metadata, changed(found.object, wanted)))
  return true
}

/** What the API server refuses, it reports as a failure of the deployment; what others wrote meanwhile it looks at again. */
async function written(what: string, writing: Promise<unknown>): Promise<void> {
  try {
    await writing
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 404 || error.status === 409) throw error
    throw new DeploymentFailure(`unable to ${what}: ${error.message}`)
  }
}

/** The parts that differ: an edit of the CR alone changes annotations and nothing else. */
function changed(before: KubeObject, wanted: KubeObject): Record<string, unknown> {
  const { apiVersion: _, kind: _kind, metadata, ...parts } = wanted
  const old = before as unknown as Record<string, unknown>
  const different = Object.entries(parts).filter(([key, value]) => !contains(old[key], value))
  return {
    metadata: { labels: metadata.labels, annotations: metadata.annotations },
    ...Object.fromEntries(different),
  }
}

/** True when `whole` has everything that `part` says; what a server adds by default is no difference. */
export function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) {
    return (
      Array.isArray(whole) &&
      whole.length === part.length &&
      part.every((item, i) => contains(whole[i], item))
    )
  }
  if (typeof part !== 'object' || part === null) return isDeepStrictEqual(whole, part)
  if (typeof whole !== 'object' || whole === null) return false
  const there = whole as Record<string, unknown>
  return Object.entries(part).every(([key, value]) => contains(there[key], value))
}

const identifier = 'kubevirt.io/install-strategy-identifier'
const generationStamp = 'kubevirt.io/generation'

/** The three annotations that tell which deployment an object, a Job or a pod belongs to. */
const identity = (config: DeploymentConfig): Record<string, string> => ({
  'kubevirt.io/install-strategy-version': config.kubeVirtVersion,
  'kubevirt.io/install-strategy-registry': config.registry,
  [identifier]: config.id,
})

/** What a pod template carries; managed objects carry the CR's generation as well (facts 2.6). */
export const podStamps = (config: DeploymentConfig) => ({
  labels: {
    'app.kubernetes.io/managed-by': 'virt-operator',
    'app.kubernetes.io/component': 'kubevirt',
    'app.kubernetes.io/version': config.kubeVirtVersion,
  },
  annotations: identity(config),
})

/** True when the object belongs to that deployment and has seen that generation of the CR. */
export const hasStamps = (object: KubeObject, config: DeploymentConfig, generation: number): boolean =>
  isOfDeployment(object, config.id) && object.metadata.annotations?.[generationStamp] === String(generation)

/** True when a pod, a Job or a strategy was made for that deployment. */
export const isOfDeployment = (object: KubeObject, id: string): boolean =>
  object.metadata.annotations?.[identifier] === id

/** Data of the release, filled for a deployment. */
export const ofRelease = <T>(
  data: unknown,
  config: DeploymentConfig,
  words: Readonly<Record<string, string>> = {},
): T =>
  fillTemplate(data, {
    word: (name) => wordOf(name, config, words),
    isAtLeast: (minor) => isAtLeast(config.kubeVirtVersion, minor),
  })

function wordOf(name: string, config: DeploymentConfig, words: Readonly<Record<string, string>>): string {
  if (name.startsWith('image ')) return imageOf(config, name.slice('image '.length))
  const { namespace, registry, imagePrefix: prefix } = config
  return { namespace, registry, prefix, ca: caBundle, ...words }[name] ?? ''
}

const kinds = new Map(
  [
    kube.ServiceAccounts,
    kube.ClusterRoles,
    kube.ClusterRoleBindings,
    kube.Secrets,
    kube.ConfigMaps,
    kube.ValidatingWebhooks,
    kube.MutatingWebhooks,
    kube.ApiServices,
    { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true },
  ].map((kind: Kind) => [kind.kind, kind]),
)

/** What is there before any operand: CRDs first, then rights, services, webhooks (facts 2.5, steps 2 to 10). */
export function supportObjects(config: DeploymentConfig): { definitions: Managed[]; others: Managed[] } {
  const definitions = customResources(config.kubeVirtVersion)
  const others = ofRelease<KubeObject[]>(table.support, config)
  return {
    definitions: definitions.map((object) => ({ kind: kube.CustomResourceDefinitions, object })),
    others: others.flatMap((object) => {
      const kind = kinds.get(object.kind)
      return kind ? [{ kind, object }] : []
    }),
  }
}

/** `<deployment>-pdb`, one pod fewer than there are (facts 2.10). */
export function disruptionBudget(namespace: string, component: string, replicas: number): Managed {
  const kind = kube.PodDisruptionBudgets
  const matchLabels = { 'kubevirt.io': component }
  const spec = { minAvailable: Math.max(1, replicas - 1), selector: { matchLabels } }
  return { kind, object: made(kind, { metadata: { name: `${component}-pdb`, namespace }, spec }) }
}

/** A CA of nobody that ends in 2049: that the real one rotates every week is not simulated. */
export const caBundle = [
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSFNNSUdGb0FNQ0FRSUNBUUV3QlFZREsyVndNQk14RVRBUEJnTlZCQU1NQ0d0',
  'MVltVjJhWEowTUI0WERUSTAKTVRJek1UQXdNREF3TUZvWERUUTVNVEl6TVRBd01EQXdNRm93RXpFUk1BOEdBMVVFQXd3SWEzVmla',
  'WFpwY25RdwpLakFGQmdNclpYQURJUUQzVXF6bVF6MXFQQVlBZWhQZGRHcHIyUDFvSUtMWHBRVXU0YjV4Wm52Sk56QUZCZ01yClpY',
  'QURRUUN5bVo3bkQwbzVDVWI4MlZDWlZkSnNHM0RINHpRMWpqbUZIYkFvaWNZUTJHdHBGajJKZjArUzJsbGgKSFk4UkxReEJGcWNU',
  'dU1LVnlFQmc2ZVQ4MjE4RgotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==',
].join('')

const isThrough = ({ status }: kube.Job): boolean => status?.completionTime !== undefined

/** Label of the strategy Jobs and ConfigMaps. */
export const strategyLabel = 'kubevirt.io/install-strategy'

/**
 * The install strategy of a configuration is a ConfigMap that a Job of the target's image writes. While the Job has
 * not completed the answer is false, for ever if need be: nothing of it shows in the CR (facts 2.4, lab "Seen" 5).
 */
export async function loadStrategy(cx: Operator, config: DeploymentConfig): Promise<boolean> {
  const where = { namespace: config.namespace, labels: strategyLabel }
  const maps = await cx.reader.list(kube.ConfigMaps, where)
  const jobs = await cx.reader.list(kube.Jobs, where)
  if (maps.some((map) => isOfDeployment(map, config.id))) {
    // Strategies of other configurations go, and Jobs that are through; a Job that hangs stays behind.
    for (const map of maps)
      if (!isOfDeployment(map, config.id)) await cx.writer.delete(kube.ConfigMaps, map.metadata)
    for (const job of jobs) if (isThrough(job)) await cx.writer.delete(kube.Jobs, job.metadata)
    return true
  }
  const job = jobs.find((one) => isOfDeployment(one, config.id))
  if (job === undefined) await cx.writer.create(kube.Jobs, strategyJob(cx, config))
  else if (isThrough(job)) await cx.writer.delete(kube.Jobs, job.metadata)
  return false
}

function strategyJob(cx: Operator, config: DeploymentConfig): kube.Job {
  const prefix = isAtLeast(cx.self.version, 9)
    ? 'virt-operator-install-strategy-'
    : `kubevirt-${config.id}-job`
  const words = { operatorImage: config.virtOperatorImage, config: configText(config) }
  const job = ofRelease<kube.Job>(table.strategyJob, config, words)
  Object.assign(job.metadata, strategyMetadata(cx, prefix, config.namespace), {
    annotations: identity(config),
  })
  Object.assign(job.spec?.template?.spec ?? {}, table.onControlPlane)
  return job
}

const strategyMetadata = (cx: ControllerContext, generateName: string, namespace: string | undefined) => ({
  name: `${generateName}${nameSuffix(cx.random)}`,
  generateName,
  namespace,
  labels: { 'kubevirt.io': '', 'app.kubernetes.io/managed-by': 'virt-operator', [strategyLabel]: '' },
})

/** `virt-operator --dump-install-strategy`: writes the ConfigMap that belongs to its Job; the exit code. */
export async function dumpStrategy(cx: ControllerContext, { metadata, spec }: kube.Pod): Promise<number> {
  await cx.clock.sleep(between(cx.random, 1500, 2500), cx.signal)
  const { namespace, labels = {} } = metadata
  const name = labels['batch.kubernetes.io/job-name'] ?? ''
  const job = foundIn(await cx.reader.get(kube.Jobs, { name, namespace }))
  if (job === undefined) return 1
  const encoding = { 'kubevirt.io/install-strategy-cm-encoding': 'base64+gzip' }
  const config = spec?.containers?.[0]?.env?.find((one) => one.name === 'TARGET_DEPLOYMENT_CONFIG')?.value
  const map: kube.ConfigMap = made(kube.ConfigMaps, {
    metadata: {
      ...strategyMetadata(cx, 'kubevirt-install-strategy-', namespace),
      annotations: { ...job.metadata.annotations, ...encoding },
    },
    data: { manifests: gzipSync(config ?? '').toString('base64') },
  })
  await cx.writer.create(kube.ConfigMaps, map)
  return 0
}
