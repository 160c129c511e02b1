import * as kube from '../kinds.ts'
import { atVersion, type Kind, type KubeObject } from '../../lib/kube/object.ts'
import { type Json, same } from '../api/json.ts'
import { internalError, Refusal } from '../api/api-refusal.ts'
import {
  between,
  control,
  type ControllerContext,
  foundIn,
  made,
  recordEvent,
} from '../machinery/controller.ts'
import { lead } from '../machinery/leader-election.ts'
import {
  aggregated,
  failedConditions,
  initialConditions,
  patchIn,
  report,
  type Told,
  troubleOf,
} from './hyperconverged-status.ts'
import { type Component, type ComponentResource, components } from './hyperconverged-components.ts'
import {
  type HyperConvergedShape,
  names,
  passedOn,
  patchedForUpgrade,
  podNames,
  shapeOf,
  upstreamMinor,
  virtualizationOf,
} from './hyperconverged-crd.ts'
import {
  type HyperConvergedFaults,
  pollEvery,
  sayUpgradeable,
  type Self,
  upgradeable,
} from './hyperconverged-context.ts'
import { jsonPatch } from '../api/patch.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { versionOf } from '../api/kinds/sim-kind.ts'
import type { Store } from '../api/store.ts'
import { isReady } from '../machinery/owned-pods.ts'
import { caBundle } from '../virt-operator/managed-objects.ts'

/** The program of an hco-operator pod: waits for the Lease, then keeps KubeVirt and its companions as the HyperConverged says (ocp 1). */
export async function runHyperConvergedOperator(cx: Self): Promise<void> {
  const { name: identity, namespace } = cx.self
  const stopped = () => cx.faults.on.hyperConvergedStopped === true
  const candidate = { lease: 'hyperconverged-cluster-operator-lock', namespace, identity, stopped }
  await sayUpgradeable(cx, upgradeable.starting)
  await lead(cx, candidate, (signal) => operate({ ...cx, signal }))
}

function operate(cx: Self): Promise<void> {
  const { namespace } = cx.self
  const watched = [
    { kind: kube.HyperConvergeds, where: { namespace } },
    { kind: kube.KubeVirts, where: { namespace } },
    { kind: kube.CustomResourceDefinitions, where: { name: names.definition } },
    ...components.map(({ kind }) => ({ kind })),
  ]
  const passes = new Passes(cx)
  return control(cx, watched, () => passes.next())
}

/** The passes of one process, one after the other. That an upgrade goes on it only knows in memory (ocp 1.5). */
class Passes {
  readonly #cx: Self
  #upgrading: boolean | undefined

  constructor(cx: Self) {
    this.#cx = cx
  }

