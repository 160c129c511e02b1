import type { Condition, Kind, KubeObject } from '../../lib/kube/object.ts'
import type { HyperConverged } from '../../lib/kube/kinds/operator-kinds.ts'
import { claim, sameStatus, seconds } from '../machinery/controller.ts'
import type { Self } from './hyperconverged-context.ts'

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
  const { metadata, status: before = {} } = hyperconverged
  const generation = metadata.generation ?? 1
  const all = [...conditions, ...taintedCondition(hyperconverged)]
  const status: NonNullable<HyperConverged['status']> = {
    ...more,
    conditions: dated(all, before.conditions ?? [], { now: seconds(cx), generation }),
    observedGeneration: generation,
    systemHealthStatus: healthOf(conditions, upgrading),
    ...(version === undefined ? {} : { versions: [{ name: 'operator', version }] }),
    ...(objects === undefined ? {} : { relatedObjects: objects.map(reference) }),
  }
  if (sameStatus(before, status)) return
  const { name, namespace } = metadata
  await cx.writer.mergePatch(kind, { name, namespace }, { status }, 'status')
}

function reference({ apiVersion, kind, metadata }: KubeObject) {
  const { name, namespace } = metadata
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) }
}

/** The conditions of a HyperConverged: types in the order in which they are written (ocp 1.5). */
const types = ['ReconcileComplete', 'Available', 'Progressing', 'Degraded', 'Upgradeable'] as const
type Type = (typeof types)[number]

const completed = { reason: 'ReconcileCompleted', message: 'Reconcile completed successfully' }
const init = { reason: 'Init', message: 'Initializing HyperConverged cluster' }
const first: Record<Type, Condition['status']> = {
  ReconcileComplete: 'Unknown',
  Available: 'False',
  Progressing: 'True',
  Degraded: 'False',
  Upgradeable: 'Unknown',
}

/** What a new one is told. */
export const initialConditions: readonly Condition[] = types.map((type) => ({
  type,
  status: first[type],
  ...init,
}))

/** A pass that failed: of all but that nothing is known. */
export const failedConditions = (why: string): Condition[] =>
  types.map((type) =>
    type === 'ReconcileComplete'
      ? { type, status: 'False', reason: 'ReconcileFailed', message: `Error while reconciling: ${why}` }
      : { type, status: 'Unknown', reason: 'StatusUnknown', message: 'Unknown Status' },
  )

/** From the trouble of its components. `upgradingTo`: in upgrade mode, which says nothing of Upgradeable. */
export function aggregated(trouble: Trouble, upgradingTo: string | undefined): Condition[] {
  const said = new Map(trouble)
  const unlessSaid = (condition: Condition): unknown =>
    said.has(condition.type) || said.set(condition.type, condition)
  said.set('ReconcileComplete', { type: 'ReconcileComplete', status: 'True', ...completed })
  for (const condition of consequences(trouble)) unlessSaid(condition)
  for (const [type, status] of good) unlessSaid({ type, status, ...completed })
  if (upgradingTo !== undefined) {
    const message = `HCO is now upgrading to version ${upgradingTo}`
    said.set('Progressing', { type: 'Progressing', status: 'True', reason: 'HCOUpgrading', message })
  }
  return types.flatMap((type) => said.get(type) ?? [])
}

const good = [
  ['Degraded', 'False'],
  ['Progressing', 'False'],
  ['Upgradeable', 'True'],
  ['Available', 'True'],
] as const

/** What follows for Upgradeable and Available where a component is degraded or progressing and did not say it itself. */
function consequences(trouble: Trouble): Condition[] {
  if (trouble.has('Degraded')) {
    return [
      { type: 'Upgradeable', status: 'False', ...degraded('Upgradeable') },
      { type: 'Available', status: 'False', ...degraded('available') },
    ]
  }
  if (!trouble.has('Progressing')) return []
  const message = 'HCO is not Upgradeable due to progressing components'
  return [{ type: 'Upgradeable', status: 'False', reason: 'HCOProgressing', message }]
}

const degraded = (what: string) => ({
  reason: 'HCODegraded',
  message: `HCO is not ${what} due to degraded components`,
})

type Health = 'healthy' | 'warning' | 'error'

