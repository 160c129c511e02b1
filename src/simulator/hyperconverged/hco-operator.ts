import * as kube from '../kinds.ts'
import { atVersion, type Kind } from '../../lib/kube/object.ts'
import { type Json, same } from '../api/json.ts'
import { Refusal } from '../api/api-refusal.ts'
import { control, type ControllerContext, foundIn, made, recordEvent } from '../machinery/controller.ts'
import { lead } from '../machinery/leader-election.ts'
import {
  aggregated,
  failedConditions,
  patchIn,
  report,
  type Told,
  troubleOf,
} from './hyperconverged-status.ts'
import { type Component, type ComponentResource, components } from './hyperconverged-components.ts'
import {
  type HyperConvergedShape,
  managedLabel,
  names,
  ownerReference,
  passedOn,
  patchedForUpgrade,
  shapeOf,
  virtualizationOf,
} from './hyperconverged-crd.ts'
import {
  type HyperConvergedFaults,
  hyperConvergedData,
  sayUpgradeable,
  type Self,
  stated,
} from './hyperconverged-context.ts'
import { jsonPatch } from '../api/patch.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import data from './hyperconverged.json' with { type: 'json' }

/** The program of an hco-operator pod: waits for the Lease, then keeps KubeVirt and its companions as the HyperConverged says (ocp 1). */
export async function runHyperConvergedOperator(cx: Self): Promise<void> {
  const { name: identity, namespace } = cx.self
  const stopped = () => cx.faults.on.hyperConvergedStopped === true
  const candidate = { lease: 'hyperconverged-cluster-operator-lock', namespace, identity, stopped }
  await sayUpgradeable(cx, stated('starting'))
  await lead(cx, candidate, (signal) => operate({ ...cx, signal }))
}

/** How soon a pass follows one that wrote the HyperConverged itself, in ms. */
const soon = 100
const by = 'hyperconverged-cluster-operator'

/** What a process knows of an upgrade, in memory alone (ocp 1.5): that it goes on; undefined before the first pass. */
interface Memory {
  upgrading?: boolean
}

/** One pass after the other. */
function operate(cx: Self): Promise<void> {
  const { version, namespace } = cx.self
  const [kinds, where] = [[kube.HyperConvergeds, kube.KubeVirts, kube.OperatorConditions], { namespace }]
  const watched = [
    ...kinds.map((kind) => ({ kind, where })),
    { kind: kube.CustomResourceDefinitions, where: { name: names.definition } },
    ...components.map(({ kind }) => ({ kind })),
  ]
  const memory: Memory = {}
  return control(cx, watched, async () => {
    const kind = await storedKind(cx)
    if (kind === undefined) return undefined
    const found = foundIn(await cx.reader.get(kind, { name: names.hyperconverged, namespace }))
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
      await sayUpgradeable(cx, stated('replaceable'))
      return undefined
    }
    if (found.status?.conditions !== undefined) return reconcile(cx, kind, found, memory)
    // Its release is said at once: it proves nothing (ocp 1.5).
    const infrastructureHighlyAvailable = await isHighlyAvailable(cx)
    const said = { conditions: stated('initial'), upgrading: false, version, infrastructureHighlyAvailable }
    await report(cx, kind, found, said)
    return soon
  })
}

