import type { HyperConverged } from '../../cluster/kinds/hyperconverged.ts'
import { KubeVirts } from '../../cluster/kinds/kubevirt.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { same } from '../api/json.ts'
import { recordEvent } from '../machinery/record-event.ts'
import type { Told } from './component-conditions.ts'
import { type Component, type ComponentResource, components } from './component-kinds.ts'
import type { SelfContext } from './operator-self.ts'
import { ownerReference, wantedKubeVirt } from './wanted-kubevirt.ts'

/** What the components say, and whether each of them is of the operator's release. */
export interface Operands {
  readonly told: readonly Told[]
  readonly upgraded: boolean
  readonly objects: readonly KubeObject[]
}

/** Makes what is missing, sets back what others changed of the KubeVirt, and asks all of them. `quiet`: overwrites without an event, as in upgrade mode. */
export async function ensureOperands(
  cx: SelfContext,
  hyperconverged: HyperConverged,
  quiet: boolean,
): Promise<Operands> {
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

async function ensureKubeVirt(cx: SelfContext, hyperconverged: HyperConverged, quiet: boolean) {
  const wanted = wantedKubeVirt(hyperconverged)
  const found = await cx.reader.find(KubeVirts, wanted.metadata)
  if (found.is !== 'object') return cx.writer.create(KubeVirts, wanted)
  const { object } = found
  if (same(object.spec, wanted.spec)) return object
  const { name, namespace } = object.metadata
  const isForeign = hyperconverged.status?.observedGeneration === hyperconverged.metadata.generation
  if (!quiet && isForeign) {
    const message = `Overwritten ${KubeVirts.kind} ${name}`
    await recordEvent(cx, hyperconverged, { type: 'Warning', reason: 'Overwritten', message, by })
  }
  return cx.writer.jsonPatch(KubeVirts, { name, namespace }, [
    { op: 'replace', path: '/spec', value: wanted.spec },
  ])
}

const by = 'hyperconverged-cluster-operator'

async function ensureComponent(
  cx: SelfContext,
  hyperconverged: HyperConverged,
  { kind, name }: Component,
): Promise<ComponentResource> {
  const { namespace } = cx.self
  const metadata = { name, ...(kind.namespaced ? { namespace } : {}) }
  const found = await cx.reader.find(kind, metadata)
  if (found.is === 'object') return found.object
  const labels = { 'app.kubernetes.io/managed-by': 'hco-operator' }
  const ownerReferences = [ownerReference(hyperconverged)]
  return cx.writer.create(kind, {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { ...metadata, labels, ownerReferences },
  })
}