/** systemHealthStatus: in upgrade mode only Degraded is an error, and neither being unavailable nor progressing counts (ocp 1.5). */
export function healthOf(conditions: readonly Condition[], upgrading: boolean): Health {
  const is = (type: Type, status: Condition['status']) =>
    conditions.some((c) => c.type === type && c.status === status)
  if (is('Degraded', 'True')) return 'error'
  if (upgrading) return 'healthy'
  if (!is('Available', 'True')) return 'error'
  return is('ReconcileComplete', 'True') && is('Progressing', 'False') ? 'healthy' : 'warning'
}

type OwnCondition = Condition & { observedGeneration?: number }

/** Their times are kept where the status is the same; others that are there go. */
export function dated(
  wanted: readonly Condition[],
  before: readonly OwnCondition[],
  { now, generation }: { now: string; generation: number },
): OwnCondition[] {
  return wanted.map((condition) => {
    const last = before.find(({ type }) => type === condition.type)
    const since = last?.status === condition.status ? last.lastTransitionTime : undefined
    return { ...condition, observedGeneration: generation, lastTransitionTime: since ?? now }
  })
}

/** A component and what it says of itself. */
export interface Told {
  /** Its kind: `KubeVirt`, `CDI`. */
  component: string
  conditions: readonly Condition[]
}

/** What is true of HyperConverged because of its components; only what is not as it should be. Type → condition. */
type Trouble = ReadonlyMap<string, Condition>

/** One survives of each type: that of the component which comes last (ocp 1.5). */
export function troubleOf(all: readonly Told[]): Trouble {
  const trouble = new Map<string, Condition>()
  for (const told of all) tell(trouble, told)
  return trouble
}

/** What a component may say of itself that is trouble, and how that is called; progress comes before what it says of Upgradeable itself. */
const kindsOfTrouble = [
  ['Degraded', 'True', 'Degraded', 'degraded'],
  ['Available', 'False', 'NotAvailable', 'not available'],
  ['Progressing', 'True', 'Progressing', 'progressing'],
  ['Upgradeable', 'False', 'NotUpgradeable', 'not upgradeable'],
] as const

function tell(trouble: Map<string, Condition>, { component, conditions }: Told): void {
  if (conditions.length === 0) return tellOfNone(trouble, component)
  for (const [type, status, suffix, words] of kindsOfTrouble) {
    const said = conditions.find((c) => c.type === type && c.status === status)
    if (!said) continue
    const because = [`${component}${suffix}`, `${component} is ${words}: ${said.message ?? ''}`] as const
    trouble.set(type, claim(type, status, ...because))
    if (type === 'Progressing' && !trouble.has('Upgradeable'))
      trouble.set('Upgradeable', claim('Upgradeable', 'False', ...because))
  }
}

function tellOfNone(trouble: Map<string, Condition>, component: string): void {
  const because = [`${component}Conditions`, `${component} resource has no conditions`] as const
  trouble.set('Available', claim('Available', 'False', ...because))
  trouble.set('Progressing', claim('Progressing', 'True', ...because))
  trouble.set('Upgradeable', claim('Upgradeable', 'False', ...because))
}

/** Annotations on a HyperConverged that patch what it makes of a component (ocp 1.5). */
const annotations = [
  'kubevirt.kubevirt.io/jsonpatch',
  'containerizeddataimporter.kubevirt.io/jsonpatch',
  'networkaddonsconfigs.kubevirt.io/jsonpatch',
  'ssp.kubevirt.io/jsonpatch',
] as const

type PatchAnnotation = (typeof annotations)[number]

/** The operations of one; empty where there are none, or none that can be read. */
export function patchIn({ metadata }: KubeObject, annotation: PatchAnnotation): readonly unknown[] {
  try {
    const operations: unknown = JSON.parse(metadata.annotations?.[annotation] ?? '[]')
    return Array.isArray(operations) ? operations : []
  } catch {
    return []
  }
}

function taintedCondition(hyperconverged: KubeObject): Condition[] {
  if (annotations.every((annotation) => patchIn(hyperconverged, annotation).length === 0)) return []
  return [
    claim(
      'TaintedConfiguration',
      'True',
      'UnsupportedFeatureAnnotation',
      'Unsupported feature was activated via an HCO annotation',
    ),
  ]
}
