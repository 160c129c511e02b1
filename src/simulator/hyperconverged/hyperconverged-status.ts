import type { Condition, Kind, KubeObject } from '../../lib/kube/object.ts'
import type { HyperConverged } from '../../lib/kube/kinds/operator-kinds.ts'
import { mergeStatus, seconds } from '../machinery/controller.ts'
import { type Self, stated } from './hyperconverged-context.ts'

interface Said {
  readonly conditions: readonly Condition[]
  readonly upgrading: boolean
  readonly version?: string
  readonly infrastructureHighlyAvailable?: boolean
  readonly objects?: readonly KubeObject[]
}

/** Writes the status of the HyperConverged (ocp 1.5); nothing where it says that already. */
export async function report(
  cx: Self,
  kind: Kind<HyperConverged>,
  hyperconverged: HyperConverged,
  { conditions, upgrading, version, objects, ...more }: Said,
): Promise<void> {
  const { metadata, status } = hyperconverged
  const generation = metadata.generation ?? 1
  const isTainted = annotations.some((annotation) => patchIn(hyperconverged, annotation).length > 0)
  const all = [...conditions, ...(isTainted ? stated('tainted') : [])]
  await mergeStatus(cx, kind, hyperconverged, {
    ...more,
    conditions: dated(all, status?.conditions ?? [], { now: seconds(cx), generation }),
    observedGeneration: generation,
    systemHealthStatus: healthOf(conditions, upgrading),
    ...(version !== undefined && { versions: [{ name: 'operator', version }] }),
    ...(objects && { relatedObjects: objects.map(reference) }),
  })
}

function reference({ apiVersion, kind, metadata }: KubeObject) {
  const { name, namespace } = metadata
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
}

/** What a new one is told. */
export const initialConditions: readonly Condition[] = stated('initial')

/** A pass that failed: of all but that nothing is known. */
export const failedConditions = (why: string): Condition[] => stated('failed', { why })

/** From the trouble of its components. `upgradingTo`: in upgrade mode, which says nothing of Upgradeable. */
export function aggregated(trouble: Trouble, upgradingTo: string | undefined): Condition[] {
  // What follows for Upgradeable and Available where a component did not say it itself.
  const follows = ['Degraded', 'Progressing'].find((type) => trouble.has(type))
  const said = [
    ...stated('settled'),
    ...(follows === undefined ? [] : stated(follows === 'Degraded' ? 'degraded' : 'progressing')),
    ...trouble.values(),
    ...(upgradingTo === undefined ? [] : stated('upgrading', { version: upgradingTo })),
  ]
  return [...new Map(said.map((condition) => [condition.type, condition])).values()]
}

type Health = 'healthy' | 'warning' | 'error'

/** systemHealthStatus: in upgrade mode only Degraded is an error, and neither being unavailable nor progressing counts (ocp 1.5). */
export function healthOf(conditions: readonly Condition[], upgrading: boolean): Health {
  const is = (type: string, status: Condition['status']) =>
    conditions.some((c) => c.type === type && c.status === status)
  if (is('Degraded', 'True')) return 'error'
  if (upgrading) return 'healthy'
  if (!is('Available', 'True')) return 'error'
  return is('ReconcileComplete', 'True') && is('Progressing', 'False') ? 'healthy' : 'warning'
}

type OwnCondition = Condition & { observedGeneration?: number }

/** Their times are kept where the status is the same; others that are there go. */
export const dated = (
  wanted: readonly Condition[],
  before: readonly OwnCondition[],
  { now, generation }: { now: string; generation: number },
): OwnCondition[] =>
  wanted.map((condition) => {
    const last = before.find(({ type }) => type === condition.type)
    const since = last?.status === condition.status ? last.lastTransitionTime : undefined
    return { ...condition, observedGeneration: generation, lastTransitionTime: since ?? now }
  })

/** A component and what it says of itself. */
export interface Told {
  /** Its kind: `KubeVirt`, `CDI`. */
  component: string
  conditions: readonly Condition[]
}

/** What is true of HyperConverged because of its components; only what is not as it should be. Type → condition. */
type Trouble = ReadonlyMap<string, Condition>

/** What a component may say of itself that is trouble; progress comes before what it says of Upgradeable itself. */
const troubles = [
  'componentDegraded',
  'componentUnavailable',
  'componentProgressing',
  'componentNotUpgradeable',
] as const

/** One survives of each type: that of the component which comes last (ocp 1.5). */
export function troubleOf(all: readonly Told[]): Trouble {
  const trouble = new Map<string, Condition>()
  const add = (condition: Condition) => trouble.set(condition.type, condition)
  for (const { component, conditions } of all) {
    if (conditions.length === 0) stated('componentSilent', { component }).forEach(add)
    for (const name of troubles) {
      const [{ type, status } = { type: '', status: '' }] = stated(name)
      const said = conditions.find((one) => one.type === type && one.status === status)
      if (!said) continue
      const [because] = stated(name, { component, message: said.message ?? '' })
      if (because) add(because)
      if (because && name === 'componentProgressing' && !trouble.has('Upgradeable'))
        add({ ...because, type: 'Upgradeable', status: 'False' })
    }
  }
  return trouble
}

/** Annotations on a HyperConverged that patch what it makes of a component (ocp 1.5). */
const annotations = [
  'kubevirt.kubevirt.io/jsonpatch',
  'containerizeddataimporter.kubevirt.io/jsonpatch',
  'networkaddonsconfigs.kubevirt.io/jsonpatch',
  'ssp.kubevirt.io/jsonpatch',
] as const

/** The operations of one; empty where there are none, or none that can be read. */
export function patchIn(
  { metadata }: KubeObject,
  annotation: (typeof annotations)[number],
): readonly unknown[] {
  try {
    const operations: unknown = JSON.parse(metadata.annotations?.[annotation] ?? '[]')
    return Array.isArray(operations) ? operations : []
  } catch {
    return []
  }
}