async function reconcile(
  cx: Self,
  kind: Kind<kube.HyperConverged>,
  hyperconverged: kube.HyperConverged,
  memory: Memory,
): Promise<number | undefined> {
  const { version } = cx.self
  const record = (message: string) => recordEvent(cx, hyperconverged, by, ['Normal', 'UpgradeHCO', message])
  const isFirst = memory.upgrading === undefined
  const isBehind = (memory.upgrading ??= operatorVersion(hyperconverged) !== version)
  if (isBehind && isFirst) await record(`Upgrading the HyperConverged to version ${version}`)
  if (isBehind) await sayUpgradeable(cx, stated('upgradingOperator', { version }))
  if (await rewrite(cx, kind, hyperconverged, isBehind)) return soon
  const operands = await ensureOperands(cx, hyperconverged, isBehind)
  if (operands instanceof Error) {
    const conditions = failedConditions(operands.message)
    await report(cx, kind, hyperconverged, { conditions, upgrading: isBehind })
    return undefined
  }
  const { objects, isThrough } = operands
  const told = objects.map((one) => ({ component: one.kind, conditions: one.status?.conditions ?? [] }))
  const trouble = troubleOf(told)
  const isFinished = isBehind && isThrough && trouble.size === 0
  const upgrading = (memory.upgrading = isBehind && !isFinished)
  const conditions = aggregated(trouble, upgrading ? version : undefined)
  await report(cx, kind, hyperconverged, { conditions, upgrading, objects, ...(isFinished && { version }) })
  if (isFinished) await record(`Successfully upgraded to version ${version}`)
  await sayUpgradeable(cx, upgrading ? stated('upgradingOperator', { version }) : mayBeReplaced(told))
  return undefined
}

/** Neither progressing nor degraded components keep OLM from replacing it: only one that says so itself (ocp 1.8). */
function mayBeReplaced(told: readonly Told[]) {
  const held = told.filter(({ conditions }) =>
    conditions.some(({ type, status }) => type === 'Upgradeable' && status === 'False'),
  )
  const condition = troubleOf(held).get('Upgradeable')
  return condition ? [condition] : stated('replaceable')
}

const operatorVersion = ({ status }: kube.HyperConverged): string | undefined =>
  status?.versions?.find(({ name }) => name === 'operator')?.version

/** In the version that is stored; undefined where nobody converts between several: then it is neither read nor written. */
async function storedKind({ reader }: Self): Promise<Kind<kube.HyperConverged> | undefined> {
  const found = foundIn(await reader.get(kube.CustomResourceDefinitions, { name: names.definition }))
  if (found === undefined) return kube.HyperConvergeds
  const { stored, served, conversion } = shapeOf(found)
  const isConverted = conversion === 'Webhook' || served.length === 1
  return isConverted ? atVersion(kube.HyperConvergeds, stored) : undefined
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
  const { name, labels = {}, finalizers = [] } = metadata
  const from = operatorVersion(hyperconverged) ?? '0.0.0'
  const next = upgrading ? patchedForUpgrade({ ...spec }, from, cx.self.version) : spec
  const isSame = same(spec, next)
  if (labels['app'] !== undefined && finalizers.includes(finalizer) && isSame) return false
  await cx.writer.mergePatch(kind, metadata, {
    metadata: { labels: { app: name }, finalizers: [...new Set([...finalizers, finalizer])] },
    ...(!isSame && { spec: next }),
  })
  return true
}

/** Makes what is missing, sets back what others changed of the KubeVirt, and asks all of them; or what a pass ends in. `quiet`: overwrites without an event, as in upgrade mode. */
async function ensureOperands(cx: Self, hyperconverged: kube.HyperConverged, quiet: boolean) {
  const { reconcileError } = cx.faults.on
  if (reconcileError !== undefined) return new Error(reconcileError)
  const { kubevirt: kubeVirtVersion, version } = cx.self
  const others: ComponentResource[] = []
  try {
    const kubevirt = await ensureKubeVirt(cx, hyperconverged, quiet)
    for (const component of components) others.push(await ensureComponent(cx, hyperconverged, component))
    const isThrough =
      kubevirt.status?.observedKubeVirtVersion === kubeVirtVersion &&
      others.every(({ status }) => status?.observedVersion === version)
    return { objects: [kubevirt, ...others], isThrough }
  } catch (error) {
    // A jsonpatch annotation that does not apply; what others wrote meanwhile is looked at again.
    if (error instanceof Refusal && error.status === 422) return error
    throw error
  }
}