  async next(): Promise<number> {
    const cx = this.#cx
    const kind = await storedKind(cx)
    if (kind === 'not converted') return 1000
    const found = await cx.reader.get(kind, { name: names.hyperconverged, namespace: cx.self.namespace })
    if (found.is !== 'object' || found.object.metadata.deletionTimestamp !== undefined) {
      await sayUpgradeable(cx, upgradeable.yes)
      return pollEvery
    }
    const hyperconverged = found.object
    if (hyperconverged.status?.conditions === undefined) return this.#begin(kind, hyperconverged)
    if (await this.#isBehind(hyperconverged))
      await sayUpgradeable(cx, upgradeable.upgradingTo(cx.self.version))
    if (await rewrite(cx, kind, hyperconverged, this.#upgrading === true)) return 100
    return this.#reconcile(kind, hyperconverged)
  }

  /** Its release is said at once: it proves nothing (ocp 1.5). */
  async #begin(kind: Kind<kube.HyperConverged>, hyperconverged: kube.HyperConverged): Promise<number> {
    const infrastructureHighlyAvailable = await isHighlyAvailable(this.#cx)
    const more = { version: this.#cx.self.version, infrastructureHighlyAvailable }
    await report(this.#cx, kind, hyperconverged, { conditions: initialConditions, upgrading: false, ...more })
    return 100
  }

  async #isBehind(hyperconverged: kube.HyperConverged): Promise<boolean> {
    if (this.#upgrading !== undefined) return this.#upgrading
    const { version } = this.#cx.self
    this.#upgrading = operatorVersion(hyperconverged) !== version
    if (this.#upgrading)
      await this.#tell(hyperconverged, `Upgrading the HyperConverged to version ${version}`)
    return this.#upgrading
  }

  async #reconcile(kind: Kind<kube.HyperConverged>, hyperconverged: kube.HyperConverged): Promise<number> {
    const cx = this.#cx
    try {
      const error = cx.faults.on.reconcileError
      if (error !== undefined) throw new Failed(error)
      const operands = await ensureOperands(cx, hyperconverged, this.#upgrading === true)
      await this.#conclude(kind, hyperconverged, operands)
    } catch (error) {
      if (!(error instanceof Failed || isRefused(error))) throw error
      const conditions = failedConditions(error.message)
      await report(cx, kind, hyperconverged, { conditions, upgrading: this.#upgrading === true })
    }
    return pollEvery
  }

  async #conclude(
    kind: Kind<kube.HyperConverged>,
    hyperconverged: kube.HyperConverged,
    { told, upgraded, objects }: Operands,
  ): Promise<void> {
    const cx = this.#cx
    const { version } = cx.self
    const trouble = troubleOf(told)
    const finished = this.#upgrading === true && upgraded && trouble.size === 0
    if (finished) this.#upgrading = false
    const upgrading = this.#upgrading === true
    const conditions = aggregated(trouble, upgrading ? version : undefined)
    const said = { conditions, upgrading, objects, ...(finished ? { version } : {}) }
    await report(cx, kind, hyperconverged, said)
    if (finished) await this.#tell(hyperconverged, `Successfully upgraded to version ${version}`)
    await sayUpgradeable(cx, upgrading ? upgradeable.upgradingTo(version) : mayBeReplaced(told))
  }

  #tell(about: KubeObject, message: string): Promise<void> {
    const by = 'hyperconverged-cluster-operator'
    return recordEvent(this.#cx, about, by, ['Normal', 'UpgradeHCO', message])
  }
}

/** A pass that ends in an error which it reports. */
class Failed extends Error {
  override readonly name = 'Failed'
}

/** A jsonpatch annotation that does not apply; what others wrote meanwhile is looked at again. */
const isRefused = (error: unknown): error is Refusal => error instanceof Refusal && error.status === 422

/** Neither progressing nor degraded components keep OLM from replacing it: only one that says so itself (ocp 1.8). */
function mayBeReplaced(told: readonly Told[]) {
  const held = told.filter(({ conditions }) =>
    conditions.some(({ type, status }) => type === 'Upgradeable' && status === 'False'),
  )
  const condition = troubleOf(held).get('Upgradeable')
  if (condition === undefined) return upgradeable.yes
  const { reason = '', message = '' } = condition
  return { status: 'False', reason, message } as const
}

const operatorVersion = ({ status }: kube.HyperConverged): string | undefined =>
  status?.versions?.find(({ name }) => name === 'operator')?.version

/** In the version that is stored; where nobody converts between several, neither read nor written. */
async function storedKind({ reader }: Self): Promise<Kind<kube.HyperConverged> | 'not converted'> {
  const found = foundIn(await reader.get(kube.CustomResourceDefinitions, { name: names.definition }))
  if (found === undefined) return kube.HyperConvergeds
  const { stored, served, conversion } = shapeOf(found)
  const isConverted = conversion === 'Webhook' || served.length === 1
  return isConverted ? atVersion(kube.HyperConvergeds, stored) : 'not converted'
}

const finalizer = 'kubevirt.io/hyperconverged'

/** What the operator changes of the CR itself: its label and finalizer, and once per upgrade the spec. True where it wrote. */
async function rewrite(
  cx: Self,
  kind: Kind<kube.HyperConverged>,
  hyperconverged: kube.HyperConverged,
  upgrading: boolean,
): Promise<boolean> {
  const { metadata, spec = {} } = hyperconverged
  const { name, namespace, labels = {}, finalizers = [] } = metadata
  const from = operatorVersion(hyperconverged) ?? '0.0.0'
  const next = upgrading ? patchedForUpgrade({ ...spec }, from, cx.self.version) : spec
  if (labels['app'] !== undefined && finalizers.includes(finalizer) && same(spec, next)) return false
  await cx.writer.mergePatch(
    kind,
    { name, namespace },
    {
      metadata: {
        labels: { app: name },
        finalizers: [...new Set([...finalizers, finalizer])],
      },
      ...(same(spec, next) ? {} : { spec: next }),
    },
  )
  return true
}

interface Operands {
  readonly told: readonly Told[]
  readonly upgraded: boolean
  readonly objects: readonly KubeObject[]
}

/** Makes what is missing, sets back what others changed of the KubeVirt, and asks all of them. `quiet`: overwrites without an event, as in upgrade mode. */
async function ensureOperands(cx: Self, hyperconverged: kube.HyperConverged, quiet: boolean) {
  const kubevirt = await ensureKubeVirt(cx, hyperconverged, quiet)
  const others: ComponentResource[] = []
  for (const component of components) others.push(await ensureComponent(cx, hyperconverged, component))
  const objects = [kubevirt, ...others]
  return {
    told: objects.map(({ kind, status }) => ({ component: kind, conditions: status?.conditions ?? [] })),
    upgraded:
      kubevirt.status?.observedKubeVirtVersion === cx.self.kubevirt &&
      others.every(({ status }) => status?.observedVersion === cx.self.version),
    objects,
  }
}

async function ensureKubeVirt(cx: Self, hyperconverged: kube.HyperConverged, quiet: boolean) {
  const wanted = wantedKubeVirt(hyperconverged)
  const object = foundIn(await cx.reader.get(kube.KubeVirts, wanted.metadata))
  if (object === undefined) return cx.writer.create(kube.KubeVirts, wanted)
  if (same(object.spec, wanted.spec)) return object
  const { name, namespace } = object.metadata
  const isForeign = hyperconverged.status?.observedGeneration === hyperconverged.metadata.generation
  if (!quiet && isForeign) {
    const message = `Overwritten ${kube.KubeVirts.kind} ${name}`
    await recordEvent(cx, hyperconverged, by, ['Warning', 'Overwritten', message])
  }
  return cx.writer.jsonPatch(kube.KubeVirts, { name, namespace }, [
    { op: 'replace', path: '/spec', value: wanted.spec },
  ])
}

const by = 'hyperconverged-cluster-operator'

async function ensureComponent(cx: Self, hyperconverged: kube.HyperConverged, { kind, name }: Component) {
  const { namespace } = cx.self
  const metadata = { name, ...(kind.namespaced ? { namespace } : {}) }
  const found = await cx.reader.get(kind, metadata)
  if (found.is === 'object') return found.object
  const labels = { 'app.kubernetes.io/managed-by': 'hco-operator' }
  const ownerReferences = [ownerReference(hyperconverged)]
  return cx.writer.create(kind, made(kind, { metadata: { ...metadata, labels, ownerReferences } }))
}

/** The KubeVirt that a HyperConverged makes (hco 1, 5, 6). Throws the Refusal of a jsonpatch annotation that does not apply. */
function wantedKubeVirt(hyperconverged: kube.HyperConverged): kube.KubeVirt {
  const { metadata } = hyperconverged
  const { workloadUpdateStrategy, migrations } = passedOn(hyperconverged)
  const { evictionStrategy } = virtualizationOf(hyperconverged)
  const kubevirt: kube.KubeVirt = made(kube.KubeVirts, {
    metadata: {
      name: names.kubevirt,
      namespace: metadata.namespace,
      labels: { app: names.hyperconverged, 'app.kubernetes.io/managed-by': 'hco-operator' },
      finalizers: ['foregroundDeleteKubeVirt'],
      ownerReferences: [ownerReference(hyperconverged)],
    },
    spec: {
      configuration: {
        developerConfiguration: { featureGates: ['VMExport'] },
        migrations,
        ...(evictionStrategy === undefined ? {} : { evictionStrategy }),
      },
      customizeComponents: {},
      imagePullPolicy: 'IfNotPresent',
      workloadUpdateStrategy,
    },
  })
  return jsonPatch(kubevirt, patchIn(hyperconverged, 'kubevirt.kubevirt.io/jsonpatch')) as kube.KubeVirt
}

function ownerReference({ apiVersion, kind, metadata }: kube.HyperConverged) {
  const { name, uid = '' } = metadata
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

/** As the platform says of its machines; elsewhere three control planes and two others. */
async function isHighlyAvailable({ reader }: Pick<ControllerContext, 'reader'>): Promise<boolean> {
  const found = await reader.get(kube.Infrastructures, { name: 'cluster' })
  if (found.is === 'object') return found.object.status?.infrastructureTopology !== 'SingleReplica'
  const nodes = await reader.list(kube.Nodes)
  const planes = nodes.filter(
    ({ metadata }) => metadata.labels?.['node-role.kubernetes.io/control-plane'] !== undefined,
  )
  return planes.length >= 3 && nodes.length - planes.length >= 2
}

/** Where no OLM runs the operator: copies how VMs follow to the KubeVirt, and sets back what others write there (hco 5). */
export function runHyperConverged(
  cx: ControllerContext,
  { stored }: HyperConvergedShape,
  faults: Faults<HyperConvergedFaults>,
): Promise<void> {
  const kind = atVersion(kube.HyperConvergeds, stored)
  return control(cx, [{ kind }, { kind: kube.KubeVirts }], async () => {
    if (faults.on.hyperConvergedStopped === true) return 1000
    const [hyperconverged] = await cx.reader.list(kind)
    const [kubevirt] = await cx.reader.list(kube.KubeVirts)
    if (!hyperconverged || !kubevirt) return undefined
    const spec = specFor(hyperconverged, kubevirt)
    if (same(kubevirt.spec, spec)) return undefined
    const { name, namespace } = kubevirt.metadata
    await cx.writer.jsonPatch(kube.KubeVirts, { name, namespace }, [
      { op: 'replace', path: '/spec', value: spec },
    ])
    return undefined
  })
}

function specFor(hyperconverged: kube.HyperConverged, kubevirt: kube.KubeVirt): Json {
  const { workloadUpdateStrategy, migrations } = passedOn(hyperconverged)
  return {
    ...kubevirt.spec,
    workloadUpdateStrategy,
    configuration: { ...kubevirt.spec?.configuration, migrations },
  }
}

/** A webhook that a change of the HyperConverged has to pass. */
interface Asked {
  webhook: string
  service: string
  /** Where it is called: `443/kubevirt-validate-update`. */
  path: string
  pods: string
}

const own: Asked = {
  webhook: 'validate-hco.kubevirt.io',
  service: 'hco-webhook-service',
  path: '4343/validate-hco-kubevirt-io-v1beta1-hyperconverged',
  pods: `name=${podNames.webhook}`,
}

/** Of the components that the change is tried on. */
const tried: readonly Asked[] = [
  {
    webhook: 'kubevirt-update-validator.kubevirt.io',
    service: 'kubevirt-operator-webhook',
    path: '443/kubevirt-validate-update',
    pods: 'kubevirt.io=virt-operator',
  },
  {
    webhook: 'validation.ssp.kubevirt.io',
    service: 'ssp-operator-service',
    path: '9443/validate-ssp-kubevirt-io-v1beta3-ssp',
    pods: 'name=ssp-operator',
  },
]

/**
 * The webhooks of HyperConverged (ocp 1.9): one fills evictionStrategy in (ocp 1.4), one admits a change of spec or annotations only after
 * dry runs against the components. Where a pod of theirs is missing or starts, they refuse, and a moment later they do not.
 */
export function serveHyperConvergedWebhook(
  store: Store,
  faults: Faults<HyperConvergedFaults>,
  namespace: string,
): void {
  const pods = (labels: string) => store.list(kube.Pods, { namespace, labels }).items as kube.Pod[]
  store.admission.add(({ kind, operation, write, object, before }) => {
    if (kind.plural !== 'hyperconvergeds' || operation === 'DELETE' || write.on === 'status') return
    const lost = faults.on.changesRefused
    if (lost === 'nobody-answers' || !pods(own.pods).some(isReady))
      throw internalError(unanswered(own, namespace))
    fillEvictionStrategy(object, before)
    if (!asksComponents(object, before)) return
    const starting = tried.find((asked) => !isServing(pods(asked.pods)))
    const down = lost === 'dry-run-fails' ? tried[0] : starting
    if (down) throw denied(unanswered(down, namespace))
  })
}

function isServing(pods: readonly kube.Pod[]): boolean {
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return staying.length > 0 && staying.every(isReady)
}

function asksComponents(object: kube.HyperConverged, before: kube.HyperConverged | undefined): boolean {
  if (before === undefined) return true
  return (
    !same(object.spec ?? {}, before.spec ?? {}) ||
    !same(object.metadata.annotations ?? {}, before.metadata.annotations ?? {})
  )
}

const unanswered = ({ webhook, service, path }: Asked, namespace: string): string =>
  `failed calling webhook "${webhook}": failed to call webhook: Post "https://${service}.${namespace}.svc:${path}?timeout=10s": no endpoints available for service "${service}"`

function denied(why: string): Refusal {
  const message = `admission webhook "${own.webhook}" denied the request: Internal error occurred: ${why}`
  return new Refusal(403, 'Forbidden', message)
}

/** LiveMigrate where the cluster is highly available, as soon as that is known, None on a single node (hco 9). */
function fillEvictionStrategy(object: kube.HyperConverged, before: kube.HyperConverged | undefined): void {
  const available = before?.status?.infrastructureHighlyAvailable
  if (available === undefined || virtualizationOf(object)['evictionStrategy'] !== undefined) return
  const filled = { ...virtualizationOf(object), evictionStrategy: available ? 'LiveMigrate' : 'None' }
  const isBelow = versionOf(object.apiVersion) === 'v1'
  object.spec = isBelow ? { ...object.spec, virtualization: filled } : filled
  object.metadata.generation = (before?.metadata.generation ?? 1) + 1
}

/** The process of an hco-webhook pod: from 1.18 on puts its conversion into the CRD, which OLM replaces without it (hco 8). */
export function runConversion(cx: Self): Promise<void> {
  const ref = { name: names.definition }
  return control(cx, [{ kind: kube.CustomResourceDefinitions, where: ref }], async () => {
    const found = await cx.reader.get(kube.CustomResourceDefinitions, ref)
    if (found.is !== 'object' || upstreamMinor(cx.self.version) < 18) return pollEvery
    const { served, conversion } = shapeOf(found.object)
    const wanted = cx.faults.on.conversionLost === true || served.length === 1 ? 'None' : 'Webhook'
    if (conversion === wanted) return pollEvery
    await cx.clock.sleep(between(cx.random, 2000, 4000), cx.signal)
    const spec = { conversion: wanted === 'None' ? none : byWebhook(cx.self.namespace) }
    await cx.writer.mergePatch(kube.CustomResourceDefinitions, ref, { spec })
    return pollEvery
  })
}

const none = { strategy: 'None', webhook: null }

const byWebhook = (namespace: string) => ({
  strategy: 'Webhook',
  webhook: {
    clientConfig: {
      service: { namespace, name: 'hco-webhook-service', path: '/convert', port: 4343 },
      caBundle,
    },
    conversionReviewVersions: ['v1'],
  },
})