async function ensureKubeVirt(cx: Self, hyperconverged: kube.HyperConverged, quiet: boolean) {
  const wanted = wantedKubeVirt(hyperconverged)
  const object = foundIn(await cx.reader.get(kube.KubeVirts, wanted.metadata))
  if (object === undefined) return cx.writer.create(kube.KubeVirts, wanted)
  if (same(object.spec, wanted.spec)) return object
  const isForeign = hyperconverged.status?.observedGeneration === hyperconverged.metadata.generation
  if (!quiet && isForeign) {
    const message = `Overwritten ${kube.KubeVirts.kind} ${object.metadata.name}`
    await recordEvent(cx, hyperconverged, by, ['Warning', 'Overwritten', message])
  }
  return replaceSpec(cx, object, wanted.spec)
}

const replaceSpec = ({ writer }: ControllerContext, { metadata }: kube.KubeVirt, value: unknown) =>
  writer.jsonPatch(kube.KubeVirts, metadata, [{ op: 'replace', path: '/spec', value }])

async function ensureComponent(cx: Self, hyperconverged: kube.HyperConverged, { kind, name }: Component) {
  const { namespace } = cx.self
  const ref = { name, ...(kind.namespaced && { namespace }) }
  const ownerReferences = [ownerReference(hyperconverged)]
  const wanted = { metadata: { ...ref, labels: { ...managedLabel }, ownerReferences } }
  return foundIn(await cx.reader.get(kind, ref)) ?? cx.writer.create(kind, made(kind, wanted))
}

/** The KubeVirt that a HyperConverged makes (hco 1, 5, 6). Throws the Refusal of a jsonpatch annotation that does not apply. */
function wantedKubeVirt(hyperconverged: kube.HyperConverged): kube.KubeVirt {
  const { namespace = '' } = hyperconverged.metadata
  const { workloadUpdateStrategy, migrations } = passedOn(hyperconverged)
  const { evictionStrategy } = virtualizationOf(hyperconverged)
  const { metadata, spec, ...rest } = hyperConvergedData<kube.KubeVirt>(data.kubevirt, { namespace })
  const configuration = {
    ...spec?.configuration,
    migrations,
    ...(evictionStrategy !== undefined && { evictionStrategy }),
  }
  const kubevirt = {
    ...rest,
    metadata: { ...metadata, ownerReferences: [ownerReference(hyperconverged)] },
    spec: { ...spec, configuration, workloadUpdateStrategy },
  }
  return jsonPatch(kubevirt, patchIn(hyperconverged, 'kubevirt.kubevirt.io/jsonpatch')) as kube.KubeVirt
}

/** As the platform says of its machines; elsewhere three control planes and two others. */
async function isHighlyAvailable({ reader }: ControllerContext): Promise<boolean> {
  const infrastructure = foundIn(await reader.get(kube.Infrastructures, { name: 'cluster' }))
  if (infrastructure) return infrastructure.status?.infrastructureTopology !== 'SingleReplica'
  const nodes = await reader.list(kube.Nodes)
  const role = 'node-role.kubernetes.io/control-plane'
  const planes = nodes.filter(({ metadata }) => metadata.labels?.[role] !== undefined).length
  return planes >= 3 && nodes.length - planes >= 2
}

/** Where no OLM runs the operator: copies how VMs follow to the KubeVirt, and sets back what others write there (hco 5). */
export function runHyperConverged(
  cx: ControllerContext,
  { stored }: HyperConvergedShape,
  faults: Faults<HyperConvergedFaults>,
): Promise<void> {
  const kind = atVersion(kube.HyperConvergeds, stored)
  return control(cx, [{ kind }, { kind: kube.KubeVirts }, faults], async () => {
    const [hyperconverged] = await cx.reader.list(kind)
    const [kubevirt] = await cx.reader.list(kube.KubeVirts)
    if (faults.on.hyperConvergedStopped === true || !hyperconverged || !kubevirt) return
    const { workloadUpdateStrategy, migrations } = passedOn(hyperconverged)
    const configuration = { ...kubevirt.spec?.configuration, migrations }
    const spec: Json = { ...kubevirt.spec, workloadUpdateStrategy, configuration }
    if (!same(kubevirt.spec, spec)) await replaceSpec(cx, kubevirt, spec)
  })
}
